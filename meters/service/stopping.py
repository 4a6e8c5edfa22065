"""Time-limited waits for the work that is still in progress when the service stops."""

import asyncio
from collections.abc import Callable
from typing import Final

_LOOKS: Final = 3
_LOOK_EVERY_S: Final = 0.01


async def stays_true(holds: Callable[[], bool], *, within_s: float) -> bool:
    """Wait until a condition remains true for a moment. Return False after the time limit.

    One check is not enough: while one task hands a value to another, neither has it for a moment.
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
