"""A network connection that can be cut, or that silently holds back what is sent."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, Self

from tests.chaos.copies import Copier
from tests.waiting import LONG_S, free_port

_CHUNK = 65_536
_DONE_WITHIN_S = LONG_S


class Wire:
    """TCP relay on its own loopback port, run by a thread from entry to exit.

    Args:
        to_port: port of the broker.
        copies: whether each event of a table is passed on three times, back to back.

    Attributes:
        port: port on which it listens.
    """

    def __init__(self, to_port: int, *, copies: bool = False) -> None:
        self._copies = copies
        self.port = free_port()
        self._to_port = to_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._cut = False
        self._flowing = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_DONE_WITHIN_S)
        self._loop.close()

    def cut(self) -> None:
        """Break every connection, and each new one immediately."""
        self._run(self._break())

    def hold(self) -> None:
        """Let nothing through in either direction; connections stay open."""
        self._run(self._stop())

    def mend(self) -> None:
        """Let everything through again."""
        self._run(self._flow())

    def _run(self, job: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(job, self._loop).result(_DONE_WITHIN_S)

    async def _open(self) -> None:
        self._flowing.set()
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._break()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _stop(self) -> None:
        self._flowing.clear()

    async def _flow(self) -> None:
        self._cut = False
        self._flowing.set()

    async def _break(self) -> None:
        self._cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, far_writer}
        self._writers |= pair
        try:
            await asyncio.wait(
                [
                    asyncio.create_task(
                        self._carry(reader, far_writer, Copier() if self._copies else None)
                    ),
                    asyncio.create_task(self._carry(far_reader, writer)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            self._writers -= pair
            for end in pair:
                end.transport.abort()

    async def _carry(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        copier: Copier | None = None,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._flowing.wait()
                writer.write(data if copier is None else copier.feed(data))
                await writer.drain()
