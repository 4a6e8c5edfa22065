"""Access to HTTP routes. If a route does not declare who may use it, nobody may use it."""

import hmac
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from enum import StrEnum
from typing import Annotated, Final, Protocol, TypeVar

import msgspec
from litestar import get, post
from litestar.connection import Request
from litestar.datastructures import Address, Headers
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from bonus.printable import PRINTABLE
from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.acts.meter_changes import ProposalRow
from meters.floor.roles import RIGHTS, Right, in_words, roles_in_words
from meters.http.middleware import is_loopback
from meters.http.strict_requests import WebConnection
from meters.users.sessions import SignedIn
from meters.users.sign_in_attempts import Caller
from meters.users.users import UserDirectory
from meters.web.error_answers import StaffRequest, refusals

Row = TypeVar("Row", ClaimRow, ProposalRow)
Guard = Callable[[WebConnection, BaseRouteHandler], Awaitable[None]]

COOKIE: Final = "__Host-pitlink"
"""The session cookie. Because of ``__Host-``, browsers send it only to this host, encrypted."""

DEVICE_COOKIE: Final = "__Host-pitlink-device"
"""The cookie that identifies a device, even after the session has ended. If failed sign-ins on
other devices have locked a user's name, the user can still sign in on a device with this cookie.
"""

CSRF_HEADER: Final = "X-CSRF-Token"
UNATTENDED_HEADER: Final = "X-Unattended"
"""The header is 1 if the page sends the request by itself. Then the session is not prolonged."""

READS_SETTERS: Final = "reads_setters"
"""Route option: whether a read tells who bars the user from a second act (duty D4)."""

SESSION: Final[list[dict[str, list[str]]]] = [{"session": []}]

ACCESS: Final = "access"

NEEDS_PIN: Final = "needs_pin"
"""Route option: whether a lapsed session is refused. Without this option, a lapsed session is
refused only for changes."""

_DEVICE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXY_SAYS_SO: Final = (
    "A proxy on the service's machine that terminates HTTPS must set X-Forwarded-Proto"
)


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without fields: the signed-in user is the person who acts."""


Typed = Annotated[str, msgspec.Meta(max_length=200, pattern=PRINTABLE)]


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a user types to sign in, or a colleague to sign one act."""

    name: Typed
    pin: Typed


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who acts: the signed-in user, or a `colleague` for one act on the signed-in user's device."""

    colleague: Credentials | None = None


class RequestDetails(Protocol):
    @property
    def scope(self) -> Scope: ...

    @property
    def headers(self) -> Headers: ...

    @property
    def cookies(self) -> Mapping[str, str]: ...

    @property
    def client(self) -> Address | None: ...


class RouteAccess(StrEnum):
    """Access that needs no right."""

    ANYBODY = "anybody"
    SIGNED_IN = "signed_in"


FOR_ANYBODY: Final[dict[str, object]] = {ACCESS: RouteAccess.ANYBODY}
FOR_SIGNED_IN: Final[dict[str, object]] = {ACCESS: RouteAccess.SIGNED_IN}


def needs(right: Right) -> dict[str, object]:
    return {ACCESS: right}


def session_of(right: Right) -> list[dict[str, list[str]]]:
    """Return the roles that have a right, for a route's API description."""
    return [{"session": [role.value for role, rights in RIGHTS.items() if right in rights]}]


def staff_read(path: str, right: Right, *refused: int, reads_setters: bool = False) -> get:
    """Declare a GET route for users who have the right. The route must change nothing."""
    return get(
        path,
        opt=needs(right) | {READS_SETTERS: reads_setters},
        security=session_of(right),
        responses=refusals(*refused),
    )


def staff_act(path: str, right: Right, *refused: int, status_code: int = 200) -> post:
    """Declare a POST route for users who have the right. The route can change data."""
    return post(
        path,
        opt=needs(right),
        security=session_of(right),
        responses=refusals(400, 401, 403, 404, 409, 413, 415, *refused, 503),
        status_code=status_code,
    )


def gate(user_directory: UserDirectory) -> Guard:
    """Return the check that runs before every route. It refuses users without the right (duty D20).

    A request that changes something must be JSON. A browser must send it from one of pitlink's
    pages. If the route needs a session, the request must also have the session's CSRF token. The
    session is checked again after the body has arrived, because the session can end meanwhile.
    """

    async def check(connection: WebConnection, handler: BaseRouteHandler) -> None:
        access: object = handler.opt.get(ACCESS)
        if access is None:
            raise ActError("not_allowed", "nobody may use this")
        scope = connection.scope
        acts = scope.get("method") not in _SAFE
        if acts:
            _check_origin(connection)
            _check_content(connection)
        if access is RouteAccess.ANYBODY:
            return
        needs_pin = bool(handler.opt.get(NEEDS_PIN, acts))
        sets = bool(handler.opt.get(READS_SETTERS))
        person = await _admit(
            connection, user_directory, access, needs_pin=needs_pin, reads_setters=sets
        )
        if acts and isinstance(connection, Request):
            await connection.body()
            person = await _admit(connection, user_directory, access, needs_pin=needs_pin)
        scope["user"] = person

    return check


