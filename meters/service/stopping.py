"""Waiting, at a stop, for what is under way: never for longer than a stop may take."""

import asyncio
from collections.abc import Callable
from typing import Final

_LOOKS: Final = 3
_LOOK_EVERY_S: Final = 0.01


async def stays_true(holds: Callable[[], bool], *, within_s: float) -> bool:
    """Wait until something holds and goes on holding for a moment; whether it did in time.

    What has been handed from one task to another is with neither for an instant.
    """
    looks = 0
    try:
        async with asyncio.timeout(within_s):
            while looks < _LOOKS:
                looks = looks + 1 if holds() else 0
                await asyncio.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        return False
    return True
