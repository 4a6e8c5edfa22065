"""Requests about a link's claims, and changes of claims that are already decided (duty D4)."""

from collections.abc import Sequence

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.link_state import ClaimRequest, DecisionResult
from meters.ledger.script_steps import EnvyCents
from meters.ledger.slip_numbers import fold_slip
from meters.ledger.two_people import PinSetters
from meters.store.link_store import LinkStore
from meters.wire.messages import ClaimOpened


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
