"""Reservation of a payout slip's number for a claim, before the claim is paid with this slip."""

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
    """Return a payout slip's number in the spelling that the ledger stores.

    Raises:
        ActError: ``bad_value``: the text is not a slip number.
    """
    try:
        return clean_slip(text) if text is not None else None
    except SlipError as error:
        raise ActError("bad_value", str(error)) from None


class SlipNumbers:
    """The slip numbers of all links.

    Args:
        stores: the access to each link's data in Redis, by the id of the link.
        problem: a function that returns the reason why a link is inoperable, or None if it is
            operable.
    """

    def __init__(
        self, stores: Mapping[str, LinkStore], problem: Callable[[str], str | None]
    ) -> None:
        self._stores = stores
        self._problem = problem

    @asynccontextmanager
    async def reserved(self, store: LinkStore, claim: str, slip: str | None) -> AsyncIterator[None]:
        """Reserve a slip number for a claim during its payment.

        If the payment is refused, the number is released.

        Raises:
            ActError: ``slip_used``: another claim has this slip number.
            RedisError: Redis failed.
        """
        if slip is None:
            yield
            return
        await self._reserve(store, claim, slip)
        try:
            yield
        except (ActError, TermsError):
            # In these cases, the script answered that nothing was paid. After a failure of Redis,
            # nobody knows if the script paid, so the number remains reserved.
            await self._release(store, claim, slip)
            raise

    async def _reserve(self, store: LinkStore, claim: str, slip: str) -> None:
        register, tries = store.slip_register, 1
        other = await register.reserve(slip, claim)
        while other is not None:
            if tries == _TRIES_MOST or not await self._is_over(store, other, slip):
                raise _used(other.claim)
            other, tries = await register.reserve(slip, claim, other.text), tries + 1
        # A claim can have been paid with this number without a present reservation: by a release
        # without reservations, or before the hash of reservations was lost. From now on, the number
        # is reserved, so no other payment can use it.
        paid = await register.paid_on(slip, self._stores)
        if paid not in {None, claim}:
            await self._release(store, claim, slip)
            raise _used(str(paid))

    async def _is_over(self, store: LinkStore, other: Reservation, slip: str) -> bool:
        """Check that the claim of another reservation can never be paid with the slip number."""
        theirs = self._stores.get(other.link)
        if theirs is None or self._problem(other.link):
            # If the data of that link is lost, or was replaced by an older copy, it does not show
            # which slips have paid.
            return False
        entries, (fields,) = await theirs.claims_at([other.claim])
        # The claim's state is read before its slips. If the state is final, no script can pay the
        # claim later. If the ledger has entries but Redis does not have the claim, the claim was
        # finally decided and is in the archive.
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
