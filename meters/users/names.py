"""What a user may be called."""

import re
import unicodedata
from typing import Final

from meters.users.errors import UsersError

_LETTER: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
_NAME: Final = re.compile(rf"[{_LETTER}](?:[ .'-]?[{_LETTER}0-9]|\.(?= ))*\.?")
_LENGTHS: Final = (2, 40)
_OURS: Final = frozenset({"service", "simulated", "demonstration", "pitlink", "command"})
"""With these words begin the names under which the ledger and the log have what no person did."""


def clean_name(text: str) -> str:
    """A user's name in the one spelling that is kept.

    Letters are those of the Western European languages: every one of them prints on a slip.

    Raises:
        UsersError: ``bad_name``, with what a name is.
    """
    name = unicodedata.normalize("NFC", text).strip()
    least, most = _LENGTHS
    if not least <= len(name) <= most:
        raise UsersError("bad_name", f"a name has {least} to {most} characters")
    if not _NAME.fullmatch(name):
        raise UsersError(
            "bad_name",
            "a name begins with a letter and has letters, digits, single spaces, dots, hyphens and"
            " apostrophes",
        )
    if re.split("[ .'-]", fold_name(name))[0] in _OURS:
        raise UsersError("bad_name", f"{name} is what the ledger calls the system itself")
    return name


def fold_name(text: str) -> str:
    """What is alike for all spellings of a name."""
    return unicodedata.normalize("NFC", text).strip().casefold()
