"""A network between a client and a broker that can stop to carry anything, without a word."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Relay:
    """Carries bytes both ways between a port of its own and the broker's.

    Attributes:
        port: where clients connect.
        stalled: while set nothing is carried, and no connection is closed.
    """

    def __init__(self, broker_port: int) -> None:
        self._broker_port = broker_port
        self._tasks: set[asyncio.Task[None]] = set()
        self._carrying = asyncio.Event()
        self._carrying.set()
        self.port = 0

    def stall(self) -> None:
        """Carry nothing more."""
        self._carrying.clear()

    def flow(self) -> None:
        """Carry on."""
        self._carrying.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Relay"]:
        """The relay at work, from entry to exit."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond = await asyncio.open_connection("127.0.0.1", self._broker_port)
        for source, sink in ((reader, beyond[1]), (beyond[0], writer)):
            task = asyncio.create_task(self._carry(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                await self._carrying.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()
