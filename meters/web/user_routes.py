"""Routes for sign-in and the users, and for the operators' log (the record of what users did)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import msgspec
from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from meters.floor.floor_file import Floor
from meters.floor.roles import Right, Role
from meters.http.strict_requests import WebRequest
from meters.users.operators_log import LogRow, LogSeal
from meters.users.pins import generate_pin
from meters.users.sessions import DEVICE_KNOWN_MS, SignedIn
from meters.users.sign_in_attempts import new_device
from meters.users.users import Actor, UserDirectory, UserRow
from meters.web.error_answers import StaffRequest, answer, refusals
from meters.web.route_parameters import EntriesBefore, PageSize, UserName
from meters.web.security import (
    COOKIE,
    DEVICE_COOKIE,
    FOR_ANYBODY,
    FOR_SIGNED_IN,
    NEEDS_PIN,
    SESSION,
    Credentials,
    Nothing,
    Typed,
    caller_of,
    check_secrecy,
    client_of,
    staff_act,
    staff_read,
    token_of,
)

_READS: Final = (400, 401, 403, 503)
_NO_BODY: Final = answer(None, "Done. The answer has no body.")


class OwnPin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A new PIN of the signed-in user.

    Attributes:
        pin: the present PIN.
        new_pin: the PIN that the user chooses.
    """

    pin: Typed
    new_pin: Typed


class NewUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user to add. If `pin` is missing, the service generates a PIN."""

    name: Typed
    role: Role
    pin: Typed | None = None


class NewPin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A PIN to set. If `pin` is missing, the service generates a PIN."""

    pin: Typed | None = None


