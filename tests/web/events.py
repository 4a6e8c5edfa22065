import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import msgspec

Data = dict[str, Any]


class Event(NamedTuple):
    event: str
    data: Data


class Events:
    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self, within_s: float = 10.0) -> Event:
        """Skip comments; raise StopAsyncIteration once the server has ended the stream."""
        name = ""
        data = b""
        async with asyncio.timeout(within_s):
            while True:
                line = await anext(self._lines)
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = line.removeprefix("data: ").encode()
                elif not line and name:
                    return Event(name, msgspec.json.decode(data, type=Data))

    async def next_of(self, *names: str) -> Event:
        async with asyncio.timeout(10):
            while True:
                event = await self.next()
                if event.event in names:
                    return event

    async def next_line(self) -> str:
        async with asyncio.timeout(10):
            return await anext(self._lines)


@asynccontextmanager
async def listening(url: str, path: str = "/api/v1/meters/stream") -> AsyncIterator[Events]:
    async with (
        httpx.AsyncClient(base_url=url, timeout=10) as client,
        client.stream("GET", path) as response,
    ):
        yield Events(response)
