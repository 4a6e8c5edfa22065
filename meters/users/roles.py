"""What each role may do, in one table (duty D4: no one role does both halves of everything)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from meters.users.errors import UsersError


class Role(StrEnum):
    """What somebody is on the floor."""

    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    SUPERVISOR = "supervisor"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


def parse_role(text: str) -> Role:
    """A role as the store has it.

    Raises:
        UsersError: ``store_failed``: there is no such role, so somebody else wrote it.
    """
    try:
        return Role(text)
    except ValueError:
        message = f"the store holds a role {text!r} that there is not: call the technician"
        raise UsersError("store_failed", message) from None


class Right(StrEnum):
    """What somebody may do.

    Attributes:
        WAITING: see what waits for a floorperson.
        WINS: see wins with their evidence, their history and slips, the links and what was done.
        DECIDE: validate, reject and pay.
        LINKS: open and close links, propose, confirm and withdraw changes.
        USERS: see the users and the operators' log.
        PEOPLE: add users, disable and enable them, set PINs.
    """

    WAITING = "waiting"
    WINS = "wins"
    DECIDE = "decide"
    LINKS = "links"
    USERS = "users"
    PEOPLE = "people"


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.DEALER: frozenset({Right.WAITING}),
    Role.FLOORPERSON: frozenset({Right.WAITING, Right.WINS, Right.DECIDE}),
    Role.SUPERVISOR: frozenset({Right.WAITING, Right.WINS, Right.DECIDE, Right.LINKS}),
    Role.AUDITOR: frozenset({Right.WAITING, Right.WINS, Right.USERS}),
    Role.ADMINISTRATOR: frozenset(
        {Right.WAITING, Right.WINS, Right.LINKS, Right.USERS, Right.PEOPLE}
    ),
}


def roles_in_words(right: Right) -> str:
    """The roles that have a right, as a message names them: "a floorperson or a supervisor"."""
    names = [in_words(role) for role, rights in RIGHTS.items() if right in rights]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def in_words(role: Role) -> str:
    """A role as a message names it: "an auditor"."""
    return f"{'an' if role.value[0] in 'aeiou' else 'a'} {role.value}"
