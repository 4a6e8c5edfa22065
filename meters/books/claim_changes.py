"""Requests about a link's claims, and changes of claims that are already decided (duty D4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.books.accounts import HOUSE, claim_account
from meters.books.link_state import ClaimRequest, DecisionResult
from meters.books.script_steps import EnvyCents
from meters.books.slip_numbers import fold_slip
from meters.books.store import LinkStore
from meters.books.two_people import PinSetters
from meters.wire.messages import ClaimOpened

_ACCOUNTS_KEPT: Final = ("meter:", "overflow:")
_Moved = Sequence[tuple[str, str, int, int]]
"""The transfers of a ledger entry: source, target, micros, cycle."""


@dataclass(frozen=True, slots=True)
class ReturnedAmounts:
    """The amounts that a rejection moved away from a win. They are needed to reopen the win.

    `entry` is the number of the rejection's ledger entry. `meter_micros` went back to the meter,
    `overflow_micros` to its overflow, because of its limit. `cycle` is the meter's cycle at that
    time.
    """

    entry: int
    meter_micros: int
    overflow_micros: int
    cycle: int

    @classmethod
    def of(cls, entry: int, moved: _Moved, claim: str) -> Self:
        own = [one for one in moved if one[0] == f"claim:{claim}"]
        to_meter, to_overflow = (
            sum(micros for _, target, micros, _ in own if target.startswith(kind))
            for kind in _ACCOUNTS_KEPT
        )
        return cls(entry, to_meter, to_overflow, own[0][3] if own else 0)

    @property
    def text(self) -> str:
        return f"{self.entry} {self.meter_micros} {self.overflow_micros} {self.cycle}"


def paid_by_house(moved: _Moved, claim: str) -> int:
    """Return the micros that the house paid to a claim's account, from a reopening's transfers."""
    return sum(one[2] for one in moved if one[:2] == (HOUSE, claim_account(claim)))


class ClaimChanges:
    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def request(
        self, claim: str, act: ClaimRequest, by: str, event: bytes, *, table: str, round_id: str
    ) -> int:
        """Store a request to reject a win, or to reopen a rejected win.

        Return the number of its ledger entry. It replaces an earlier request about the same claim.

        Raises:
            TermsError: the meters' terms in Redis changed after the link was opened.
            WrongStateError: the claim is not in the state that the request needs.
            BooksError: ``day_closed``: the gaming day of the rejection is closed.
        """
        store = self._store
        (entry,) = await store.act(
            "request_claim", act, by, table, round_id, event, keys=[store.keys.claim(claim)]
        )
        return int(entry)

    async def reopen(
        self,
        claim: str,
        by: str,
        event: bytes,
        *,
        table: str,
        round_id: str,
        meter: str,
        percent: bool,
        request: int,
        owed: Sequence[EnvyCents],
        reseed_cents: int,
        holds: ClaimOpened | None,
        setters: PinSetters,
    ) -> DecisionResult:
        """Reopen a rejected win, as another person requested.

        `by` confirms the request in the ledger entry `request`, and `setters` set their PIN. Envy
        Bonuses in `owed` that were taken back are owed again. For a win of a percentage of the
        meter, the reopening must not make the meter balance lower than `reseed_cents`, with which
        the meter is reseeded, or lower than the balance after the win, if that is less. For a hand
        pay, `holds` is the text about the claim for its table, which is held again.

        Raises:
            TermsError: the meters' terms in Redis changed after the link was opened.
            WrongStateError: the claim is not rejected.
            BooksError: the script refused: ``day_closed``, ``no_request``, ``same_person`` (with
                the person who made the request and the person who set a PIN) or ``books_full``.
        """
        keys = self._store.keys
        state, amount, after, entry = await self._store.act(
            "reopen_claim", claim, by, table, round_id, meter, "1" if percent else "", event,
            request, setters.text, msgspec.msgpack.encode(owed), reseed_cents * MICROS_PER_CENT,
            "" if holds is None else msgspec.json.encode(holds),
            keys=[keys.claim(claim), keys.tables, keys.repeated_claims],
        )  # fmt: skip
        return DecisionResult(state, int(amount), int(after), int(entry))

    async def correct_slip(
        self, claim: str, by: str, event: bytes, *, table: str, round_id: str, replaced: str,
        slip: str,
    ) -> int:  # fmt: skip
        """Replace the number of a paid claim's payout slip.

        Return the number of the correction's ledger entry. `replaced` is the present number, as it
        was typed. No other claim can use it later.

        Raises:
            TermsError: the meters' terms in Redis changed after the link was opened.
            WrongStateError: the claim is not paid.
            BooksError: the script refused: ``slip_changed`` (with the present number) or
                ``slip_used`` (with the claim).
        """
        keys = self._store.keys
        (entry,) = await self._store.act(
            "correct_slip",
            claim,
            by,
            table,
            round_id,
            replaced,
            fold_slip(slip),
            event,
            keys=[keys.claim(claim), keys.slips],
        )
        return int(entry)
