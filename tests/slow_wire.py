"""A port behind which a server answers late."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


@contextlib.asynccontextmanager
async def slow_wire(port: int, after_s: float, *, soon_bytes: int = 0) -> AsyncIterator[int]:
    """Yield a port behind which a server answers late; requests arrive without delay.

    Args:
        port: the port of the server.
        after_s: the delay of each part of an answer.
        soon_bytes: how many bytes of the first answer come without delay.
    """
    tasks: set[asyncio.Task[None]] = set()

    async def ask(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(sink):
            while data := await source.read(1 << 20):
                sink.write(data)

    async def answer(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(sink):
            if soon_bytes:
                sink.write(await source.read(soon_bytes))
            while data := await source.read(1 << 20):
                await asyncio.sleep(after_s)
                sink.write(data)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_connection("127.0.0.1", port)
        tasks.add(asyncio.create_task(ask(reader, asks)))
        tasks.add(asyncio.create_task(answer(answers, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
