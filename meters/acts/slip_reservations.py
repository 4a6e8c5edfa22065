"""Reservation of a payout slip's number for a claim, before the claim is paid with this slip."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

import structlog
from redis.exceptions import RedisError

from meters.acts.act_refusals import ActError, RunningLink, refusal
from meters.ledger.claim_records import record_of
from meters.ledger.slip_numbers import SlipError, clean_slip, correction_of
from meters.store.link_store import LinkStore, TermsError
from meters.store.slip_register import Reservation

log = structlog.get_logger()

_ROUNDS_MAX: Final = 3


def slip_of(text: str | None) -> str | None:
    """Return a slip number in the ledger's spelling; an `ActError` ``bad_value`` if not valid."""
    try:
        return clean_slip(text) if text is not None else None
    except SlipError as error:
        raise ActError("bad_value", str(error)) from None


class SlipNumbers:
    """The reservations of slip numbers for the claims of all links."""

    def __init__(self, links: Mapping[str, RunningLink]) -> None:
        self._links = links

    @asynccontextmanager
    async def reserved(
        self, store: LinkStore, claim: str, slip: str | None, *, corrects: bool = False
    ) -> AsyncIterator[None]:
        """Reserve a slip number for a payment or a correction; release it if the act is refused.

        Raises:
            ActError: ``slip_used``: another claim has this slip number.
        """
        if slip is None:
            yield
            return
        holder = correction_of(claim) if corrects else claim
        if not await self._reserve(store, claim, holder, slip):
            # The claim was paid with this number before.
            yield
            return
        try:
            yield
        except (ActError, TermsError):
            # Here the script has answered that nothing was paid. After a failure of Redis, nobody
            # knows if the script paid. So the number then stays reserved.
            await self._release(store, holder, slip)
            raise

    async def _reserve(self, store: LinkStore, claim: str, holder: str, slip: str) -> bool:
        """Reserve a number; return False if the claim has already been paid with it."""
        register, rounds = store.slip_register, 1
        other = await register.reserve(slip, holder)
        while other is not None:
            if other.claim == claim and await register.has_paid(slip, claim):
                return False
            if rounds == _ROUNDS_MAX or not await self._is_over(store, other, slip):
                raise refusal("slip_used", other.claim)
            other, rounds = await register.reserve(slip, holder, other.text), rounds + 1
        # Possibly a claim was paid with this number before the hash of the reservations was lost.
        # The number is reserved now, so no other payment uses it.
        paid = await register.paid_on(slip, self._links)
        if paid not in {None, claim}:
            await self._release(store, holder, slip)
            raise refusal("slip_used", str(paid))
        return True

    async def _is_over(self, store: LinkStore, other: Reservation, slip: str) -> bool:
        """Check that the claim of another reservation can never be paid with the slip number."""
        link = self._links.get(other.link)
        # A correction can still be carried out, because its claim stays paid.
        if other.corrects or link is None or link.problem:
            # If the other link's data is lost, or was replaced by an older copy, the data does not
            # show which slips have paid.
            return False
        # The last closed day is read before the claim. So a claim that was rejected before this
        # close cannot be reopened later.
        theirs = link.store
        reading = await theirs.redis.hget(theirs.keys.meters, "reading")
        closed_to = int(cast("bytes | None", reading) or 0)
        entries, (fields,) = await theirs.claims_at([other.claim])
        # The claim's state is read before its payment. If the state is final, no script can pay the
        # claim later. A missing claim was finally decided and is in the archive, but only if the
        # ledger has entries.
        state = fields.get("state")
        final = (
            (not fields and entries > 0)
            or state == "paid"
            or (state == "rejected" and _rejected_at(fields) <= closed_to)
            or (state == "validated" and not record_of(fields).is_hand_pay)
        )
        return final and not await store.slip_register.has_paid(slip, other.claim)

    @staticmethod
    async def _release(store: LinkStore, claim: str, slip: str) -> None:
        try:
            await store.slip_register.release(slip, claim)
        except (RedisError, OSError) as error:
            log.warning("slip not released", claim=claim, slip=slip, reason=str(error))


def _rejected_at(fields: Mapping[str, str]) -> int:
    """Return the number of a rejection's ledger entry; 0 if the claim cannot be reopened."""
    return int(fields.get("returned", "0").partition(" ")[0])
