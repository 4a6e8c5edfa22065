import asyncio


class ChangeSignal:
    """A counter of changes, of whatever kind, for which tasks can wait."""

    def __init__(self) -> None:
        self._count = 1
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._count += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def next(self, seen: int) -> int:
        """Wait until the count differs from `seen`."""
        while self._count == seen:
            await self._rung.wait()
        return self._count
