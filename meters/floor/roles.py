"""Roles of the people on the floor, and their rights. No role has all rights (duty D4)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    SUPERVISOR = "supervisor"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class Right(StrEnum):
    """A permission that roles have.

    Attributes:
        WAITING: see the wins and requests that wait for a floorperson.
        WINS: see wins with their evidence, history and slips; see links, and the acts on them.
        DECIDE: decide on wins, Envy Bonuses and correction requests; record payments, and correct
            slip numbers.
        LINKS: open and close links; approve the floor file; propose, confirm and withdraw changes
            of meters.
        USERS: see the users and the operators' log.
        CHANGE_USERS: add, disable and enable users, and set PINs.
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
    """Return in words which roles have a right, such as "a floorperson or a supervisor"."""
    names = [in_words(role) for role, rights in RIGHTS.items() if right in rights]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def in_words(role: Role) -> str:
    """Return a role with its article, such as "an auditor"."""
    return f"{'an' if role.value[0] in 'aeiou' else 'a'} {role.value}"
