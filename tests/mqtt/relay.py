"""Network between a client and a server that a test can slow down, or break in several ways."""

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
    def feed(self, data: bytes) -> bytes: ...


_RESET: Final = struct.pack("ii", 1, 0)


class Relay:
    """Carries bytes both ways between its own port and the server's.

    A `copier` makes what changes the bytes of a client. Each part of an answer is `late_s` late,
    except the first `soon_bytes` of the first.
    """

    def __init__(
        self,
        server_port: int,
        behavior: Behavior = "carry",
        *,
        copier: Callable[[], Changer] | None = None,
        late_s: float = 0.0,
        soon_bytes: int = 0,
    ) -> None:
        self._copier = copier
        self._server_port = server_port
        self._late_s = late_s
        self._soon_bytes = soon_bytes
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
            beyond = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.close()
            return
        copier = self._copier() if self._copier else None
        for carrying in (
            self._carry(reader, beyond[1], self._carrying, copier),
            self._carry(beyond[0], writer, self._carrying, late_s=self._late_s),
        ):
            task = asyncio.create_task(carrying)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        carrying: asyncio.Event,
        changer: Changer | None = None,
        *,
        late_s: float = 0.0,
    ) -> None:
        try:
            if late_s and self._soon_bytes:
                sink.write(await source.read(self._soon_bytes))
            while data := await source.read(65_536):
                await asyncio.sleep(late_s)
                await carrying.wait()
                sink.write(changer.feed(data) if changer else data)
                await sink.drain()
            await carrying.wait()
        except OSError:
            pass
        finally:
            sink.close()
