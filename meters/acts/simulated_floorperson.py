"""Simulated floorpersons, for replays and demonstrations. The ledger shows them as simulated."""

import asyncio
import hashlib
from datetime import UTC, datetime
from typing import Final

import structlog

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.process.logs import ThrottledLog

log = structlog.get_logger()

VALIDATES: Final = "simulated floorperson"
PAYS: Final = "simulated supervisor"
"""The name of the simulated person who pays: not the person who validates (duty D4)."""

_LOOK_EVERY_S: Final = 0.1


async def validate_what_waits(claims: Claims, asks: Asks, after_s: float) -> None:
    """Decide each claim and correction request that has waited for `after_s` seconds.

    A task group cancels only once, and the Redis client can lose this cancellation at the moment of
    an answer. So the loop itself checks if it was canceled.
    """
    task = asyncio.current_task()
    unread = ThrottledLog()
    while task is None or not task.cancelling():
        try:
            waiting = await claims.waiting()
            corrections = await asks.asks()
        except ActError as error:
            if (more := unread.due("")) is not None:
                log.warning("claims not read", reason=error.message, kept_back=more)
            waiting = corrections = ()
        for correction in corrections:
            if _waited_s(correction.at) >= after_s:
                try:
                    await asks.decide(correction.ask, "confirm_correction", VALIDATES)
                except ActError as error:
                    log.info(
                        "correction not confirmed",
                        table=correction.table,
                        round=correction.round,
                        code=error.code,
                        reason=error.message,
                    )
        for claim in waiting:
            if _waited_s(claim.at) >= after_s:
                try:
                    await settle(claims, claim)
                except ActError as error:
                    log.info(
                        "claim not settled",
                        claim=claim.claim,
                        code=error.code,
                        reason=error.message,
                    )
        await asyncio.sleep(_LOOK_EVERY_S)


async def settle(claims: Claims, claim: ClaimRow) -> None:
    """Validate a win, and record its Envy Bonuses as paid. If the win is a hand pay, pay it too."""
    if claim.state == "pending":
        claim = await claims.decide(claim.claim, "validate", VALIDATES)
    if claim.paid_from == "hand_pay" and claim.state == "validated":
        owed = claim.envy_state == "validated"
        claim = await claims.decide(
            claim.claim, "pay", PAYS, slip=simulated_slip(claim.claim), envy_paid=owed
        )
    if claim.envy_state == "validated":
        await claims.decide_envy(claim.claim, "pay_envy", VALIDATES)


def simulated_slip(claim: str) -> str:
    """Return a slip number for a simulated payment, different for each claim.

    The number does not contain the claim's name: the names of two claims can differ only in dots or
    capital letters, which make no difference in a slip number.
    """
    return f"SIM-{hashlib.sha256(claim.encode()).hexdigest()[:16].upper()}"


def _waited_s(at: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
