"""Access to routes: every route declares who may use it; without a declaration nobody may."""

import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Final, Protocol

from litestar import post
from litestar.connection import ASGIConnection, Request
from litestar.datastructures import Address, Headers, State
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from meters.users.directory import UserDirectory
from meters.users.roles import Right, in_words, roles_in_words
from meters.users.sessions import SignedIn
from meters.users.sign_in_attempts import Caller
from meters.web.errors import RefusedError, refusals

Connection = ASGIConnection[BaseRouteHandler, object, object, State]
Guard = Callable[[Connection, BaseRouteHandler], Awaitable[None]]

COOKIE: Final = "__Host-pitlink"
"""The prefix makes browsers send it only to this host, for all its paths, and over secure
connections."""

DEVICE_COOKIE: Final = "__Host-pitlink-device"
"""This cookie remains after its session has ended. So a user who signed in on this device before is
not locked out by failures elsewhere."""

CSRF_HEADER: Final = "X-CSRF-Token"
UNATTENDED_HEADER: Final = "X-Unattended"
"""With the value 1: the page sends the request by itself, so it does not keep the session alive."""

SESSION: Final[list[dict[str, list[str]]]] = [{"session": []}]
"""The mark in the API's description of a route that needs a signed-in user."""

ACCESS: Final = "access"
"""The name under which a route declares who may use it."""

_DEVICE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXY_SAYS_SO: Final = (
    "A proxy on the service's machine that terminates HTTPS must set X-Forwarded-Proto"
)


class RequestDetails(Protocol):
    """The parts of a request that are read here, for any type of handler."""

    @property
    def scope(self) -> Scope:
        """The connection, as the server describes it."""
        ...

    @property
    def headers(self) -> Headers:
        """Its headers."""
        ...

    @property
    def cookies(self) -> Mapping[str, str]:
        """Its cookies."""
        ...

    @property
    def client(self) -> Address | None:
        """The client's address."""
        ...


class RouteAccess(StrEnum):
    """Access to a route that needs no right."""

    ANYBODY = "anybody"
    SIGNED_IN = "signed_in"


def for_anybody() -> dict[str, object]:
    """Return the access declaration of a public route."""
    return {ACCESS: RouteAccess.ANYBODY}


def for_whoever_signed_in() -> dict[str, object]:
    """Return the access declaration of a route for every signed-in user."""
    return {ACCESS: RouteAccess.SIGNED_IN}


def needs(right: Right) -> dict[str, object]:
    """Return the access declaration of a route that needs a right."""
    return {ACCESS: right}


def staff_act(path: str, right: Right, *, status_code: int = 200) -> post:
    """Declare a route by which a user with a right changes something."""
    return post(
        path,
        opt=needs(right),
        security=SESSION,
        responses=refusals(400, 401, 403, 404, 409, 413, 415, 503),
        status_code=status_code,
    )


def gate(people: UserDirectory) -> Guard:
    """Return the guard of all routes, which checks who may use each one (duty D20).

    Requests that change something are accepted only from our own pages: by their origin, as JSON,
    and, with a session, with the session's token. The user is looked up again after the body has
    arrived. A sender can delay a request for any time, and its session may end meanwhile.
    """

    async def check(connection: Connection, handler: BaseRouteHandler) -> None:
        access: object = handler.opt.get(ACCESS)
        if access is None:
            raise RefusedError(403, "not_allowed", "nobody may use this")
        scope = connection.scope
        acts = scope.get("method") not in _SAFE
        if acts:
            _check_origin(connection)
            _check_content(connection)
        if access is RouteAccess.ANYBODY:
            return
        person = await _admit(connection, people, access)
        if acts and isinstance(connection, Request):
            await connection.body()
            person = await _admit(connection, people, access)
        scope["user"] = person

    return check


async def _admit(connection: RequestDetails, people: UserDirectory, access: object) -> SignedIn:
    person = await person_of(connection, people)
    if person is None:
        raise RefusedError(401, "sign_in", "sign in first")
    if connection.scope.get("method") not in _SAFE:
        _check_csrf(connection, person)
    if isinstance(access, Right) and person.must_choose:
        raise RefusedError(403, "choose_pin", "somebody else set your PIN: choose your own first")
    if isinstance(access, Right) and not person.may(access):
        raise RefusedError(
            403,
            "not_allowed",
            f"this needs {roles_in_words(access)}: {person.name} is {in_words(person.role)}",
        )
    return person


async def person_of(connection: RequestDetails, people: UserDirectory) -> SignedIn | None:
    """Return the signed-in user of the requesting browser, or None.

    Raises:
        UsersError: ``store_failed``.
    """
    unattended = connection.headers.get(UNATTENDED_HEADER) == "1"
    acts = connection.scope.get("method") not in _SAFE
    return await people.sessions.find(token_of(connection), keep_alive=not unattended, acts=acts)


def token_of(connection: RequestDetails) -> str | None:
    """Return the token of the browser's session, or None if it sent none."""
    return connection.cookies.get(COOKIE)


def caller_of(connection: RequestDetails) -> Caller:
    """Return the origin of a sign-in: the address, and the device if it is known."""
    shown = connection.cookies.get(DEVICE_COOKIE, "")
    return Caller(client_of(connection), shown if _DEVICE.fullmatch(shown) else "")


def client_of(connection: RequestDetails) -> str:
    """Return the client's network address, as a proxy on this machine reports it."""
    return connection.client.host if connection.client else ""


def check_secrecy(connection: RequestDetails) -> None:
    """Refuse a PIN that was sent over the network without encryption.

    A proxy on this machine reports the scheme in X-Forwarded-Proto; other senders of it are
    ignored.

    Raises:
        RefusedError: ``https_needed``.
    """
    if connection.scope["scheme"] != "https" and not _is_loopback(client_of(connection)):
        raise RefusedError(
            403,
            "https_needed",
            f"sign in over HTTPS: others could read this connection. {_PROXY_SAYS_SO}",
        )


def _is_loopback(client: str) -> bool:
    try:
        return ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False


def _check_origin(connection: RequestDetails) -> None:
    origin = connection.headers.get("origin")
    site = connection.headers.get("sec-fetch-site")
    ours = f"{connection.scope['scheme']}://{connection.headers.get('host', '')}"
    if (origin is not None and origin.lower() != ours.lower()) or site not in {None, "same-origin"}:
        message = f"only the pages of {ours} may do this: it came from elsewhere"
        if origin is not None and origin.lower() == f"https{ours.removeprefix('http')}".lower():
            # Most likely this is our own page behind a proxy that does not report its scheme.
            message = (
                f"only the pages of {ours} may do this: it came from {origin}. {_PROXY_SAYS_SO}"
            )
        raise RefusedError(403, "foreign_origin", message)


def _check_content(connection: RequestDetails) -> None:
    kind = connection.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "not_json", "send application/json")


def _check_csrf(connection: RequestDetails, person: SignedIn) -> None:
    shown = connection.headers.get(CSRF_HEADER, "")
    # Compared in constant time, so the answer's delay reveals nothing about the token.
    if not hmac.compare_digest(shown.encode(), person.csrf.encode()):
        raise RefusedError(403, "csrf", f"the header {CSRF_HEADER} is missing or wrong")
