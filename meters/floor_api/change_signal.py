"""Tells everybody who watches the desks that something there has changed."""

import asyncio


class ChangeSignal:
    """A count of changes that can be waited on; it tells that there is news, not which."""

    def __init__(self) -> None:
        self._count = 1
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Something has changed."""
        self._count += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def next(self, seen: int) -> int:
        """Wait until the count is another than `seen`, and give it."""
        while self._count == seen:
            await self._rung.wait()
        return self._count
