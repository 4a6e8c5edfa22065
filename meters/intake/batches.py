"""Batches of table events of one link.

The service reads the bytes of each event (`event_reading`) and judges the event (`wager_judging`,
`result_judging`). Then one script call applies the whole batch to Redis, and the service replies.
"""

import asyncio
import hashlib
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Final

import msgspec
import structlog

from bonus.wagers import MICROS_PER_CENT
from meters.floor.game_files import GAME_NOT_IN_EFFECT, problem_now
from meters.intake.bonus_draws import draw_for
from meters.intake.event_reading import EventReader, check_texts
from meters.intake.must_hit_by_judging import MustHitByJudge, placed_hits
from meters.intake.result_judging import OpenedClaim, check_declared, check_entered, judge_result
from meters.intake.table_catalog import CatalogTable
from meters.intake.wager_judging import (
    AddedWagers,
    OpenRound,
    judge_correction,
    judge_wagers,
    placed_wagers,
)
from meters.ledger.claim_records import ClaimRecord, LinkRound
from meters.ledger.script_steps import (
    OF_LINK,
    CorrectionWork,
    Kind,
    PaidDue,
    ReplyParts,
    ReplyWork,
    ResultWork,
    ScriptAnswer,
    ScriptStep,
    Status,
    WagersWork,
    Work,
    reply_text,
)
from meters.ledger.table_corrections import (
    Correction,
    ask_step,
    count_hands,
    entered_in,
    known_cards,
)
from meters.process.clock import now_text
from meters.process.logs import ThrottledLog
from meters.store.event_refusals import EventRefusal, out_of_order, refused, refused_by_script
from meters.store.link_store import APPLY_KEYS, LinkStore
from meters.wire.messages import (
    DrawMade,
    EnteredCards,
    Hello,
    HelloReply,
    HiddenValueDrawn,
    MoneyEvent,
    Reply,
    Result,
    Void,
    WagerCorrection,
    Wagers,
    Withdrawal,
    parts_elsewhere,
    wagers_reply,
)
from meters.wire.topics import TableAddress

log = structlog.get_logger()

_STORED_WAGERS: Final = msgspec.json.Decoder(Wagers | WagerCorrection)
_STORED_DRAW: Final = msgspec.json.Decoder(DrawMade | None)
_ROUNDS_REMEMBERED: Final = 65_536
_TRIES_MAX: Final = 64
"""How often events are judged again because of must-hit-by meters, or of other rounds of the link.
Each try can have one win. Then the tables repeat their events."""
_COUNTED: Final = {
    Status.ACCEPTED: "accepted",
    Status.WITHDRAWN: "accepted",
    Status.AGAIN: "repeated",
    Status.GAP: "out_of_order",
    # The table repeats this event every few seconds, so the refusal is not logged.
    Status.UNCONFIRMED: "unconfirmed",
}
"""The name of an event's status in the metrics; every other status counts as ``refused``."""

Draw = Callable[[CatalogTable, Wagers], DrawMade | None]
"""Makes the bonus draws of a round, from its table and its wagers."""


class Arrival(msgspec.Struct, frozen=True):
    """An event from a table. Over MQTT 5, the reply returns `correlation`."""

    known: CatalogTable
    payload: bytes
    correlation: bytes | None = None


_Read = tuple[Arrival, MoneyEvent | EventRefusal, int, AddedWagers | None]
"""An event with its number, and what its wagers add if they repeat the table's last ones."""


