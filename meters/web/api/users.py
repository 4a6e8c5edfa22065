"""Routes for the users, and for the operators' log (the record of what users did)."""

from collections.abc import Callable, Sequence
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, QueryParameter

from bonus.printable import PRINTABLE
from meters.floor_api.types import PAGE_MAX
from meters.users.directory import UserDirectory
from meters.users.operators_log import LogRow, LogSeal
from meters.users.pins import generate_pin
from meters.users.roles import Right, Role
from meters.users.users import Actor, UserRow
from meters.web.api.claims import ENTRIES_MAX, Nothing
from meters.web.errors import StaffRequest, refusals
from meters.web.security import SESSION, client_of, needs, staff_act, token_of

_READS: Final = refusals(400, 401, 403, 503)

Typed = Annotated[str, msgspec.Meta(max_length=200, pattern=PRINTABLE)]


class NewUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user to add. Without `pin`, the service generates one."""

    name: Typed
    role: Role
    pin: Typed | None = None


class NewPin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user's PIN to set. Without `pin`, the service generates one."""

    pin: Typed | None = None


class UserWithPin(UserRow, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user who has just been given a PIN.

    `pin` is the PIN that the service generated, null if the request had one. No other answer shows
    it.
    """

    pin: str | None = None


def user_routes(
    user_directory: UserDirectory, log_seal: Callable[[], LogSeal]
) -> list[HTTPRouteHandler]:
    return [*_reading_routes(user_directory, log_seal), *_changing_routes(user_directory)]


def _reading_routes(
    user_directory: UserDirectory, log_seal: Callable[[], LogSeal]
) -> list[HTTPRouteHandler]:  # fmt: skip
    @get("/api/v1/users", opt=needs(Right.USERS), security=SESSION, responses=_READS)
    async def list_users() -> Sequence[UserRow]:
        return await user_directory.users.rows()

    @get("/api/v1/log", opt=needs(Right.USERS), security=SESSION, responses=_READS)
    async def list_log(
        before: Annotated[int | None, QueryParameter(ge=1, le=ENTRIES_MAX)] = None,
        limit: Annotated[int, QueryParameter(ge=1, le=PAGE_MAX)] = 50,
    ) -> Sequence[LogRow]:
        """List the entries of the operators' log, latest first (duty D17)."""
        return await user_directory.log.page(before, limit)

    @get("/api/v1/log/seal", opt=needs(Right.WINS), security=SESSION, responses=_READS)
    async def show_log_seal() -> LogSeal:
        """Return the seal, a digest over the log, to be kept outside pitlink (duty D17)."""
        return log_seal()

    return [list_users, list_log, show_log_seal]


def _changing_routes(user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    users = user_directory.users

    @staff_act("/api/v1/users", Right.CHANGE_USERS, status_code=201)
    async def add_user(data: JSONBody[NewUser], request: StaffRequest) -> UserWithPin:
        """Add a user with a PIN that is valid for 24 hours.

        With it, the user can do nothing except choose their own PIN.
        """
        pin = data.pin if data.pin is not None else generate_pin()
        row = await users.add(data.name, data.role, pin, _doer(request))
        return _with_pin(row, None if data.pin is not None else pin)

    @staff_act("/api/v1/users/{name:str}/disable", Right.CHANGE_USERS)
    async def disable_user(
        name: FromPath[str], data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        """Disable a user's sign-in. The user's sessions end immediately."""
        return await users.disable(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/enable", Right.CHANGE_USERS)
    async def enable_user(
        name: FromPath[str], data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        return await users.enable(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/unlock", Right.CHANGE_USERS)
    async def unlock_user(
        name: FromPath[str], data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        """Let a user sign in again after too many failed sign-ins have locked their name."""
        return await users.unlock(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/pin", Right.CHANGE_USERS)
    async def set_pin(
        name: FromPath[str], data: JSONBody[NewPin], request: StaffRequest
    ) -> UserWithPin:
        """Set a new PIN for a user. The user's sessions end immediately.

        The PIN is valid for 24 hours. With it, the user can do nothing except choose their own PIN.
        """
        pin = data.pin if data.pin is not None else generate_pin()
        row = await users.set_pin(name, pin, _doer(request))
        return _with_pin(row, None if data.pin is not None else pin)

    return [add_user, disable_user, enable_user, unlock_user, set_pin]


def _with_pin(row: UserRow, pin: str | None) -> UserWithPin:
    return UserWithPin(**msgspec.structs.asdict(row), pin=pin)


def _doer(request: StaffRequest) -> Actor:
    return Actor(request.user.name, client_of(request), token_of(request) or "")
