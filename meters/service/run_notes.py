"""Notes of the service's starts and stops in the operators' log (duty D17).

A service that was killed notes nothing: the next start then has no stop before it.
"""

import asyncio
import contextlib
from importlib.metadata import version
from typing import Final, Literal

import structlog

from meters.service.link import SERVICE
from meters.users.errors import UsersError
from meters.users.operators_log import OperatorsLog

log = structlog.get_logger()

_AGAIN_S: Final = 5.0
_STOP_WITHIN_S: Final = 2.0


async def note_start(operators: OperatorsLog) -> None:
    """Note that the service runs, as soon as the store accepts writes."""
    while True:
        if await _note(operators, "service_started"):
            return
        await asyncio.sleep(_AGAIN_S)


async def note_stop(operators: OperatorsLog) -> None:
    """Note that the service stops, unless the store does not accept writes now."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STOP_WITHIN_S):
            await _note(operators, "service_stopped")


async def _note(
    operators: OperatorsLog, what: Literal["service_started", "service_stopped"]
) -> bool:
    try:
        await operators.note(what, by=SERVICE, about=f"pitlink {version('pitlink')}")
    except UsersError as error:
        log.warning("operators' log not written", what=what, reason=str(error.__cause__ or error))
        return False
    return True
