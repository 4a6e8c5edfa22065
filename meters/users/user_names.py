"""Names of users in their stored spelling, and names of their roles in Redis."""

import re
import unicodedata
from typing import Final

from meters.floor.roles import Role
from meters.ledger.two_people import is_person
from meters.users.user_store import UsersError

_LETTER: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
_NAME: Final = re.compile(rf"[{_LETTER}](?:[ .'-]?[{_LETTER}0-9]|\.(?= ))*\.?")
_LENGTHS: Final = (2, 40)


def clean_name(text: str) -> str:
    """Return a user's name in the one spelling that is stored (Unicode form NFC).

    A name has letters of Western European languages, because payout slips can show these letters.

    Raises:
        UsersError: ``bad_name``. Its message tells the user the rule.
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
    if not is_person(name):
        raise UsersError("bad_name", f"the ledger uses {name} for the system itself")
    return name


def fold_name(text: str) -> str:
    """Return one form for all spellings of a name, in lower case."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def parse_role(text: str) -> Role:
    """Return a role from its name in Redis.

    Raises:
        UsersError: ``store_failed``: no role has this name, so another program wrote it.
    """
    try:
        return Role(text)
    except ValueError:
        message = f"Redis has an unknown role {text!r}: call the technician"
        raise UsersError("store_failed", message) from None
