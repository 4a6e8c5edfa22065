from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

_SMALL: Final = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_SCALES: Final = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))


def amount_words(amount_cents: int) -> str:
    """Return an amount in words, which nobody can change on a printed slip by adding a digit.

    >>> amount_words(151_000), amount_words(100_045), amount_words(99)
    ('One thousand five hundred ten and 00/100 dollars', 'One thousand and 45/100 dollars', \
'Zero and 99/100 dollars')
    """
    dollars, cents = divmod(amount_cents, 100)
    words = _number(dollars) or "zero"
    return f"{words[0].upper()}{words[1:]} and {cents:02}/100 dollars"


def moment_words(moment: str | datetime, zone: ZoneInfo) -> str:
    """Return the text of a time, given or in the form of RFC 3339, in the facility's time zone.

    >>> moment_words("2026-11-20T02:14:07.250Z", ZoneInfo("America/New_York"))
    'Thu, Nov 19, 2026, 21:14:07 EST'
    """
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    local = at.astimezone(zone)
    return f"{local:%a, %b} {local.day}, {local:%Y, %H:%M:%S %Z}"


def _number(number: int) -> str:
    for scale, name in _SCALES:
        if number >= scale:
            return f"{_number(number // scale)} {name} {_number(number % scale)}".rstrip()
    if number >= 100:
        return f"{_SMALL[number // 100]} hundred {_number(number % 100)}".rstrip()
    if number >= 20:
        return f"{_TENS[number // 10]}-{_SMALL[number % 10]}".rstrip("-")
    return _SMALL[number]
