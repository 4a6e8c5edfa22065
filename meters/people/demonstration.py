"""The people of a demonstration, whose PIN everybody knows."""

import structlog

from meters.people.errors import PeopleError
from meters.people.roles import Role
from meters.people.users import Doer, Users
from meters.wire.demonstration import PEOPLE, PIN

log = structlog.get_logger()


async def let_in(users: Users) -> None:
    """Add a demonstration's people, save those of an earlier run."""
    try:
        there = {row.name for row in await users.rows()}
        for name, role in PEOPLE:
            if name not in there:
                await users.add(name, Role(role), PIN, Doer("demonstration"))
    except PeopleError as error:
        log.warning("demonstration's people not let in", reason=error.message)
