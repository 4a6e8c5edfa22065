import asyncio
import resource
from collections import Counter
from typing import Any, Final

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from meters.http.middleware import NOT_KEPT, SECURITY_HEADERS, is_loopback

BODY_BYTES_MAX: Final = 16_384

REQUEST_WITHIN_S: Final = 15.0
"""A whole request must arrive within this time after the connection began, or after the last answer
ended.
"""

TAKEN_WITHIN_S: Final = 30.0
"""If a client does not read its answer for this time, it is disconnected."""

CONNECTIONS_MAX: Final = 4096
CONNECTIONS_BY_CLIENT: Final = 256
"""How many connections an address can have. This machine has no limit: a proxy can run on it."""

FILES_FOR_THE_REST: Final = 512
"""Open files that are reserved for other uses: Redis, the broker, logs, and unexpected needs."""

_FEWEST: Final = 64
_PIECE_BYTES: Final = 4096
_STILL_COMING: Final = frozenset({h11.IDLE, h11.SEND_BODY})


def room_for_connections() -> int:
    """Raise the limit of open files if needed. Return how many connections it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + FILES_FOR_THE_REST
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    files = wanted if soft == resource.RLIM_INFINITY else soft
    return max(_FEWEST, min(CONNECTIONS_MAX, files - FILES_FOR_THE_REST))


class ConnectionLimits:
    """The open connections, counted by client address.

    If all places are taken, a new connection replaces the one that has sent no request for the
    longest time. An honest browser sends its request immediately.
    """

    def __init__(self, most: int, by_client: int = CONNECTIONS_BY_CLIENT) -> None:
        self._most = most
        self._by_client = by_client
        self._clients: Counter[str] = Counter()
        self._silent: dict[Connection, None] = {}

    @property
    def connected(self) -> int:
        return self._clients.total()

    def admit(self, client: str) -> bool:
        """Return whether one more connection from an address is allowed. If so, count it."""
        if self._clients[client] >= self._by_client and not is_loopback(client):
            return False
        if self.connected >= self._most:
            longest = next(iter(self._silent), None)
            if longest is None:
                return False
            longest.cut()
        self._clients[client] += 1
        return True

    def leave(self, client: str) -> None:
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]

    def falls_silent(self, connection: "Connection") -> None:
        self._silent[connection] = None

    def has_spoken(self, connection: "Connection") -> None:
        self._silent.pop(connection, None)


class Connection(H11Protocol):
    """A connection with two time limits: for the whole request, and for reading the answer.

    uvicorn itself limits only the time from an answer to the first byte of the next request.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        limits: ConnectionLimits,
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._limits = limits
        self._place: str | None = None
        self._coming: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        client = self.client[0] if self.client else ""
        if not self._limits.admit(client):
            transport.abort()
            return
        self._place = client
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process data in small pieces: headers in one large piece would have no length limit."""
        for at in range(0, len(data), _PIECE_BYTES):
            if self._place is None or self.transport.is_closing():
                return
            super().data_received(data[at : at + _PIECE_BYTES])
        self._await_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._taking is None:
            self._taking = self.loop.call_later(TAKEN_WITHIN_S, self.cut)

    def resume_writing(self) -> None:
        super().resume_writing()
        _stop(self._taking)
        self._taking = None

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not HTTP, with the headers of every answer."""
        if self.conn.our_state is not h11.IDLE:
            # Another answer is already being sent, and cannot be taken back.
            self.transport.close()
            return
        kind = (b"content-type", b"text/plain; charset=utf-8")
        headers = [kind, (b"connection", b"close"), *SECURITY_HEADERS, NOT_KEPT]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=msg.encode()),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def cut(self) -> None:
        self._leave()
        self.transport.abort()

    def _await_request(self) -> None:
        coming = self.conn.their_state in _STILL_COMING and not self.transport.is_closing()
        if not coming:
            _stop(self._coming)
            self._coming = None
            self._limits.has_spoken(self)
        elif self._coming is None and self._place is not None:
            self._coming = self.loop.call_later(REQUEST_WITHIN_S, self.cut)
            self._limits.falls_silent(self)

    def _leave(self) -> None:
        _stop(self._coming)
        _stop(self._taking)
        self._coming = self._taking = None
        self._limits.has_spoken(self)
        if self._place is not None:
            self._limits.leave(self._place)
            self._place = None


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
