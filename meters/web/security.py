"""Who may decide claims."""

import hmac
from collections.abc import Callable
from typing import Final

from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import NotAuthorizedException
from litestar.handlers import BaseRouteHandler

Connection = ASGIConnection[BaseRouteHandler, object, object, State]
Guard = Callable[[Connection, BaseRouteHandler], None]

_SCHEME: Final = "Bearer "


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
