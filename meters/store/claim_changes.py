"""Decisions on a link's claims, requests about claims, and changes of decided claims (duty D4)."""

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Meter
from meters.ledger.claim_records import ClaimRecord, DecisionRecord
from meters.ledger.link_state import DecisionResult
from meters.ledger.slip_numbers import fold_slip
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.store.link_store import LinkStore
from meters.wire.messages import ClaimOpened


class ClaimChanges:
    """The writer of floorpersons' acts on the claims of one link. Each act is done exactly once.

    Every method raises a `TermsError` if the meters' terms (such as rates) in Redis changed after
    `LinkStore.open`, a `WrongStateError` if the claim is not in the state that the act needs, and a
    `BooksError` if the script refused. It returns the number of the act's ledger entry.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def decide(
        self,
        record: ClaimRecord,
        decision: DecisionRecord,
        setters: PinSetters = NO_SETTERS,
        floor_digest: str = "",
    ) -> DecisionResult:
        """Apply a decision on a win.

        `floor_digest` is the digest of the link's settings in the floor file.

        Raises:
            BooksError: ``not_approved``, ``no_request``, ``same_person`` (with the person who did
                the first act and the person who set a PIN), ``slip_used`` (with the claim),
                ``envy_decided``, ``books_differ`` or ``books_full``.
        """
        keys, meter = self._store.keys, self._meter(record)
        limit_cents = meter.limit or 0 if meter else 0
        state, amount, after, entry = await self._store.act(
            "decide_claim", record.claim, decision.act, decision.by, record.table, record.round,
            record.meter, _flag(record.percent is not None), _flag(record.is_hand_pay),
            msgspec.json.encode(decision), decision.envy_back or decision.envy_paid,
            fold_slip(decision.slip or ""), limit_cents * MICROS_PER_CENT, setters.text,
            msgspec.msgpack.encode(record.envy_by_meter()), decision.request or "", floor_digest,
            keys=[
                keys.claim(record.claim), keys.slips, keys.tables, keys.repeated_claims,
                keys.approved,
            ],
        )  # fmt: skip
        return DecisionResult(state, int(amount), int(after), int(entry))

    async def decide_envy(self, record: ClaimRecord, decision: DecisionRecord) -> int:
        """Pay or reject the owed Envy Bonuses of a claim.

        Raises:
            BooksError: ``books_differ`` or ``books_full``.
        """
        _, _, entry = await self._store.act(
            "decide_envy", record.claim, decision.act, decision.by, record.table, record.round,
            _flag(record.only_envy), _flag(record.is_hand_pay),
            msgspec.msgpack.encode(record.envy_by_meter()), msgspec.json.encode(decision),
            keys=[self._store.keys.claim(record.claim)],
        )  # fmt: skip
        return int(entry)

    async def request(self, record: ClaimRecord, request: DecisionRecord) -> int:
        """Store a request to reject a win, or to reopen a rejected win.

        It replaces an earlier request about the same claim.

        Raises:
            BooksError: ``day_closed``: the gaming day of the rejection is closed.
        """
        (entry,) = await self._store.act(
            "request_claim", request.act, request.by, record.table, record.round,
            msgspec.json.encode(request), keys=[self._store.keys.claim(record.claim)],
        )  # fmt: skip
        return int(entry)

    async def reopen(
        self,
        record: ClaimRecord,
        decision: DecisionRecord,
        holds: ClaimOpened | None,
        setters: PinSetters,
    ) -> int:
        """Reopen a rejected win, as another person requested.

        Envy Bonuses that were taken back are owed again. For a win of a percentage of the meter,
        the reopening must not make the meter balance lower than the amount with which the meter is
        reseeded, or lower than the balance after the win, if that is less. For a hand pay, `holds`
        is the text about the claim for its table, which is held again.

        Raises:
            BooksError: ``day_closed``, ``no_request``, ``same_person`` (with the person who made
                the request and the person who set a PIN) or ``books_full``.
        """
        keys, meter = self._store.keys, self._meter(record)
        reseed_cents = meter.terms.reseed_cents if meter else 0
        *_, entry = await self._store.act(
            "reopen_claim", record.claim, decision.by, record.table, record.round, record.meter,
            _flag(record.percent is not None), msgspec.json.encode(decision), decision.request,
            setters.text, msgspec.msgpack.encode(record.envy_by_meter()),
            reseed_cents * MICROS_PER_CENT, "" if holds is None else msgspec.json.encode(holds),
            keys=[keys.claim(record.claim), keys.tables, keys.repeated_claims],
        )  # fmt: skip
        return int(entry)

    async def correct_slip(self, record: ClaimRecord, correction: DecisionRecord) -> int:
        """Replace the number of a paid claim's payout slip.

        `old_slip` is the present number, as it was typed. No other claim can use it later.

        Raises:
            BooksError: ``slip_changed`` (with the present number) or ``slip_used`` (with the
                claim).
        """
        keys = self._store.keys
        (entry,) = await self._store.act(
            "correct_slip", record.claim, correction.by, record.table, record.round,
            correction.old_slip or "", fold_slip(correction.slip or ""),
            msgspec.json.encode(correction),
            keys=[keys.claim(record.claim), keys.slips],
        )  # fmt: skip
        return int(entry)

    def _meter(self, record: ClaimRecord) -> Meter | None:
        """Return the meter of a claim; None if the floor file no longer names it."""
        return next((one for one in self._store.link.meter if one.meter_id == record.meter), None)


def _flag(holds: bool) -> str:  # noqa: FBT001
    return "1" if holds else ""
