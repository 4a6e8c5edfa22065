"""Connections byte by byte: what no well-behaved client would send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Self

_WITHIN_S: Final = 20.0


class Raw:
    """One TCP connection to a port of this machine."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int, source: str = "127.0.0.1") -> Self:
        """Connect, from an address of this machine."""
        return cls(
            *await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), limit=2**20)
        )

    def send(self, *parts: bytes) -> None:
        """Send bytes, and wait for nothing."""
        self._writer.write(b"".join(parts))

    def half_close(self) -> None:
        """Say that nothing more comes, and go on reading."""
        self._writer.write_eof()

    async def head(self) -> bytes:
        """The next answer's status line and headers."""
        return await self.until(b"\r\n\r\n")

    async def until(self, mark: bytes) -> bytes:
        """What comes until a mark, the mark included."""
        async with asyncio.timeout(_WITHIN_S):
            return await self._reader.readuntil(mark)

    async def rest(self) -> bytes:
        """Everything until the other side ends the connection; nothing where it cuts it."""
        async with asyncio.timeout(_WITHIN_S):
            try:
                return await self._reader.read()
            except ConnectionError:
                return b""

    def stop_reading(self) -> None:
        """Take nothing more of what the other side sends."""
        transport = self._writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()

    @property
    def closing(self) -> bool:
        """Whether it has ended, as far as this side knows."""
        return self._writer.is_closing()

    async def ended(self) -> None:
        """Wait until the other side has ended it, for as long as that takes."""
        while await self._reader.read(4096):
            pass

    def close(self) -> None:
        """End it at once."""
        self._writer.transport.abort()


@asynccontextmanager
async def raw(port: int) -> AsyncIterator[Raw]:
    """A connection, gone with the block."""
    connection = await Raw.to(port)
    try:
        yield connection
    finally:
        connection.close()


def get(path: str, host: str = "localhost", *headers: str) -> bytes:
    """A plain request."""
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()
