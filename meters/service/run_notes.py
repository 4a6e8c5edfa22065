"""Entries in the operators' log about the service's starts and stops (duty D17).

A service that is killed cannot write about its stop: in the log, its two starts then follow each
other.
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
    """Write to the operators' log that the service runs, as soon as Redis accepts writes."""
    while True:
        if await _note(operators, "service_started"):
            return
        await asyncio.sleep(_AGAIN_S)


async def note_stop(operators: OperatorsLog) -> None:
    """Write to the operators' log that the service stops, if Redis accepts writes now."""
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
