"""A simulated floorperson, for replays and demonstrations, named as such in the ledger."""

import asyncio
from datetime import UTC, datetime
from typing import Final

import structlog

from meters.claims import FloorDesk
from meters.web.doors import ClaimError, ClaimRow

log = structlog.get_logger()

NAME: Final = "simulated floorperson"
_LOOK_EVERY_S: Final = 0.1


async def validate_what_waits(desk: FloorDesk, after_s: float) -> None:
    """Validate, and pay by hand, whatever has waited for so many seconds, for ever."""
    while True:
        try:
            waiting = await desk.waiting()
        except ClaimError as error:
            log.warning("claims cannot be read", reason=error.message)
            waiting = ()
        for claim in waiting:
            if _waited_s(claim) >= after_s:
                try:
                    await _settle(desk, claim)
                except ClaimError as error:
                    log.info("claim not settled", code=error.code, reason=error.message)
        await asyncio.sleep(_LOOK_EVERY_S)


async def _settle(desk: FloorDesk, claim: ClaimRow) -> None:
    if claim.state == "pending":
        claim = await desk.decide(claim.claim, "validate", NAME, None, None)
    if claim.paid_from == "hand_pay" and claim.state == "validated":
        await desk.decide(claim.claim, "pay", NAME, None, f"SIM-{claim.claim}")


def _waited_s(claim: ClaimRow) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(claim.at)).total_seconds()
