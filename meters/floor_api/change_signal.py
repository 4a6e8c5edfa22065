"""A signal that a claim, a correction request or a link has changed."""

import asyncio


class ChangeSignal:
    """A counter of changes. A task can wait until it rises. It does not say what has changed."""

    def __init__(self) -> None:
        self._count = 1
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Count a change and wake the waiting tasks."""
        self._count += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def next(self, seen: int) -> int:
        """Wait until the count differs from `seen`, and return the count."""
        while self._count == seen:
            await self._rung.wait()
        return self._count