@dataclass(slots=True)
class BatchResult:
    """The result of a batch of events.

    Attributes:
        hits: the opened claims, each with its amount.
        hellos: the tables that sent a hello, each with the claims whose state the table must get.
        changed: true if an event was accepted.
        asked: true if a table made or withdrew a correction request.
        counts: by how much counters of the metrics rise. A key is a counter's name and labels.
        moved: the events that were judged for other amounts of must-hit-by meters than Redis has,
            or for other open rounds of the link.
        of_link: true if one of them was judged for other open rounds.
        applied: the number of events that the script applied, in `script_s` seconds.
    """

    replies: list[tuple[Arrival, bytes]] = field(default_factory=list)
    hits: list[tuple[ClaimRecord, PaidDue]] = field(default_factory=list)
    hellos: list[tuple[TableAddress, tuple[str, ...]]] = field(default_factory=list)
    changed: bool = False
    asked: bool = False
    counts: dict[tuple[str, ...], float] = field(default_factory=lambda: defaultdict(float))
    added: list[AddedWagers] = field(default_factory=list)
    moved: list[Arrival] = field(default_factory=list)
    of_link: bool = False
    applied: int = 0
    script_s: float = 0.0

    def add(self, other: "BatchResult") -> None:
        self.replies += other.replies
        self.hits += other.hits
        self.hellos += other.hellos
        self.changed = self.changed or other.changed
        self.asked = self.asked or other.asked
        for name, number in other.counts.items():
            self.counts[name] += number


class _Judged(msgspec.Struct, frozen=True):
    """An event after its validation, with the work for the Lua script `apply_events`.

    `reply` is empty if the event cannot be accepted; then `refusal` is the code of the reason, if
    the reason is known. `entered` are the cards that were entered and taken back, according to the
    event or to an earlier correction request of the round. `drawn` are the ledger records of new
    hidden values, one for each win of a must-hit-by meter.
    """

    arrival: Arrival
    event_type: str
    step: ScriptStep
    reply: ReplyParts = ()
    refusal: str = ""
    opened: OpenRound | None = None
    added: AddedWagers | None = None
    claims: tuple[OpenedClaim, ...] = ()
    entered: Sequence[EnteredCards] = ()
    drawn: tuple[bytes, ...] = ()

    @property
    def texts(self) -> Iterator[tuple[bytes, ReplyParts]]:
        """The texts of the event's ledger entries. An event without an entry needs none."""
        for drawn in self.drawn:
            yield drawn, ("",)
        yield self.arrival.payload if self.reply else b"", self.reply


