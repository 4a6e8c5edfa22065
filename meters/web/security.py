"""Who may decide claims, and what a browser may do with the answers."""

import hmac
from collections.abc import Callable
from typing import Final

from litestar.connection import ASGIConnection
from litestar.datastructures import MutableScopeHeaders, State
from litestar.exceptions import NotAuthorizedException
from litestar.handlers import BaseRouteHandler
from litestar.types import Message, Scope

Connection = ASGIConnection[BaseRouteHandler, object, object, State]
Guard = Callable[[Connection, BaseRouteHandler], None]

_SCHEME: Final = "Bearer "
_NOTHING_FOREIGN: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _NOTHING_FOREIGN,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def floor_guard(floor_key: str) -> Guard:
    """A guard that lets through who shows the floor's key as a bearer token.

    Raises:
        ValueError: the key is empty, which would let everybody through.
    """
    if not floor_key:
        raise ValueError("the floor key is empty")
    expected = floor_key.encode()

    def guard(connection: Connection, _: BaseRouteHandler) -> None:
        shown = connection.headers.get("authorization", "")
        # Compared in constant time, so that the answer's delay tells nothing of the key.
        key = shown.removeprefix(_SCHEME).encode() if shown.startswith(_SCHEME) else b""
        if not hmac.compare_digest(key, expected):
            raise NotAuthorizedException(
                "this needs the floor's key as a bearer token",
                headers={"WWW-Authenticate": "Bearer"},
            )

    return guard


async def add_security_headers(message: Message, _: Scope) -> None:
    """Give every answer its headers; what does not say how long it keeps is not kept."""
    if message["type"] != "http.response.start":
        return
    headers = MutableScopeHeaders.from_message(message)
    for name, value in _HEADERS.items():
        headers[name] = value
    if "cache-control" not in headers:
        headers["Cache-Control"] = "no-store"
