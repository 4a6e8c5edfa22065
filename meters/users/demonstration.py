"""Users of a demonstration floor. All of them have the same public PIN."""

from typing import Final

import structlog

from meters.floor.facility import DEMONSTRATION_USERS, PUBLIC_PIN
from meters.users.errors import UsersError
from meters.users.roles import Role
from meters.users.users import Actor, Users

log = structlog.get_logger()

_US: Final = Actor("demonstration")


async def let_in(users: Users) -> None:
    """Add the users of a demonstration, unless an earlier run or another service added them.

    Their public PIN is permanent, so they never have to choose one of their own. A floor that has
    users, none of them from a demonstration, gets none.
    """
    try:
        rows = await users.rows()
        if rows and all(row.added_by != _US.name for row in rows):
            log.warning(
                "people not let in", reason=f"the floor has users of its own: {rows[0].name}"
            )
            return
        present = {row.name for row in rows}
        for name, role in DEMONSTRATION_USERS:
            if name not in present:
                await _add(users, name, Role(role))
    except UsersError as error:
        log.warning("people not let in", reason=error.message)


async def _add(users: Users, name: str, role: Role) -> None:
    try:
        await users.add(name, role, PUBLIC_PIN, _US, own=True)
    except UsersError as error:
        if error.code != "name_taken":
            raise
