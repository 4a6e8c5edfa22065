"""Users of a demonstration floor. All of them have the same public PIN."""

from typing import Final

import structlog

from meters.floor.demonstration import PIN, USERS
from meters.users.errors import UsersError
from meters.users.roles import Role
from meters.users.users import Actor, Users

log = structlog.get_logger()

_US: Final = Actor("demonstration")


async def let_in(users: Users) -> None:
    """Add the users of a demonstration, unless an earlier run or another service added them.

    The public PIN of these users is permanent, so they never have to choose a PIN of their own.
    """
    try:
        present = {row.name: row for row in await users.rows()}
        for name, role in USERS:
            if name not in present:
                await _add(users, name, Role(role))
            elif present[name].pin_by == _US.name:  # by an earlier release, with a PIN for one day
                await users.set_pin(name, PIN, _US, own=True)
    except UsersError as error:
        log.warning("people not let in", reason=error.message)


async def _add(users: Users, name: str, role: Role) -> None:
    try:
        await users.add(name, role, PIN, _US, own=True)
    except UsersError as error:
        if error.code != "name_taken":
            raise