class UserWithPin(UserRow, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A user who has just been given a PIN.

    Attributes:
        pin: the PIN that the service generated, which no other answer shows; null if the request
            had a PIN.
    """

    pin: str | None = None


class Me(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The signed-in user, and other data for the floor page.

    Attributes:
        rights: what the user's role may do.
        csrf: a token for the header ``X-CSRF-Token``. Every request that changes something must
            have it.
        idle_seconds: if the user sends no request for this time, the session lapses. A request with
            the header ``X-Unattended: 1`` does not count, because the page sends it by itself.
        facility: the name of the facility.
        timezone: the time zone of the facility, such as ``America/New_York``.
        demonstration: true if the floor is only for demonstrations.
        warn_adjustment_percent: if an adjustment changes a meter by more than this percentage, the
            page warns.
        choose_pin: true if somebody else set the user's PIN. Until the user chooses a new one, they
            have no rights.
        lapsed: true if the session has lapsed. Until the user signs in again, most requests other
            than reads are refused with the code ``pin_needed``.
    """

    name: str
    role: Role
    rights: tuple[Right, ...]
    csrf: str
    idle_seconds: int
    facility: str
    timezone: str
    demonstration: bool
    warn_adjustment_percent: int
    choose_pin: bool = False
    lapsed: bool = False


def sign_in_routes(floor: Floor, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    return [*_session_routes(floor, user_directory), *_own_account_routes(floor, user_directory)]


def _session_routes(floor: Floor, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    @post(
        "/api/v1/sign-in",
        opt=FOR_ANYBODY,
        responses=refusals(400, 401, 403, 413, 415, 429, 503),
        status_code=200,
    )
    async def sign_in(data: JSONBody[Credentials], request: WebRequest) -> Response[Me]:
        """Sign in with a name and a PIN. An earlier session of this browser ends.

        The answer also sets a cookie that identifies the device. Failed sign-ins of other people
        can lock the user's name or the network address. If the user has signed in on this device
        before, they can still sign in here.
        """
        check_secrecy(request)
        caller = caller_of(request)
        if not caller.device:
            caller = replace(caller, device=new_device())
        opened = await user_directory.sessions.sign_in(
            data.name, data.pin, caller, token_of(request)
        )
        cookies = [
            _cookie(COOKIE, opened.token),
            _cookie(DEVICE_COOKIE, caller.device, DEVICE_KNOWN_MS // 1000),
        ]
        return Response(_me(floor, opened.person), cookies=cookies)

    @post(
        "/api/v1/sign-out",
        opt=FOR_SIGNED_IN | {NEEDS_PIN: False},
        security=SESSION,
        responses={204: _NO_BODY, **refusals(400, 401, 403, 413, 415, 503)},
        status_code=204,
    )
    async def sign_out(data: JSONBody[Nothing], request: StaffRequest) -> Response[None]:
        """Sign out: the session ends, and its cookie is deleted."""
        await user_directory.sessions.sign_out(token_of(request), client_of(request))
        return Response(None, cookies=[_cookie(COOKIE, "", 0)])

    return [sign_in, sign_out]


def _own_account_routes(floor: Floor, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    @get("/api/v1/me", opt=FOR_SIGNED_IN, security=SESSION, responses=refusals(401, 503))
    async def show_me(request: StaffRequest) -> Me:
        """Return the signed-in user, with their rights."""
        return _me(floor, request.user)

    @post(
        "/api/v1/me/pin",
        opt=FOR_SIGNED_IN,
        security=SESSION,
        responses=refusals(400, 401, 403, 413, 415, 429, 503),
        status_code=204,
    )
    async def choose_pin(data: JSONBody[OwnPin], request: StaffRequest) -> None:
        """Set a PIN that the signed-in user chose, and end the user's other sessions.

        `pin` is the present PIN; a wrong one counts as a failed sign-in. After this call, only the
        user knows the PIN.
        """
        await user_directory.sessions.choose_pin(
            token_of(request), request.user, data.pin, data.new_pin, caller_of(request)
        )

    @staff_read("/api/v1/me/acts", Right.WAITING, *_READS)
    async def list_own_acts(request: StaffRequest, limit: PageSize = 20) -> Sequence[LogRow]:
        """List the entries of the operators' log about the signed-in user, latest first.

        The entries are changes of the user and of the user's PIN, and changes by the user.
        """
        return await user_directory.log.of_account(request.user.name, limit)

    return [show_me, choose_pin, list_own_acts]


def _cookie(key: str, value: str, max_age_s: int | None = None) -> Cookie:
    return Cookie(
        key, value=value, max_age=max_age_s, path="/", secure=True, httponly=True, samesite="strict"
    )


def _me(floor: Floor, person: SignedIn) -> Me:
    facility = floor.facility
    return Me(
        name=person.name,
        role=person.role,
        rights=tuple(right for right in Right if person.may(right)),
        csrf=person.csrf,
        idle_seconds=floor.service.idle_minutes * 60,
        facility=facility.name,
        timezone=facility.timezone,
        demonstration=facility.demonstration,
        warn_adjustment_percent=facility.warn_adjustment_percent,
        choose_pin=person.must_choose,
        lapsed=person.lapsed,
    )


def user_routes(
    user_directory: UserDirectory, log_seal: Callable[[], LogSeal]
) -> list[HTTPRouteHandler]:
    return [*_reading_routes(user_directory, log_seal), *_changing_routes(user_directory)]


def _reading_routes(
    user_directory: UserDirectory, log_seal: Callable[[], LogSeal]
) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/users", Right.USERS, *_READS)
    async def list_users() -> Sequence[UserRow]:
        """List the users, including those who cannot sign in."""
        return await user_directory.users.rows()

    @staff_read("/api/v1/log", Right.USERS, *_READS)
    async def list_log(before: EntriesBefore = None, limit: PageSize = 50) -> Sequence[LogRow]:
        """List the entries of the operators' log, latest first (duty D17)."""
        return await user_directory.log.page(before, limit)

    @staff_read("/api/v1/log/seal", Right.WINS, *_READS)
    async def show_log_seal() -> LogSeal:
        """Return the seal, a digest over the log. Keep the seal outside pitlink (duty D17)."""
        return log_seal()

    return [list_users, list_log, show_log_seal]


def _changing_routes(user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    users = user_directory.users

    @staff_act("/api/v1/users", Right.CHANGE_USERS, status_code=201)
    async def add_user(data: JSONBody[NewUser], request: StaffRequest) -> UserWithPin:
        """Add a user. Until the user chooses another PIN, they can do nothing else.

        The first PIN is valid for 24 hours.
        """
        pin = data.pin if data.pin is not None else generate_pin()
        row = await users.add(data.name, data.role, pin, _doer(request))
        return _with_pin(row, None if data.pin is not None else pin)

    @staff_act("/api/v1/users/{name:str}/disable", Right.CHANGE_USERS)
    async def disable_user(
        name: UserName, data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        """Disable a user's sign-in. The user's sessions end immediately."""
        return await users.disable(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/enable", Right.CHANGE_USERS)
    async def enable_user(
        name: UserName, data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        """Let a disabled user sign in again."""
        return await users.enable(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/unlock", Right.CHANGE_USERS)
    async def unlock_user(
        name: UserName, data: JSONBody[Nothing], request: StaffRequest
    ) -> UserRow:
        """Let a user sign in again after too many failed sign-ins have locked their name."""
        return await users.unlock(name, _doer(request))

    @staff_act("/api/v1/users/{name:str}/pin", Right.CHANGE_USERS)
    async def set_pin(name: UserName, data: JSONBody[NewPin], request: StaffRequest) -> UserWithPin:
        """Set a new PIN for a user. The user's sessions end immediately.

        The PIN is valid for 24 hours. Until the user chooses another, they can do nothing else.
        """
        pin = data.pin if data.pin is not None else generate_pin()
        row = await users.set_pin(name, pin, _doer(request))
        return _with_pin(row, None if data.pin is not None else pin)

    return [add_user, disable_user, enable_user, unlock_user, set_pin]


def _with_pin(row: UserRow, pin: str | None) -> UserWithPin:
    return UserWithPin(**msgspec.structs.asdict(row), pin=pin)


def _doer(request: StaffRequest) -> Actor:
    return Actor(request.user.name, client_of(request), token_of(request) or "")