class LinkIntake:
    """The intake of the events of one link.

    It remembers open rounds, so most results need no read from Redis. If a remembered round differs
    from the round in Redis, the Lua script changes nothing, and the table repeats its event.

    `replays` is true in a restore, whose events were accepted before Redis was lost. So four checks
    are left out: whether a hand pay holds the table, whether the table's game may be played today,
    whether the floor file requires all hands, and whether a correction needs a confirmation.
    `given` is the reply that a table has to its event. With a must-hit-by meter or a community
    share for the whole link, an event that cannot win now what its reply says gets no reply.
    """

    def __init__(
        self,
        store: LinkStore,
        draw: Draw = draw_for,
        *,
        replays: bool = False,
        given: Callable[[str], Reply | None] | None = None,
    ) -> None:
        self._store = store
        self._replays = replays
        self._draw = draw
        self._rounds: dict[str, OpenRound] = {}
        self._given = given
        self._must_hit_by = MustHitByJudge(store, self._values_given if given else None)
        self._link_rounds: Sequence[LinkRound] = ()
        self._turn = asyncio.Lock()
        self._reader = EventReader()
        self._refusals = ThrottledLog()
        self._log = log.bind(link=store.link.id)

    async def apply_batch(self, arrivals: Sequence[Arrival]) -> BatchResult:
        """Validate, apply and answer a batch of events.

        Several events of one table are answered as if each came in a batch of its own. There is one
        exception: a result, or a correction of a wager, gets no reply if the batch also has the
        wagers of the round. Then the table repeats the event.

        Raises:
            TermsError: Redis has other terms of a meter (such as rates). Nothing was done.
            RedisError: it is not known if the batch was applied. The tables repeat their events: if
                the batch was applied, they get the stored replies.
        """
        # The judge of must-hit-by meters must know what the batch before did to them.
        async with self._turn if self._must_hit_by.is_needed else nullcontext():
            try:
                whole = outcome = await self._apply(arrivals)
                for _ in range(_TRIES_MAX):
                    if not outcome.moved or (self._given and not outcome.replies):
                        break
                    outcome = await self._apply(outcome.moved, asked=not outcome.of_link)
                    whole.add(outcome)
            except BaseException:
                self._must_hit_by.forget()
                raise
        return whole

    async def _apply(self, arrivals: Sequence[Arrival], *, asked: bool = False) -> BatchResult:
        """Apply events once. With `asked`, the script would have accepted them."""
        outcome = BatchResult()
        read: list[_Read] = []
        unnumbered: list[tuple[Arrival, MoneyEvent | Hello | EventRefusal]] = []
        # Asked only once: without debug logging, no time goes into the fields of log lines.
        follows = self._log.is_enabled_for(logging.DEBUG)
        for arrival in arrivals:
            known = arrival.known
            event, seq, added = self._reader.event_in(known, arrival.payload)
            if follows:
                self._log_arrived(known, event, seq)
            if seq is None or isinstance(event, Hello):
                unnumbered.append((arrival, event))
            else:
                read.append((arrival, event, seq, added))
        await self._read_rounds([(one.known, event) for one, event, _, _ in read])
        judged = [self._judge(each, event, seq, added) for each, event, seq, added in read]
        read, judged = await self._judged_on_link(read, judged)
        if judged and self._must_hit_by.is_needed:
            await self._must_hit_by.begin(one.added for one in judged)
            judged = [
                self._with_hidden(one, event, asked=asked)
                for one, (_, event, _, _) in zip(judged, read, strict=True)
            ]
        if judged:
            keys: list[str] = []
            steps = [self._placed(one, keys) for one in judged]
            texts = [text for one in judged for text in one.texts]
            began = time.perf_counter()
            found = await self._store.apply(steps, texts, keys)
            outcome.applied, outcome.script_s = len(steps), time.perf_counter() - began
            self._must_hit_by.note(found.hidden)
            for one, answer in zip(judged, found.answers, strict=True):
                if follows:
                    self._log_judged(one, answer)
                self._answer(one, answer, outcome)
        if unnumbered:
            await self._answer_unnumbered(unnumbered, outcome)
        self._count_added(outcome)
        return outcome

    async def _judged_on_link(
        self, read: list[_Read], judged: list[_Judged]
    ) -> tuple[list[_Read], list[_Judged]]:
        """Judge the results again that bring a community share to the whole link.

        Return the events and judgements without those that a table's own reply rules out now.
        """
        if not any(map(_divides_on_link, judged)):
            return read, judged
        self._link_rounds = await self._rounds_of_link()
        judged = [
            self._judge(*one) if _divides_on_link(before) else before
            for one, before in zip(read, judged, strict=True)
        ]
        self._link_rounds = ()
        kept = [*map(self._is_as_given, judged)]
        return [*compress(read, kept)], [*compress(judged, kept)]

    async def _rounds_of_link(self) -> Sequence[LinkRound]:
        """Read the open rounds of all tables of the link, in the order of the tables' names."""
        tables = {table.id: table.asset for table in self._store.link.table}
        names = sorted(tables)
        return [
            LinkRound(
                table,
                tables[table],
                state.open_round,
                state.basis,
                _STORED_WAGERS.decode(state.wagers).positions,
                state.fed,
            )
            for table, state in zip(names, await self._store.table_states(names), strict=True)
            if state.open_round is not None
        ]

    def _values_given(self, table: str) -> Sequence[HiddenValueDrawn] | None:
        reply = self._given(table) if self._given else None
        return None if reply is None else reply.drawn or ()

    def _is_as_given(self, one: _Judged) -> bool:
        """Check whether a result now brings parts to the same players at other tables as before."""
        reply = self._given(one.step.table) if self._given else None
        if reply is None or not _divides_on_link(one):
            return True
        records = (claim.record for claim in one.claims if claim.record.hand_table)
        return [(each.table, each.round, each.position) for each in parts_elsewhere(reply)] == [
            (each.table, each.round, each.position) for each in records
        ]

    def forget(self) -> None:
        """Forget all remembered rounds: another process can have changed them in Redis."""
        self._rounds.clear()
        self._must_hit_by.forget()

    async def _read_rounds(
        self, events: Sequence[tuple[CatalogTable, MoneyEvent | EventRefusal]]
    ) -> None:
        tables = [
            known.table.id
            for known, event in events
            if isinstance(event, Result | Void | WagerCorrection)
            and self._remembered(known, event) is None
        ]
        if not tables:
            return
        for table, state in zip(tables, await self._store.table_states(tables), strict=True):
            if state.open_round is None:
                self._rounds.pop(table, None)
            else:
                wagers, draw = _STORED_WAGERS.decode(state.wagers), _STORED_DRAW.decode(state.draw)
                opened = OpenRound(
                    state.basis,
                    wagers,
                    placed_wagers(wagers.positions),
                    draw,
                    state.fed,
                    state.known,
                )
                self._remember(table, opened)

    def _remembered(
        self, known: CatalogTable, event: Result | Void | WagerCorrection
    ) -> OpenRound | None:
        opened = self._rounds.get(known.table.id)
        return opened if opened is not None and opened.wagers.round == event.round else None

    def _remember(self, table: str, opened: OpenRound) -> None:
        if len(self._rounds) >= _ROUNDS_REMEMBERED:
            del self._rounds[next(iter(self._rounds))]
        self._rounds[table] = opened

    def _judge(
        self,
        arrival: Arrival,
        event: MoneyEvent | EventRefusal,
        seq: int,
        added: AddedWagers | None,
    ) -> _Judged:
        """Validate an event.

        `added` is what the event's wagers add, if they repeat the table's last valid wagers;
        otherwise None.
        """
        try:
            match event:
                case Wagers():
                    return self._judge_wagers(arrival, event, added)
                case EventRefusal():
                    raise event
            check_texts(event)
            if isinstance(event, Result | Void) and not self._replays:
                check_entered(arrival.known, event)
            match event:
                case Result() | WagerCorrection():
                    return self._judge_by_round(arrival, event)
                case Void():
                    step = _step(arrival, seq, Kind.VOID, event.round)
                    step, entered = self._with_ask(arrival.known, event, step)
                    return _Judged(arrival, "void", step, (_accepted(seq),), entered=entered)
                case Withdrawal():
                    work = ReplyWork(_accepted(seq))
                    step = _step(arrival, seq, Kind.WITHDRAWAL, event.round, work)
                    return _Judged(arrival, "withdrawal", step)
        except EventRefusal as refusal:
            reply = refused(seq, refusal.code, refusal.message, refusal.field).decode()
            ends_round = isinstance(event, Result | WagerCorrection)
            basis = self._basis(arrival.known) if ends_round else None
            step = _step(arrival, seq, Kind.REFUSED, "", ReplyWork(reply), basis=basis)
            if isinstance(event, WagerCorrection):  # the script ends its correction request
                step, _ = self._with_ask(arrival.known, event, step)
            return _Judged(arrival, _type_of(event), step, refusal=refusal.code)

    def _judge_wagers(self, arrival: Arrival, event: Wagers, added: AddedWagers | None) -> _Judged:
        known = arrival.known
        if not self._replays:
            _check_game_dates(known)
        if added is None:
            check_texts(event)
        draw = self._draw(known, event)
        if added is None:
            added = judge_wagers(known, event.positions)
            self._reader.note(known, arrival.payload, event, added)
        drawn = msgspec.json.encode(draw).decode()
        reply = wagers_reply(event.seq, drawn)
        work = WagersWork(drawn, added.text, self._replays)
        step = _step(arrival, event.seq, Kind.WAGERS, event.round, work)
        opened = OpenRound(event.seq, event, added.placed, draw, added.meters)
        return _Judged(arrival, "wagers", step, (reply,), opened=opened, added=added)

    def _with_hidden(
        self, one: _Judged, event: MoneyEvent | EventRefusal, *, asked: bool
    ) -> _Judged:
        """Add to judged wagers what they do to must-hit-by meters."""
        work, replace = one.step.work, msgspec.structs.replace
        if one.added is None or not isinstance(event, Wagers | WagerCorrection):
            return one
        if not isinstance(work, WagersWork | CorrectionWork):
            return one
        fed = self._must_hit_by.feed(one.arrival.known, event, one.added, asked=asked)
        if not fed.steps:
            return one
        step = replace(one.step, work=replace(work, hidden=fed.steps))
        if not fed.won:
            return replace(one, step=step)
        draw = one.opened.draw if one.opened else self._rounds[step.table].draw
        reply = wagers_reply(step.seq, msgspec.json.encode(draw).decode(), fed.opened, fed.drawn)
        claims = tuple(OpenedClaim(record, at) for at, record in enumerate(fed.won))
        drawn = tuple(msgspec.json.encode(record) for record in fed.drawn)
        return replace(one, step=step, reply=(reply,), claims=claims, drawn=drawn)

    def _judge_by_round(self, arrival: Arrival, event: Result | WagerCorrection) -> _Judged:
        """Judge a result, or a correction of a wager.

        A floorperson must always confirm a correction of a wager.
        """
        known = arrival.known
        kind = Kind.RESULT if isinstance(event, Result) else Kind.CORRECT_WAGER
        step_of = partial(_step, arrival, event.seq, kind, event.round, basis=self._basis(known))
        opened = self._remembered(known, event)
        if opened is None:
            # The Lua script decides if the round is unknown or over.
            return _Judged(arrival, kind.value, step_of())
        fed = known.feeding(self._store.link, opened.fed)
        if isinstance(event, Result):
            if not self._replays:
                check_declared(known, event)
            others = [one for one in self._link_rounds if one.table != known.table.id]
            settled, parts, claims = judge_result(fed, event, opened, others)
            step, entered = self._with_ask(known, event, step_of(settled))
            return _Judged(arrival, "result", step, parts, claims=claims, entered=entered)
        if event.adds and not self._replays:
            _check_game_dates(known)
        reply, work, added = judge_correction(fed, event, opened)
        step, _ = self._with_ask(known, event, step_of(work))
        return _Judged(arrival, kind.value, step, (reply,), added=added if event.adds else None)

    def _with_ask(
        self, known: CatalogTable, event: Void | Result | WagerCorrection, step: ScriptStep
    ) -> tuple[ScriptStep, Sequence[EnteredCards]]:
        """Add a correction request to a step, if a floorperson must confirm the event.

        Return the step, and the entered cards that the correction concerns.

        After a request with cards, each correction of the round needs a confirmation, even if an
        event no longer names the cards.
        """
        table, replace = known.table.id, msgspec.structs.replace
        if self._replays:
            entered = entered_in(event)
            return replace(step, act=isinstance(event, WagerCorrection) or bool(entered)), entered
        opened = self._remembered(known, event)
        text = opened.known if opened else ""
        if not text and not isinstance(event, WagerCorrection) and not entered_in(event):
            return replace(step, known=text), ()
        cards = known_cards(text)
        ordered = known.table.chapter.community_ordered
        correction = Correction.of(event, cards, community_ordered=ordered)
        if correction is None:
            return replace(step, known=text), ()
        step = replace(step, known=text, act=True)
        always = known.facility.confirm_corrections or isinstance(event, WagerCorrection) or cards
        if always or (isinstance(event, Void | Result) and event.confirm):
            ask = f"{known.address.link}.{table}-{event.seq}"
            asked = ask_step(ask, table, now_text(), correction, cards, community_ordered=ordered)
            step = replace(step, ask=asked)
        return step, correction.entered

    def _basis(self, known: CatalogTable) -> int:
        opened = self._rounds.get(known.table.id)
        return opened.basis if opened else 0

    def _placed(self, one: _Judged, keys: list[str]) -> ScriptStep:
        """Return an event's step, with the places of its claims' keys in the script's KEYS."""
        work = one.step.work
        envied = work.envy if isinstance(work, ResultWork) else ()
        if not (one.claims or envied):
            return one.step
        places, replace = dict[str, int](), msgspec.structs.replace
        opened = [claim.record.claim for claim in one.claims]
        for claim in dict.fromkeys([*opened, *(envy.claim for envy in envied)]):
            keys.append(self._store.keys.claim(claim))
            places[claim] = APPLY_KEYS + len(keys)
        if isinstance(work, WagersWork | CorrectionWork):
            hidden = placed_hits(work.hidden, places)
            return replace(one.step, work=replace(work, hidden=hidden))
        if not isinstance(work, ResultWork):
            return one.step
        dues = tuple(replace(due, claim_key=places.get(due.claim, 0)) for due in work.dues)
        envy = tuple(replace(envy, claim_key=places[envy.claim]) for envy in work.envy)
        return replace(one.step, work=replace(work, dues=dues, envy=envy))

    def _answer(self, one: _Judged, answer: ScriptAnswer, outcome: BatchResult) -> None:
        known, seq, status = one.arrival.known, one.step.seq, answer.status
        if one.refusal:
            self._note_refusal(known, one.refusal, seq, outcome)
        if status is Status.MOVED:
            self._rounds.pop(known.table.id, None)
            if answer.text:
                outcome.moved.append(one.arrival)
                outcome.of_link = outcome.of_link or answer.text == OF_LINK
            return
        reply = answer.text.encode()
        match status:
            case Status.ACCEPTED:
                reply = reply_text(one.reply, [due.amount_cents for due in answer.paid])
                outcome.changed = True
                self._note_accepted(one, answer, outcome)
            case Status.WITHDRAWN:
                outcome.asked = True
            case Status.UNCONFIRMED if answer.asked:
                self._rounds.pop(known.table.id, None)
                outcome.asked = True
                self._log.info(
                    "confirmation asked",
                    table=known.table.id,
                    round=one.step.round,
                    seq=seq,
                    type=one.event_type,
                )
            case Status.GAP:
                reply = out_of_order(seq, int(answer.text))
            case _ if status not in _COUNTED and status is not Status.REFUSED:
                reply = reply or refused_by_script(seq, status)
                self._note_refusal(known, status.value, seq, outcome)
        counted = _COUNTED.get(status, "refused")
        outcome.counts["events", known.address.link, one.event_type, counted] += 1
        outcome.replies.append((one.arrival, reply))

    def _note_accepted(self, one: _Judged, answer: ScriptAnswer, outcome: BatchResult) -> None:
        (link, table), counts = one.arrival.known.address, outcome.counts
        if one.added is not None:
            outcome.added.append(one.added)
            counts["table_wagers", link, table] += one.added.wagers
            counts["table_wagered_cents", link, table] += one.added.wagered_cents
        self._note_opened(one, answer, outcome)
        if one.opened is not None:
            self._remember(table, one.opened)
            return
        self._rounds.pop(table, None)
        if one.step.kind is Kind.CORRECT_WAGER:
            counts["table_wagers_corrected", link, table] += 1
            self._log.info(
                "wager corrected",
                action="take_back" if one.added is None else "add",
                table=table,
                round=one.step.round,
                seq=one.step.seq,
                entry=answer.entry,
                confirmed_by=answer.confirmed_by or None,
            )
            return
        self._note_entered(one, answer, outcome)
        if isinstance(one.step.work, ResultWork):
            for due, paid in zip(one.step.work.dues, answer.paid, strict=True):
                kind = "percent" if due.take else "odds"
                counts["wins", link, due.meter, kind] += 1
                counts["won_cents", link, due.meter, kind] += paid.amount_cents

    def _note_opened(self, one: _Judged, answer: ScriptAnswer, outcome: BatchResult) -> None:
        for claim in one.claims:
            record, paid = claim.record, answer.paid[claim.due]
            outcome.hits.append((record, paid))
            if record.is_must_hit_by:
                link = record.link
                outcome.counts["wins", link, record.meter, "percent"] += 1
                outcome.counts["won_cents", link, record.meter, "percent"] += paid.amount_cents
            self._log.info(
                "claim opened",
                table=record.table,
                round=one.step.round,
                seq=one.step.seq,
                claim=record.claim,
                meter=record.meter,
                item=record.item,
                amount_cents=paid.amount_cents,
                entry=paid.entry,
            )

    def _note_entered(self, one: _Judged, answer: ScriptAnswer, outcome: BatchResult) -> None:
        (link, table), counts = one.arrival.known.address, outcome.counts
        hands, by = count_hands(one.entered), answer.confirmed_by
        if not hands and not answer.elsewhere:
            return
        round_log = self._log.bind(
            table=table, round=one.step.round, seq=one.step.seq, entry=answer.entry
        )
        if hands and not by:
            counts["table_corrections_unconfirmed", link, table] += 1
        if hands and one.event_type == "void":
            counts["table_voids_after_cards", link, table] += 1
            round_log.info("round void after cards", hands=hands, confirmed_by=by or None)
        elif hands:
            counts["table_hands_reentered", link, table] += hands
            round_log.info("hands entered again", hands=hands, confirmed_by=by or None)
        if answer.elsewhere:
            other_table, _, other_entry = answer.elsewhere.partition(" ")
            counts["cards_dealt_twice", link] += 1
            round_log.warning(
                "cards dealt twice", other_table=other_table, other_entry=int(other_entry)
            )

    def _log_arrived(
        self, known: CatalogTable, event: MoneyEvent | Hello | EventRefusal, seq: int | None
    ) -> None:
        round_id = event.round if isinstance(event, MoneyEvent) else None
        self._log.debug(
            "event arrived", table=known.table.id, round=round_id, seq=seq, type=_type_of(event)
        )

    def _log_judged(self, one: _Judged, answer: ScriptAnswer) -> None:
        self._log.debug(
            "event judged",
            table=one.arrival.known.table.id,
            round=one.step.round or None,
            seq=one.step.seq,
            type=one.event_type,
            status=answer.status.value,
            entry=answer.entry,
        )

    async def _answer_unnumbered(
        self,
        events: Sequence[tuple[Arrival, MoneyEvent | Hello | EventRefusal]],
        outcome: BatchResult,
    ) -> None:
        for arrival, event in events:
            if isinstance(event, EventRefusal):
                reply = refused(None, event.code, event.message, event.field)
                outcome.replies.append((arrival, reply))
                self._note_refusal(arrival.known, event.code, None, outcome)
        hellos = [arrival for arrival, event in events if isinstance(event, Hello)]
        if not hellos:
            return
        tables = [one.known.table.id for one in hellos]
        # After a network failure, many tables send a hello at the same time.
        states = await self._store.table_states(tables, wagers=False)
        for arrival, state in zip(hellos, states, strict=True):
            hello = HelloReply(last_seq=state.last_seq, open_round=state.open_round)
            outcome.replies.append((arrival, msgspec.json.encode(hello)))
            outcome.hellos.append((arrival.known.address, state.claims))
            outcome.counts["events", arrival.known.address.link, "hello", "accepted"] += 1

    def _count_added(self, outcome: BatchResult) -> None:
        """Equal wagers, which tables often have, are counted once and multiplied."""
        link, counts = self._store.link.id, outcome.counts
        times = Counter([added.text for added in outcome.added])
        for text, added in {added.text: added for added in outcome.added}.items():
            for one in added.contributions:
                micros = times[text] * (one.meter_micros + one.reserve_micros)
                counts["wagers", link, one.meter] += times[text] * one.wagers
                counts["wagered_cents", link, one.meter] += times[text] * one.wagered_cents
                counts["contributions_cents", link, one.meter] += micros / MICROS_PER_CENT

    def _note_refusal(
        self, known: CatalogTable, code: str, seq: int | None, outcome: BatchResult
    ) -> None:
        outcome.counts["refusals", known.address.link, code] += 1
        table = known.table.id
        if (more := self._refusals.due((table, code))) is not None:
            self._log.warning("event refused", table=table, seq=seq, code=code, kept_back=more)


def _divides_on_link(one: _Judged) -> bool:
    return isinstance(one.step.work, ResultWork) and bool(one.step.work.link)


def _type_of(event: MoneyEvent | Hello | EventRefusal) -> str:
    return "unknown" if isinstance(event, EventRefusal) else str(event.__struct_config__.tag)


def _check_game_dates(known: CatalogTable) -> None:
    if problem := problem_now(known.rules.chapter, known.facility.timezone):
        raise EventRefusal(GAME_NOT_IN_EFFECT, problem, None)


def _accepted(seq: int) -> str:
    return msgspec.json.encode(Reply(seq=seq, status="accepted")).decode()


def _step(
    arrival: Arrival,
    seq: int,
    kind: Kind,
    round_id: str,
    work: Work | None = None,
    *,
    basis: int | None = None,
) -> ScriptStep:
    digest = hashlib.blake2b(arrival.payload, digest_size=16).hexdigest()
    return ScriptStep(arrival.known.table.id, seq, digest, kind, round_id, basis, work)
