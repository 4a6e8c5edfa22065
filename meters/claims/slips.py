"""Reservation of a payout slip's number for the claim that is about to be paid with it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import structlog
from redis.exceptions import RedisError

from meters.books.slip_numbers import Reservation, SlipError, clean_slip
from meters.books.store import LinkStore, TermsError
from meters.claims.claim_rows import record_of
from meters.floor_api.errors import ActError

log = structlog.get_logger()

_TRIES_MOST: Final = 3


def slip_of(text: str | None) -> str | None:
    """Return a slip's number as the ledger keeps it.

    Raises:
        ActError: ``bad_value``: it is not a slip's number.
    """
    try:
        return clean_slip(text) if text is not None else None
    except SlipError as error:
        raise ActError("bad_value", str(error)) from None


class SlipNumbers:
    """The slip numbers of all links; `problem` says why a link is inoperable, or returns None."""

    def __init__(
        self, stores: Mapping[str, LinkStore], problem: Callable[[str], str | None]
    ) -> None:
        self._stores = stores
        self._problem = problem

    @asynccontextmanager
    async def reserved(self, store: LinkStore, claim: str, slip: str | None) -> AsyncIterator[None]:
        """Reserve a number for a claim while it is paid, and release it if the payment is refused.

        Raises:
            ActError: ``slip_used``: another claim has it.
            RedisError: the store failed.
        """
        if slip is None:
            yield
            return
        await self._reserve(store, claim, slip)
        try:
            yield
        except (ActError, TermsError):
            # The script answered that nothing was paid. After a failure of the store that is not
            # known.
            await self._release(store, claim, slip)
            raise

    async def _reserve(self, store: LinkStore, claim: str, slip: str) -> None:
        register, tries = store.slip_register, 1
        other = await register.reserve(slip, claim)
        while other is not None:
            if tries == _TRIES_MOST or not await self._is_over(store, other, slip):
                raise _used(other.claim)
            other, tries = await register.reserve(slip, claim, other.text), tries + 1
        # The number may have paid a claim before reservations existed, or before the hash was lost.
        # It is reserved now, so no other payment with it is in progress.
        paid = await register.paid_on(slip, self._stores)
        if paid not in {None, claim}:
            await self._release(store, claim, slip)
            raise _used(str(paid))

    async def _is_over(self, store: LinkStore, other: Reservation, slip: str) -> bool:
        """Check that another claim, which has the number, can never be paid with it any more."""
        theirs = self._stores.get(other.link)
        if theirs is None or self._problem(other.link):
            # Books that are lost, or older than they were, do not know what has paid.
            return False
        entries, (fields,) = await theirs.claims_at([other.claim])
        # The state is read first: once it is final, no script pays that claim any more. A claim
        # that is missing was finally decided and is in the archive; without entries nothing is.
        final = (not fields and entries > 0) or fields.get("state") in {"paid", "rejected"} or (
            fields.get("state") == "validated" and record_of(fields).paid_from != "hand_pay"
        )  # fmt: skip
        return final and not await store.slip_register.has_paid(slip, other.claim)

    @staticmethod
    async def _release(store: LinkStore, claim: str, slip: str) -> None:
        try:
            await store.slip_register.release(slip, claim)
        except (RedisError, OSError) as error:
            log.warning("slip not released", claim=claim, slip=slip, reason=str(error))


def _used(claim: str) -> ActError:
    message = f"that slip number belongs to the payment of {claim} already"
    return ActError("slip_used", message)