async def _admit(
    connection: RequestDetails,
    user_directory: UserDirectory,
    access: object,
    *,
    needs_pin: bool,
    reads_setters: bool = False,
) -> SignedIn:
    person = await person_of(connection, user_directory, reads_setters=reads_setters)
    if person is None:
        raise ActError("sign_in", "sign in first")
    if connection.scope.get("method") not in _SAFE:
        _check_csrf(connection, person)
    if needs_pin and person.lapsed:
        raise ActError("pin_needed", "you did nothing for a while: enter your PIN")
    _check_right(person, access)
    return person


def _check_right(person: SignedIn, access: object) -> None:
    if isinstance(access, Right) and person.must_choose:
        raise ActError("choose_pin", "somebody else set your PIN: choose your own first")
    if isinstance(access, Right) and not person.may(access):
        raise ActError(
            "not_allowed",
            f"this needs {roles_in_words(access)}: {person.name} is {in_words(person.role)}",
        )


async def signer_of(
    request: StaffRequest, signature: Signature, user_directory: UserDirectory
) -> SignedIn:
    """Return who does an act: the signed-in user, or the colleague who signs it.

    The colleague also needs the right for the route. The device keeps nothing about the colleague.
    The operators' log records whose device the colleague used (duty D17).
    """
    colleague = signature.colleague
    if colleague is None:
        return request.user
    check_secrecy(request)
    caller = caller_of(request)
    person = await user_directory.sessions.sign_once(colleague.name, colleague.pin, caller)
    _check_right(person, request.route_handler.opt[ACCESS])
    await user_directory.log.note(
        "signed_on_device", by=person.name, about=request.user.name, client=caller.client
    )
    return person


def with_bar(row: Row, person: SignedIn, first: str, first_pin_set_by: Collection[str]) -> Row:
    """Return a row that names whoever bars `person` from the second act, if somebody does.

    `first` did the first act. If this is `person`, the row is returned unchanged.
    """
    if first == person.name or (bar := person.bar(first, first_pin_set_by)) is None:
        return row
    return msgspec.structs.replace(row, barred_by=bar[0], barred_until=bar[1])


async def person_of(
    connection: RequestDetails, user_directory: UserDirectory, *, reads_setters: bool = False
) -> SignedIn | None:
    """Return the signed-in user; None if nobody has signed in.

    Raises:
        UsersError: ``store_failed``.
    """
    unattended = connection.headers.get(UNATTENDED_HEADER) == "1"
    acts = connection.scope.get("method") not in _SAFE
    return await user_directory.sessions.find(
        token_of(connection), keep_alive=not unattended, acts=acts or reads_setters
    )


def token_of(connection: RequestDetails) -> str | None:
    return connection.cookies.get(COOKIE)


def caller_of(connection: RequestDetails) -> Caller:
    shown = connection.cookies.get(DEVICE_COOKIE, "")
    return Caller(client_of(connection), shown if _DEVICE.fullmatch(shown) else "")


def client_of(connection: RequestDetails) -> str:
    return connection.client.host if connection.client else ""


def check_secrecy(connection: RequestDetails) -> None:
    """Refuse a PIN that was sent over the network without encryption.

    A proxy on this machine must set X-Forwarded-Proto to say that a request was encrypted.
    """
    if connection.scope["scheme"] != "https" and not is_loopback(client_of(connection)):
        raise ActError(
            "https_needed",
            f"sign in over HTTPS: others could read this connection. {_PROXY_SAYS_SO}",
        )


def _check_origin(connection: RequestDetails) -> None:
    origin = connection.headers.get("origin")
    site = connection.headers.get("sec-fetch-site")
    ours = f"{connection.scope['scheme']}://{connection.headers.get('host', '')}"
    if (origin is not None and origin.lower() != ours.lower()) or site not in {None, "same-origin"}:
        message = f"only the pages of {ours} may do this: the request came from elsewhere"
        if origin is not None and origin.lower() == f"https{ours.removeprefix('http')}".lower():
            # The request probably comes from pitlink's own page, through a proxy that does not say
            # that the connection is encrypted.
            message = (
                f"only the pages of {ours} may do this: the request came from {origin}."
                f" {_PROXY_SAYS_SO}"
            )
        raise ActError("foreign_origin", message)


def _check_content(connection: RequestDetails) -> None:
    kind = connection.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ActError("not_json", "send application/json")


def _check_csrf(connection: RequestDetails, person: SignedIn) -> None:
    shown = connection.headers.get(CSRF_HEADER, "")
    # The comparison takes equally long for each wrong token, so the time of an answer reveals
    # nothing about the right one.
    if not hmac.compare_digest(shown.encode(), person.csrf.encode()):
        raise ActError("csrf", f"the header {CSRF_HEADER} is missing or wrong")
