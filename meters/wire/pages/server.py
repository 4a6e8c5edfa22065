"""uvicorn inside the process's own event loop: it starts, serves and stops with the rest."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from litestar import Litestar

from bonus.errors import UserError

GRACE_S: Final = 2
"""How many seconds an unfinished answer has at shutdown."""

_STOP_WITHIN_S: Final = GRACE_S + 3.0
_BACKLOG: Final = 512


class _Server(uvicorn.Server):
    """uvicorn without signal handlers of its own: the process has its own."""

    def __init__(self, config: uvicorn.Config, ready: asyncio.Event) -> None:
        super().__init__(config)
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready.set()


async def serve_web(
    app: Litestar,
    host: str,
    port: int,
    ready: asyncio.Event,
    end_streams: Callable[[], None] = lambda: None,
) -> None:
    """Serve until cancelled, then stop within a few seconds, open event streams included.

    Args:
        app: the application.
        host: the address to listen on.
        port: the TCP port.
        ready: set once connections are accepted.
        end_streams: called when serving ends: an event stream does not end by itself.

    Raises:
        UserError: the address cannot be listened on.
    """
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        interface="asgi3",
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config, ready)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[listener]), name="web server")
        try:
            await asyncio.shield(serving)
        finally:
            end_streams()
            server.should_exit = True
            await asyncio.wait({serving}, timeout=_STOP_WITHIN_S)
            listener.close()


def _listen(host: str, port: int) -> socket.socket:
    address = host.removeprefix("[").removesuffix("]")
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((address, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"cannot serve pages at http://{host}:{port}: {reason}") from None
