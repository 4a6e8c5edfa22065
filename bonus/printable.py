"""Detection and escaping of characters that cannot be printed safely.

A terminal obeys control characters. Other characters reverse the direction of writing, or have no
width. Both kinds are refused in text from people or devices, and escaped in text that was stored
earlier.
"""

import re
import unicodedata
from typing import Final

UNPRINTABLE: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    r"\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U00013441\U00013442\U00016fe4"
    r"\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(0x01, 0x11))
)
"""All characters that are refused, for use inside ``[...]``.

Control and format characters, surrogates, line and paragraph separators, blank letters and marks,
code points that Unicode will never assign, and ranges that Unicode reserves for these kinds.
Variation selectors are allowed, because emoji need them.
"""

_SELECTORS: Final = r"\ufe00-\ufe0f"
"""Variation selectors change the form of the character before them, and are invisible alone."""

PRINTABLE: Final = rf"\A[^{UNPRINTABLE}]*\Z"

PRINTABLE_WORDS: Final = rf"\A[^{UNPRINTABLE}]*[^\s{_SELECTORS}{UNPRINTABLE}][^{UNPRINTABLE}]*\Z"
"""Like ``PRINTABLE``, and not blank."""

_NAMED: Final = (
    r" -~\xa0-\xac\xae-\u024f\u1e00-\u1efb"  # Latin, also Vietnamese
    r"\u0370-\u0377\u037a-\u037e\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ff"  # Greek
    r"\u0400-\u0482\u048a-\u0525"  # Cyrillic
    r"\u2010-\u2027"
    r"\u3001\u3002\u3005-\u3007\u3041-\u3094\u309d\u309e\u30a1-\u30f6\u30fb-\u30fe"  # Japanese
    r"\u3400-\u4db5\u4e00-\u9fa5\uff01-\uff5e"  # Chinese, also in Japanese and Korean names
    r"\uac00-\ud7a3"  # Korean
)
"""The characters of names that slips and reports can print, for use inside ``[...]``.

Scripts whose letters join or run from right to left would be printed wrongly.
"""

_SEEN: Final = re.compile(rf"[^\s{_SELECTORS}]")
_UNNAMED: Final = re.compile(f"[^{_NAMED}]")
_UNPRINTABLE: Final = re.compile(f"[{UNPRINTABLE}]")


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def unprintable_problem(text: str) -> str | None:
    r"""Return a message about the first unprintable character, or None.

    >>> unprintable_problem("mis\x1b[2Jdeal")
    'holds U+001B, which cannot be printed'
    """
    found = None if _is_plain(text) else _UNPRINTABLE.search(text)
    return found and f"holds U+{ord(found[0]):04X}, which cannot be printed"


def unseen_problem(text: str) -> str | None:
    r"""Return a message about an unprintable character or a blank text, or None.

    >>> unseen_problem(" \u2003")
    'is blank'
    """
    return unprintable_problem(text) or (None if _SEEN.search(text) else "is blank")


def name_problem(name: str) -> str | None:
    r"""Return why slips and reports cannot print a person's name, or None if they can.

    >>> name_problem("Nguy\u1ec5n \u674e \uae40")
    >>> print(name_problem("\u0e2a\u0e21"))
    holds U+0E2A, which slips and reports cannot print: write it in Latin letters, as in a passport
    """
    if _is_plain(name) or unseen_problem(name):
        return unseen_problem(name)
    found = _UNNAMED.search(unicodedata.normalize("NFC", name))
    return found and (
        f"holds U+{ord(found[0]):04X}, which slips and reports cannot print:"
        " write it in Latin letters, as in a passport"
    )


def escape_unprintable(text: str) -> str:
    r"""Escape unprintable characters, as in a Python string literal.

    >>> print(escape_unprintable("mis\x1b[2Jdeal"))
    mis\x1b[2Jdeal
    """
    if _is_plain(text):
        return text
    return _UNPRINTABLE.sub(_escaped, text)


def escape_in_json(text: str) -> str:
    """Escape the unprintable characters of a JSON text; its values stay the same.

    Line ends stay: in JSON they occur only between values.
    """
    return _UNPRINTABLE.sub(_escaped_in_json, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def _escaped_in_json(found: re.Match[str]) -> str:
    if found[0] == "\n":
        return "\n"
    code = ord(found[0])
    if code < 0x1_0000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x1_0000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


_ADDRESSES: Final = re.compile(
    r"""
    \bunix:/\S+ | /(?:[\w.-]+/)*[\w.-]+\.sock\b      # a socket
    | \[[0-9A-Fa-f:.]+\](?::\d+)?                    # [IPv6], perhaps with a port
    | (?<![\w:])(?:[0-9A-Fa-f]*:){2,7}[0-9A-Fa-f.]*   # IPv6, or a time
    | \b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b           # IPv4, perhaps with a port
    | \b[A-Za-z][\w.-]*:\d{2,5}\b                    # a host with a port
    | (?<=not\ valid\ for\ ')[^']+                   # a host that a certificate does not name
    """,
    re.VERBOSE,
)
_TIME: Final = re.compile(r"\d\d:\d\d:\d\d(?:\.\d+)?")


def without_addresses(text: str) -> str:
    """Return a text without its network addresses, for people who have not signed in.

    >>> without_addresses("Error 111 connecting to 10.0.0.5:6379. Connection refused.")
    'Error 111 connecting to its address. Connection refused.'
    """
    return _ADDRESSES.sub(_its_address, text)


def _its_address(found: re.Match[str]) -> str:
    return found[0] if _TIME.fullmatch(found[0]) else "its address"
