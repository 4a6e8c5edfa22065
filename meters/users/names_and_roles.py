"""Names of users, and the rights of each role. No role has all rights (duty D4)."""

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from meters.ledger.two_people import is_person
from meters.users.user_store import UsersError

_LETTER: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
_NAME: Final = re.compile(rf"[{_LETTER}](?:[ .'-]?[{_LETTER}0-9]|\.(?= ))*\.?")
_LENGTHS: Final = (2, 40)


def clean_name(text: str) -> str:
    """Return a user's name in the one spelling that is stored (Unicode form NFC).

    A name can have the letters of the Western European languages, all of which a payout slip can
    show.

    Raises:
        UsersError: ``bad_name``, with the rule.
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
    """Return the folded name: one form, in lower case, for all spellings of a name."""
    return unicodedata.normalize("NFC", text).strip().casefold()


class Role(StrEnum):
    """The role of a person on the floor."""

    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    SUPERVISOR = "supervisor"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


def parse_role(text: str) -> Role:
    """Return a role from its name in Redis.

    Raises:
        UsersError: ``store_failed``: no such role exists, so another program wrote the stored name.
    """
    try:
        return Role(text)
    except ValueError:
        message = f"Redis has an unknown role {text!r}: call the technician"
        raise UsersError("store_failed", message) from None


class Right(StrEnum):
    """A permission that roles have.

    Attributes:
        WAITING: see the wins and requests that wait for a floorperson.
        WINS: see wins with their evidence, their history and slips, the links and the acts on them.
        DECIDE: validate, reject and pay wins.
        LINKS: open and close links; propose, confirm and withdraw changes of meters.
        USERS: see the users and the operators' log.
        CHANGE_USERS: add users, disable and enable them, set PINs.
    """

    WAITING = "waiting"
    WINS = "wins"
    DECIDE = "decide"
    LINKS = "links"
    USERS = "users"
    CHANGE_USERS = "people"


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.DEALER: frozenset({Right.WAITING}),
    Role.FLOORPERSON: frozenset({Right.WAITING, Right.WINS, Right.DECIDE}),
    Role.SUPERVISOR: frozenset({Right.WAITING, Right.WINS, Right.DECIDE, Right.LINKS}),
    Role.AUDITOR: frozenset({Right.WAITING, Right.WINS, Right.USERS}),
    Role.ADMINISTRATOR: frozenset(
        {Right.WAITING, Right.WINS, Right.LINKS, Right.USERS, Right.CHANGE_USERS}
    ),
}


def roles_in_words(right: Right) -> str:
    """Return the roles that have a right, as text such as "a floorperson or a supervisor"."""
    names = [in_words(role) for role, rights in RIGHTS.items() if right in rights]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def in_words(role: Role) -> str:
    """Return a role with its article, as text such as "an auditor"."""
    return f"{'an' if role.value[0] in 'aeiou' else 'a'} {role.value}"
