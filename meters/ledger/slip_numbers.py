"""Payout slip numbers as people write them, and as pitlink compares and notes them.

For a person who looks for a paper slip, hyphens, capital letters and leading zeros make no
difference. So `fold_slip` removes hyphens and leading zeros, and makes all letters small. The index
of slips in Redis has each number in this folded form. The ledger and the claim have the number as
it was typed.
"""

import re
import unicodedata
from typing import Final

SLIP_LENGTH_MAX: Final = 100
_SLIP: Final = re.compile(rf"(?=-*[A-Za-z0-9])[A-Za-z0-9-]{{1,{SLIP_LENGTH_MAX}}}")
_SIGN: Final = re.compile(r"[A-Za-z0-9-]")
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")
CORRECTS: Final = "!"
"""The end of a reservation's text if the number is reserved for a correction."""


def kept_for(claim: str, entry: int) -> str:
    """Return the text with which a restore keeps a slip number for a claim in the link's data.

    >>> kept_for("main.TCP-01-42-1", 7)
    'main.TCP-01-42-1:7'
    """
    return f"{claim}:{entry}"


def correction_of(claim: str) -> str:
    """Return the text with which a number is reserved to correct a claim's slip number.

    >>> correction_of("main.TCP-01-42-1")
    'main.TCP-01-42-1!'
    """
    return claim + CORRECTS


def claim_of(noted: str) -> str:
    """Return the claim from the text that a link's data has for a slip number.

    >>> claim_of("main.TCP-01-42-1:7"), claim_of("main.TCP-01-42-1")
    ('main.TCP-01-42-1', 'main.TCP-01-42-1')
    """
    return noted.partition(":")[0]


class SlipError(ValueError):
    """A text that is not a slip number. The message says what is wrong and what to do."""


def clean_slip(text: str) -> str:
    """Check a slip number, and return it without blanks at its beginning and end.

    >>> clean_slip(" A-1001 ")
    'A-1001'

    Raises:
        SlipError: the text is empty or too long, or a character is not allowed. Characters that
            only look like allowed ones are refused too.
    """
    slip = text.strip(" ")
    if _SLIP.fullmatch(slip):
        return slip
    if len(slip) > SLIP_LENGTH_MAX:
        raise SlipError(
            f"a slip's number has {SLIP_LENGTH_MAX} characters at most, but this number has"
            f" {len(slip)}: type the number from the slip"
        )
    odd = next((sign for sign in slip if not _SIGN.fullmatch(sign)), None)
    if odd is None:
        raise SlipError("the slip number is missing: type the number from the slip")
    name = unicodedata.name(odd, "a control character").lower()
    shown = f"U+{ord(odd):04X} ({name})" if odd != " " else "a space"
    raise SlipError(
        "a slip's number has only letters A to Z, digits and hyphens, but this number has"
        f" {shown}: type the number from the slip"
    )


def fold_slip(slip: str) -> str:
    """Return a slip number in the folded form, in which pitlink compares slip numbers.

    Hyphens, capital letters and the zeros in front of a number make no difference. Two numbers with
    the same letters and digits are the same, wherever their hyphens are. So a zero between two
    digits counts, even after a hyphen.

    >>> fold_slip("S-0001"), fold_slip("s1"), fold_slip("S-0-0-0-1"), fold_slip("00-B-0")
    ('s1', 's1', 's1', '0b0')
    >>> fold_slip("S-0010"), fold_slip("A-01-B-02"), fold_slip("2026-0001"), fold_slip("2026-1")
    ('s10', 'a1b2', '20260001', '20261')
    """
    return _LEADING_ZEROS.sub("", slip.replace("-", "").casefold())
