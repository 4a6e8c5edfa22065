"""The people of a demonstration, whose PIN everybody knows."""

import structlog

from meters.people.errors import PeopleError
from meters.people.roles import Role
from meters.people.users import Doer, Users
from meters.wire.demonstration import PEOPLE, PIN

log = structlog.get_logger()


async def let_in(users: Users) -> None:
    """Add a demonstration's people, save those whom an earlier run or another service added."""
    try:
        there = {row.name for row in await users.rows()}
        for name, role in PEOPLE:
            if name not in there:
                await _add(users, name, Role(role))
    except PeopleError as error:
        log.warning("people not let in", reason=error.message)


async def _add(users: Users, name: str, role: Role) -> None:
    try:
        await users.add(name, role, PIN, Doer("demonstration"))
    except PeopleError as error:
        if error.code != "name_taken":
            raise
