"""Connections byte by byte, for requests that no correct client would send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Self

_WITHIN_S: Final = 20.0


class Raw:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int, source: str = "127.0.0.1") -> Self:
        return cls(
            *await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), limit=2**20)
        )

    def send(self, *parts: bytes) -> None:
        self._writer.write(b"".join(parts))

    def half_close(self) -> None:
        self._writer.write_eof()

    async def head(self) -> bytes:
        return await self.until(b"\r\n\r\n")

    async def until(self, mark: bytes) -> bytes:
        async with asyncio.timeout(_WITHIN_S):
            return await self._reader.readuntil(mark)

    async def rest(self) -> bytes:
        """Return everything until the other side closes; empty if it resets the connection."""
        async with asyncio.timeout(_WITHIN_S):
            try:
                return await self._reader.read()
            except ConnectionError:
                return b""

    def stop_reading(self) -> None:
        transport = self._writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()

    @property
    def closing(self) -> bool:
        return self._writer.is_closing()

    async def ended(self) -> None:
        while await self._reader.read(4096):
            pass

    def close(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def raw(port: int) -> AsyncIterator[Raw]:
    connection = await Raw.to(port)
    try:
        yield connection
    finally:
        connection.close()


def get(path: str, host: str = "localhost", *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()
