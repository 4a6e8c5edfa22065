"""Network between a client and a broker that a test can break in several ways."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable
from typing import Final, Literal, Protocol

Behavior = Literal["carry", "close", "reset", "silent", "garbage"]
"""Handling of a new connection: carried to the broker; accepted and closed; accepted and reset;
accepted and never answered; answered with bytes that are not MQTT."""

BREAKS: Final[tuple[Behavior, ...]] = ("close", "reset", "silent", "garbage")


class Changer(Protocol):
    """Changes what one client sends."""

    def feed(self, data: bytes) -> bytes: ...


_RESET: Final = struct.pack("ii", 1, 0)


class Relay:
    """Carries bytes both ways between its own port and the broker's."""

    def __init__(
        self,
        broker_port: int,
        behavior: Behavior = "carry",
        *,
        copier: Callable[[], Changer] | None = None,
    ) -> None:
        self._copier = copier
        self._broker_port = broker_port
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._carrying = asyncio.Event()
        self._carrying.set()
        self.behavior = behavior
        self.accepted = 0
        self.port = 0

    def stall(self) -> None:
        """Carry nothing more until `flow`; no connection is closed."""
        self._carrying.clear()

    def flow(self) -> None:
        self._carrying.set()

    def swallow(self) -> None:
        """Permanently carry nothing more over the existing connections, without closing them."""
        self._carrying.clear()
        self._carrying = asyncio.Event()
        self._carrying.set()

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Relay"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for writer in self._writers:
                writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._writers.add(writer)
        match self.behavior:
            case "carry":
                await self._connect(reader, writer)
            case "close":
                writer.close()
            case "reset":
                end = writer.get_extra_info("socket")
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                writer.transport.abort()
            case "garbage":
                writer.write(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            case "silent":
                pass

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            beyond = await asyncio.open_connection("127.0.0.1", self._broker_port)
        except OSError:
            writer.close()
            return
        copier = self._copier() if self._copier else None
        for source, sink, changer in ((reader, beyond[1], copier), (beyond[0], writer, None)):
            task = asyncio.create_task(self._carry(source, sink, self._carrying, changer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _carry(
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        carrying: asyncio.Event,
        changer: Changer | None,
    ) -> None:
        try:
            while data := await source.read(65_536):
                await carrying.wait()
                sink.write(changer.feed(data) if changer else data)
                await sink.drain()
            await carrying.wait()
        except OSError:
            pass
        finally:
            sink.close()
