"""Acts of people, or of the service itself, on a link. Each act writes a ledger entry.

Each act is one atomic Lua script. Every function raises a `RedisError` if Redis fails. It raises a
`TermsError` if the terms (such as rates) of a meter changed after `LinkStore.open`, and a
`BooksError` if the script refused. After these two errors, nothing was changed.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, cast
from zoneinfo import ZoneInfo

import msgspec
import structlog

from bonus.wagers import MICROS_PER_CENT
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Meter
from meters.floor.promotions import Occurrence, PromotionSettings
from meters.ledger.claim_records import ClaimRecord
from meters.ledger.entry_messages import DecisionRecord, Outage, PromotionAdded, RestoreEntry
from meters.ledger.link_evidence import PromotionState, promotion_field
from meters.ledger.link_state import DecisionResult, OpenDay
from meters.ledger.slip_numbers import fold_slip
from meters.ledger.table_corrections import Ask, AskAct
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.process.clock import now, now_text, text_of
from meters.process.logs import ThrottledLog
from meters.store.link_store import LinkStore
from meters.wire.messages import ClaimOpened

log = structlog.get_logger()

Switch = Literal["close", "open"]
Verdict = Literal["confirm", "withdraw"]


async def decide_claim(
    store: LinkStore,
    record: ClaimRecord,
    decision: DecisionRecord,
    setters: PinSetters = NO_SETTERS,
    floor_digest: str = "",
) -> DecisionResult:
    """Apply a floorperson's decision on a claim, exactly once.

    `setters` are the people who set the actor's PIN. `floor_digest` is the digest of the link's
    settings in the floor file.

    Raises:
        WrongStateError: the claim is not in the state that this decision needs.
        BooksError: ``not_approved``, ``no_request``, ``same_person`` (with the person who did the
            first act and the person who set a PIN), ``slip_used`` (with the claim),
            ``envy_decided``, ``books_differ`` or ``books_full``.
    """
    keys, meter = store.keys, _meter_of(store, record)
    limit_cents = meter.limit or 0 if meter else 0
    state, amount, after, entry = await store.act(
        "decide_claim",
        record.claim,
        decision.act,
        decision.by,
        record.table,
        record.round,
        record.meter,
        _flag(record.percent is not None),
        _flag(record.is_hand_pay),
        msgspec.json.encode(decision),
        decision.envy_back or decision.envy_paid,
        fold_slip(decision.slip or ""),
        limit_cents * MICROS_PER_CENT,
        setters.text,
        msgspec.msgpack.encode(record.envy_by_meter()),
        decision.request or "",
        floor_digest,
        _flag(record.is_must_hit_by),
        *(store.link.overflow_of(meter) if meter else ("", 0)),
        keys=[
            keys.claim(record.claim),
            keys.slips,
            keys.tables,
            keys.repeated_claims,
            keys.approved,
        ],
    )
    return DecisionResult(state, int(amount), int(after), int(entry))


async def decide_envy(store: LinkStore, record: ClaimRecord, decision: DecisionRecord) -> int:
    """Pay or reject the owed Envy Bonuses of a claim, exactly once; return the entry's number.

    Raises:
        WrongStateError: the claim has no Envy Bonuses that are still owed.
        BooksError: ``books_differ`` or ``books_full``.
    """
    _, _, entry = await store.act(
        "decide_envy",
        record.claim,
        decision.act,
        decision.by,
        record.table,
        record.round,
        _flag(record.only_envy),
        _flag(record.is_hand_pay),
        msgspec.msgpack.encode(record.envy_by_meter()),
        msgspec.json.encode(decision),
        keys=[store.keys.claim(record.claim)],
    )
    return int(entry)


async def request_claim(store: LinkStore, record: ClaimRecord, request: DecisionRecord) -> int:
    """Store or withdraw a request to reject a win, or to reopen a rejected win (duty D4).

    Return the number of the ledger entry. A new request replaces the claim's earlier request.

    Raises:
        WrongStateError: the claim is not in the state that the request needs.
        BooksError: ``day_closed``: the gaming day of the rejection is closed; ``no_request``: the
            claim does not have the request that is withdrawn.
    """
    (entry,) = await store.act(
        "request_claim",
        request.act,
        request.by,
        record.table,
        record.round,
        msgspec.json.encode(request),
        request.request or "",
        keys=[store.keys.claim(record.claim)],
    )
    return int(entry)


async def reopen_claim(
    store: LinkStore,
    record: ClaimRecord,
    decision: DecisionRecord,
    holds: ClaimOpened | None,
    setters: PinSetters,
) -> int:
    """Reopen a rejected win, as another person requested (duty D4).

    Return the number of the ledger entry. Envy Bonuses that were taken back are owed again. If the
    win is a percentage of the meter, the meter keeps its reseed amount, or the balance after the
    win if that is less: the house pays the rest. A hand pay holds its table again: `holds` is the
    text about the claim for this table.

    Raises:
        WrongStateError: the claim is not rejected.
        BooksError: ``day_closed``, ``no_request``, ``same_person`` (with the person who made the
            request and the person who set a PIN) or ``books_full``.
    """
    keys, meter = store.keys, _meter_of(store, record)
    reseed_cents = meter.terms.reseed_cents if meter else 0
    *_, entry = await store.act(
        "reopen_claim",
        record.claim,
        decision.by,
        record.table,
        record.round,
        record.meter,
        _flag(record.percent is not None),
        msgspec.json.encode(decision),
        decision.request,
        setters.text,
        msgspec.msgpack.encode(record.envy_by_meter()),
        reseed_cents * MICROS_PER_CENT,
        "" if holds is None else msgspec.json.encode(holds),
        _flag(record.is_must_hit_by),
        keys=[keys.claim(record.claim), keys.tables, keys.repeated_claims],
    )
    return int(entry)


async def correct_slip(store: LinkStore, record: ClaimRecord, correction: DecisionRecord) -> int:
    """Replace the number of a paid claim's slip. No other claim can use the old number later.

    Return the number of the ledger entry.

    Raises:
        WrongStateError: the claim is not paid.
        BooksError: ``slip_changed`` (with the present number) or ``slip_used`` (with the claim).
    """
    (entry,) = await store.act(
        "correct_slip",
        record.claim,
        correction.by,
        record.table,
        record.round,
        correction.old_slip or "",
        fold_slip(correction.slip or ""),
        msgspec.json.encode(correction),
        keys=[store.keys.claim(record.claim), store.keys.slips],
    )
    return int(entry)


def _meter_of(store: LinkStore, record: ClaimRecord) -> Meter | None:
    return next((one for one in store.link.meter if one.meter_id == record.meter), None)


def _flag(yes: bool) -> str:  # noqa: FBT001
    return "1" if yes else ""


async def decide_ask(
    store: LinkStore, ask: Ask, act: AskAct, by: str, event: bytes, *, refusal: str = ""
) -> int:
    """Confirm or refuse a correction request, exactly once; return the entry's number.

    If the request is refused, `refusal` is the reply to the table's next try, without the
    beginning: the script adds the beginning, which has the event's number.

    Raises:
        WrongStateError: the table no longer has this request, or somebody decided it.
    """
    (entry,) = await store.act(
        "decide_ask",
        ask.ask,
        act,
        by,
        ask.table,
        ask.correction.round,
        ask.correction.digest,
        refusal,
        event,
        keys=[store.keys.asks],
    )
    return int(entry)


async def switch_link(store: LinkStore, act: Switch, by: str, reason: str, event: bytes) -> None:
    """Close the link, or open a closed link.

    Raises:
        BooksError: ``wrong_state``: the link is in the requested state already. If it is closed,
            the error names the person who closed it.
    """
    await store.act("switch_link", act, by, reason, event)


async def propose_change(
    store: LinkStore, proposal: str, kind: str, by: str, record: bytes
) -> None:
    """Store a proposal to change a meter, so that another person can confirm it.

    Raises:
        BooksError: for a change of a parameter only. ``not_closed``: the link is open.
            ``rounds_open``, with the number of open rounds.
    """
    keys = [store.keys.proposals, store.keys.proposal(proposal)]
    await store.act("propose_change", proposal, kind, by, record, keys=keys)


@dataclass(frozen=True, slots=True)
class NewTerms:
    """The present and the new terms of a meter; empty if the terms stay as they are.

    `digest` is the digest of the terms of all meters of the link after the change. For a new wager
    amount, the meter must have a balance of at least `seed_micros` if it was never reseeded;
    otherwise, of at least `reseed_micros`.
    """

    before: str = ""
    after: str = ""
    digest: str = ""
    seed_micros: int = 0
    reseed_micros: int = 0


async def decide_change(
    store: LinkStore,
    proposal: str,
    verdict: Verdict,
    by: str,
    event: bytes,
    *,
    meter: str,
    terms: NewTerms | None = None,
    amount_cents: int = 0,
    cycle: int = 0,
    limit_cents: int = 0,
    setters: PinSetters = NO_SETTERS,
) -> None:
    """Confirm a proposal, so that the change takes effect, or withdraw the proposal.

    `amount_cents` is added to the meter; a negative amount is subtracted. `cycle` is the meter's
    cycle at the time of the proposal: if the whole meter was won since, the script refuses an
    amount. `limit_cents` is the payout limit after the change; 0 is no limit.

    Raises:
        BooksError: ``unknown_proposal``, ``wrong_state``, ``same_person``, ``not_closed``,
            ``rounds_open``, ``stale``, ``below_seed``, ``limit_too_low``, ``meter_short``,
            ``above_limit`` or ``meter_full``.
    """
    new = terms or NewTerms()
    await store.act(
        "decide_change",
        proposal,
        verdict,
        by,
        event,
        meter,
        new.before,
        new.after,
        new.digest,
        amount_cents,
        cycle,
        new.seed_micros,
        new.reseed_micros,
        limit_cents * MICROS_PER_CENT,
        setters.text,
        keys=[store.keys.proposals, store.keys.proposal(proposal)],
    )


async def open_proposals(store: LinkStore) -> list[dict[str, str]]:
    """Return the proposals that nobody has decided, the oldest first."""
    rows = cast("list[bytes]", await store.redis.zrange(store.keys.proposals, 0, -1))
    _, found = await store.proposals_at([row.decode() for row in rows])
    return found


class CloseReadings:
    """The meter readings at the close of each gaming day (duty D19)."""

    def __init__(
        self, store: LinkStore, days: GamingDays, by: str, clock: Callable[[], datetime] = now
    ) -> None:
        self._store = store
        self._days = days
        self._by = by
        self._clock = clock
        self._off = ThrottledLog()

    async def keep(self, day: OpenDay) -> None:
        """Close the open gaming day if it is over.

        A new gaming day is always later than all closed days. If a clock that was ahead is
        corrected, the days that were closed too early remain closed, and later entries belong to
        the open day. If the clocks of the service and of Redis differ by more than five minutes, no
        day is closed.
        """
        due = self._due(day)
        if due == day.open:
            return
        store = self._store
        match await store.call(
            "close_gaming_day", store.terms.digest, self._by, day.open, due, int(time.time())
        ):
            case ["clock", off_s] if (more := self._off.due("")) is not None:
                off = int(off_s)
                log.warning("clock differs", link=store.link.id, off_s=off, kept_back=more)
            case ["done", entry]:
                log.info("gaming day closed", link=store.link.id, day=day.open, entry=int(entry))

    def _due(self, day: OpenDay) -> str:
        today = self._days.of(self._clock())
        if day.closed:
            today = max(today, date.fromisoformat(day.closed) + timedelta(days=1))
        return today.isoformat()


_RAISED_EVERY: Final = timedelta(minutes=5)
"""How often a promotion adds its part of the wagers: more often, it would fill the link log. The
clocks of services differ at most by this time."""
_WITHOUT_AMOUNT: Final = b',"amount":0}'


class DuePromotions:
    """The promotions of a link whose money must be added now.

    `floor_digest` is the digest of the link's settings in the floor file of this service.
    """

    def __init__(
        self,
        store: LinkStore,
        zone: ZoneInfo,
        floor_digest: str,
        by: str,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._zone = zone
        self._floor_digest = floor_digest
        self._by = by
        self._clock = clock
        self._done: dict[str, date] = {}
        self._missing: dict[tuple[str, str], tuple[PromotionSettings, Occurrence, str]] = {}
        self._off = ThrottledLog()

    def forget(self) -> None:
        """Ask Redis again about each promotion: Redis can have lost entries."""
        self._done.clear()

    async def add(self, note_step: Callable[[], None] = lambda: None) -> bool:
        """Add the money of each promotion that is on, unless the ledger has this start already.

        A part of each wager is added every few minutes, and a last time shortly after the end.
        Return True if the ledger has a new entry. While the link is closed, while another floor
        file is approved, or if the clocks of the service and of Redis differ by more than five
        minutes, nothing is added. `note_step` is called before each call of Redis.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        changed = False
        for promotion, found in self._due():
            note_step()
            changed |= await self._add(promotion, found)
        return changed

    def hold_back(self, reason: str) -> None:
        """Remember why the money of promotions that are on is not added now."""
        for promotion, found in self._due():
            self._miss(promotion, found, reason)

    def _miss(self, promotion: PromotionSettings, found: Occurrence, reason: str) -> None:
        self._missing[promotion.id, found.day.isoformat()] = promotion, found, reason

    async def report_ended(self) -> None:
        """Log each start whose end has passed without all its money, once, with the last reason.

        Only then, Redis is asked: another service can have added the money.
        """
        moment, store = self._clock(), self._store
        for (name, day), (promotion, found, reason) in sorted(
            self._missing.items(), key=lambda item: item[0]
        ):
            if moment < found.ends + promotion.late:
                continue
            field = promotion_field(name)
            stored = cast("bytes | None", await store.redis.hget(store.keys.meters, field)) or b""
            del self._missing[name, day]
            last = PromotionState.of(stored.decode())
            without_end = last.day == day and last.at and last.at < text_of(found.ends)
            if last.day < day or (promotion.raises and without_end):
                log.warning(
                    "promotion not added",
                    link=store.link.id,
                    promotion=name,
                    day=day,
                    reason=reason,
                    ended=True,
                )

    def _due(self) -> Iterator[tuple[PromotionSettings, Occurrence]]:
        """Yield what is on, after what ended a short time ago and waits for its last part."""
        moment = self._clock()
        for promotion in self._store.link.promotion:
            ended = promotion.ended_at(moment, self._zone)
            if ended and self._done.get(promotion.id) != ended.day:
                yield promotion, ended
            found = promotion.occurrence_at(moment, self._zone)
            if found and (promotion.raises or self._done.get(promotion.id) != found.day):
                yield promotion, found

    async def _add(self, promotion: PromotionSettings, found: Occurrence) -> bool:
        store, meter_id = self._store, promotion.meter
        link, day = store.link.id, found.day.isoformat()
        meter = next(one for one in store.link.meter if one.meter_id == meter_id)
        added = PromotionAdded(promotion.id, promotion.name, meter_id, found.day, 0)
        moment = self._clock()
        answer = await store.call(
            "add_promotion",
            store.terms.digest,
            self._by,
            self._floor_digest,
            promotion.id,
            day,
            text_of(found.starts),
            text_of(found.ends),
            meter_id,
            promotion.adds or 0,
            (meter.limit or 0) * MICROS_PER_CENT,
            msgspec.json.encode(added).removesuffix(_WITHOUT_AMOUNT),
            int(time.time()),
            *store.link.overflow_of(meter),
            promotion.raises_bps,
            text_of(found.ends + promotion.late),
            text_of(moment - _RAISED_EVERY),
            text_of(moment + _RAISED_EVERY),
            keys=[store.keys.approved],
        )
        reason, *rest = answer
        if reason in {"done", "known"}:
            if promotion.adds or moment >= found.ends:
                self._done[promotion.id] = found.day
            self._missing.pop((promotion.id, day), None)
        if reason == "done":
            log.info(
                "promotion added", link=link, promotion=promotion.id, day=day, entry=int(rest[0])
            )
            return True
        if reason == "known" and rest[0] > day and moment < found.ends:
            # The clock was ahead, or the restored data has a later start.
            reason = "later_day"
        if reason in {"closed", "not_approved", "clock", "meter_full"}:
            self._miss(promotion, found, reason)
        if reason in {"later_day", "clock", "meter_full"} and (
            (more := self._off.due(f"{promotion.id} {reason}")) is not None
        ):
            log.warning(
                "promotion not added",
                link=link,
                promotion=promotion.id,
                day=day,
                reason=reason,
                ended=False,
                kept_back=more,
            )
        return False


async def note_outage(store: LinkStore, by: str, outage: Outage) -> None:
    """Write a ledger entry about an outage that is over (duty D17).

    If the last outage in the ledger has the same id, write nothing.
    """
    event = msgspec.json.encode(msgspec.structs.replace(outage, until=now_text()))
    await store.call("note_outage", store.terms.digest, by, outage.id, event)


async def note_restore(store: LinkStore, restoring: RestoreEntry, by: str) -> None:
    event, raised = msgspec.json.encode(restoring), restoring.versions_raised
    await store.act("note_restore", by, event, raised, keys=[store.keys.slips])
