"""The web server uvicorn, in the same event loop as the other tasks of the process."""

import asyncio
import contextlib
import functools
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from litestar import Litestar

from bonus.errors import UserError
from meters.http.middleware import HostNames, ServerMiddleware, ServerSettings
from meters.http.request_limits import (
    TAKEN_WITHIN_S,
    Connection,
    ConnectionLimits,
    room_for_connections,
)

GRACE_S: Final = 2
"""When the server stops, an unfinished answer must end within this time."""

_STOP_WITHIN_S: Final = GRACE_S + 3.0
_BACKLOG: Final = 512
_HANDSHAKE_WITHIN_S: Final = 10.0
_UNSENT_BYTES: Final = 65_536
"""Size of the kernel's buffer for a client that does not read. The kernel doubles this size."""

_PROXIES: Final = ("127.0.0.1", "::1")
"""Proxies on this machine. Only their headers about the client and HTTPS are believed."""


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, because the process has its own."""

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        tls: ssl.SSLContext | None,
        ready: asyncio.Event,
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._tls = tls
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        accept = functools.partial(
            Connection,
            self.config,
            self.server_state,
            self.lifespan.state,
            ConnectionLimits(room_for_connections()),
        )
        server = await asyncio.get_running_loop().create_server(
            accept,
            sock=self._listener,
            ssl=self._tls,
            ssl_handshake_timeout=_HANDSHAKE_WITHIN_S if self._tls else None,
            backlog=_BACKLOG,
        )
        self.servers.append(server)
        self._ready.set()


async def serve_web(
    app: Litestar,
    host: str,
    port: int,
    ready: asyncio.Event,
    end_streams: Callable[[], None] = lambda: None,
    *,
    settings: ServerSettings | None = None,
    any_port: bool = True,
) -> None:
    """Serve until the task is canceled. Stop within a few seconds, even with open event streams.

    Slow and silent connections are closed; connections from one address are limited in number (duty
    D20). `ready` is set when the server accepts connections. `end_streams` is called at the end,
    because an event stream does not end by itself.

    Raises:
        UserError: the server cannot listen on the address, or the certificate is wrong.
    """
    settings = settings or ServerSettings()
    tls = settings.tls()
    names = HostNames(host, port, settings.hosts, any_port=any_port)
    listener = _listen(host, port)
    config = uvicorn.Config(
        ServerMiddleware(app, names, settings.metrics_token),
        log_config=None,
        # At a lower level, uvicorn would log each piece of data that is not HTTP.
        log_level="error",
        access_log=False,
        forwarded_allow_ips=list(_PROXIES),
        lifespan="off",
        ws="none",
        interface="asgi3",
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config, listener, tls, ready)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(), name="web server")
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
        listener = socket.create_server((address, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(
            f"cannot serve pages at http://{host}:{port}: {reason}; choose another address with"
            " --http (pitlink serve), or with --at or --metrics (pitlink table)"
        ) from None
    # Every accepted connection inherits these options of the listening socket.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
    if sys.platform == "linux":
        unacknowledged_ms = round(TAKEN_WITHIN_S * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unacknowledged_ms)
    return listener
