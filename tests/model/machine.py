"""State machine: everything that tables and floorpersons may do, in any order."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import ceil, floor
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from hypothesis.strategies import DataObject, SearchStrategy

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.acts.meter_changes import Adjustment
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.ledger.link_state import Act, EnvyAct
from meters.ledger.table_corrections import AskAct
from meters.wire.messages import Jackpot
from tests.games.stacks import ROYAL, STACKS, STRAIGHT_FLUSH, Stack
from tests.lua.books import keyspace
from tests.model.days import A_DAY, NEW_YORK
from tests.model.deals import (
    Amounts,
    correction_event,
    result_event,
    stacked_event,
    wagers_event,
    wagers_on_the_dealer,
)
from tests.model.held_floor import HeldFloor
from tests.model.model_floor import REPLIES_KEPT, TABLES, WORKERS
from tests.model.pit import AT, refused
from tests.model.second_books import SecondTable
from tests.reports.shop import clock_by_hand

SLIPS: Final = ("", "A-1", "A-2", "A-3")


Event = dict[str, Any]


def entered_at(table: SecondTable) -> list[dict[str, Any]]:
    """Return earlier entries that a table reports. They move no money."""
    results = table.game.deal.results
    hand, dealer = (["As", "Ks"], ["2c"]) if not results else ([results[0]], [results[-1]])
    return [
        {"what": "hand", "position": 1, "cards": hand, "taken_back": True, "reason": "Misread"},
        {"what": "dealer", "cards": dealer},
        {"what": "hand", "position": 2, "no_win": True, "taken_back": True},
    ]


_STATES: Final = {"pending", "validated", "rejected", "paid"}
"""Outcomes of acts that were not refused."""


def _altered(payload: bytes) -> bytes:
    return payload.replace(AT.encode(), b"2026-11-20T02:14:08Z")


def rule_of_a_table(
    tables: Sequence[str] = TABLES, **more: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    table, worker = st.sampled_from(tables), st.sampled_from(WORKERS)
    given: dict[str, Any] = {"data": st.data(), "table": table, "worker": worker, **more}
    return rule(**given)


class Floor(HeldFloor):
    """Tables that play, err, repeat and race. After each step both sets of books must agree."""

    # Rules of the tables.

    def _bytes(self, table: str, event: dict[str, Any], *, ahead: int = 1, at: str = AT) -> bytes:
        seq = self.books.tables[table].last + ahead
        return json.dumps({"seq": seq, "at": at, **event}).encode()

    def _next_round(self, table: str) -> str:
        """Return a round id. Ids repeat soon: a worker may remember another round with that id."""
        at = self.books.tables[table]
        while True:
            self.rounds[table] += 1
            name = f"R{self.rounds[table] % 3}"
            if name not in {at.round, at.over}:
                return name

    def _amounts(self, table: str) -> Amounts:
        offers = self.pit.known[table].offers
        return {wager: offer[0].wagers_cents for wager, offer in offers.items()}

    def _wagers(self, data: DataObject, table: str, *, flawed: bool = False) -> dict[str, Any]:
        at = self.books.tables[table]
        return wagers_event(data.draw, at, self._amounts(table), flawed=flawed)

    def _next_event(self, data: DataObject, table: str, *, flawed: bool = False) -> dict[str, Any]:
        now = self.books.tables[table].round
        if now is None:
            event = self._wagers(data, table, flawed=flawed)
            return event | {"round": self._next_round(table)}
        at = self.books.tables[table]
        event = result_event(data.draw, at, flawed=flawed) | {"round": now}
        earlier: Event = data.draw(st.sampled_from(({}, {"entered_before": entered_at(at)})))
        return event | earlier

    @rule_of_a_table()
    def play(self, data: DataObject, table: str, worker: int) -> None:
        self._send(table, self._bytes(table, self._next_event(data, table)), worker)

    @rule_of_a_table()
    def play_on(self, data: DataObject, table: str, worker: int) -> None:
        self._send(table, self._bytes(table, self._next_event(data, table)), worker)
        self._send(table, self._bytes(table, self._next_event(data, table)), 1 - worker)

    @rule_of_a_table()
    def win_it_all(self, data: DataObject, table: str, worker: int) -> None:
        self._win(data, table, worker, ROYAL)

    @rule_of_a_table(stack=st.sampled_from(STACKS))
    def win_several(self, data: DataObject, table: str, worker: int, stack: Stack) -> None:
        self._win(data, table, worker, stack)

    def _win(self, data: DataObject, table: str, worker: int, stack: Stack) -> None:
        self._begin(data, table, worker)
        at = self.books.tables[table]
        event = stacked_event(at, stack) | {"round": at.round}
        self._send(table, self._bytes(table, event), worker)

    @rule_of_a_table(TABLES[:2], stack=st.sampled_from((ROYAL, STRAIGHT_FLUSH)))
    def win_on_the_dealer(self, data: DataObject, table: str, worker: int, stack: Stack) -> None:
        """Play several wagers on the dealer's hand, which wins all of the meter or a tenth."""
        at = self.books.tables[table]
        if at.round is None:
            self._pay_what_holds(table)
            event = wagers_on_the_dealer(data.draw, at, self._amounts(table))
            event |= {"round": self._next_round(table)}
            self._send(table, self._bytes(table, event), worker)
        event = stacked_event(at, stack, to_dealer=True) | {"round": at.round}
        self._send(table, self._bytes(table, event), worker)

    @rule_of_a_table()
    def void(self, data: DataObject, table: str, worker: int) -> None:
        self._begin(data, table, worker)
        event = {"type": "void", "reason": "misdeal", "round": self.books.tables[table].round}
        entered = entered_at(self.books.tables[table])
        asks = {"entered": entered, "confirm": True}
        event |= data.draw(st.sampled_from(({}, {"entered": entered}, asks, asks)))
        self._send(table, self._bytes(table, event), worker)

    @rule_of_a_table(
        decided=st.sampled_from((True, True, True, False, None)), stray=st.integers(0, 5)
    )
    def correct_a_wager(
        self, data: DataObject, table: str, worker: int, stray: int, *, decided: bool | None
    ) -> None:
        """Correct a wager of a round; a floorperson confirms it, refuses it, or is not there."""
        self._begin(data, table, worker)
        at = self.books.tables[table]
        amounts = self._amounts(table)
        event = correction_event(data.draw, at, amounts, stray=stray == 0)
        if event is None:
            return
        event["round"] = at.round
        self._send(table, self._bytes(table, event), worker)
        open_asks = {ask.table: ask for ask in self.runner.run(self.pit.asks.asks())}
        if decided is None or table not in open_asks or not at.asks.startswith('["correct'):
            return
        act: AskAct = "confirm_correction" if decided else "refuse_correction"
        self.runner.run(self.pit.asks.decide(open_asks[table].ask, act, "fp-1", reason="why"))
        self.books.decide_ask(table, confirmed=decided)
        if data.draw(st.integers(0, 3)) == 0:
            self.win_it_all(data, TABLES[1 - (table == TABLES[1])], worker)
        if at.round == event["round"]:
            self._send(table, self._bytes(table, event), 1 - worker)

    @rule(data=st.data(), tables=st.permutations(TABLES), worker=st.sampled_from(WORKERS))
    def void_after_a_win(self, data: DataObject, tables: list[str], worker: int) -> None:
        """Void a round after another table has won the meter that the round fed."""
        self._begin(data, tables[0], worker)
        self.win_it_all(data, tables[1], worker)
        self.void(data, tables[0], worker)

    def _begin(self, data: DataObject, table: str, worker: int) -> None:
        if self.books.tables[table].round is None:
            self._pay_what_holds(table)
            self._send(table, self._bytes(table, self._next_event(data, table)), worker)

    @rule(data=st.data(), worker=st.sampled_from(WORKERS))
    def play_together(self, data: DataObject, worker: int) -> None:
        tables = data.draw(st.permutations(TABLES))[: data.draw(st.integers(2, 3))]
        events = [(one, self._bytes(one, self._next_event(data, one))) for one in tables]
        outcome = self.runner.run(self.pit.take(events, worker=worker))
        replies = {one.known.table.id: reply for one, reply in outcome.replies}
        # A service judges the event that wins a must-hit-by meter after the others.
        at = {table: place for place, table in enumerate(replies)}
        for table, payload in sorted(events, key=lambda one: at.get(one[0], len(at))):
            verdict = self.books.judge(table, payload)
            reply = replies.get(table) or self._repeat_until_answered(table, payload, worker)
            self._hold(table, payload, verdict, reply)

    @rule(data=st.data(), worker=st.sampled_from(WORKERS))
    def play_with_copies(self, data: DataObject, worker: int) -> None:
        """Send one batch with events of several tables, copies, altered copies and old events.

        Each is answered as if it had come after the ones before it. Of two that share a seq, the
        first in the batch counts.
        """
        batch: list[tuple[str, bytes]] = []
        for table in data.draw(st.permutations(TABLES))[: data.draw(st.integers(1, 3))]:
            event = self._next_event(data, table)
            payload = self._bytes(table, event)
            batch += [(table, payload)] * data.draw(st.integers(2, 3))
            if data.draw(st.booleans()):
                batch.append((table, _altered(payload)))
            if event["type"] == "wagers" and data.draw(st.booleans()):
                void = {"type": "void", "reason": "misdeal", "round": event["round"]}
                batch += [(table, self._bytes(table, void, ahead=2))] * 2
        if self.sent:
            batch += data.draw(st.lists(st.sampled_from(self.sent), max_size=3))
        self._send_together(data.draw(st.permutations(batch)), worker)

    def _send_together(self, batch: Sequence[tuple[str, bytes]], worker: int) -> None:
        outcome = self.runner.run(self.pit.take(batch, worker=worker))
        payloads: defaultdict[tuple[str, int], list[bytes]] = defaultdict(list)
        for table, payload in batch:
            payloads[table, json.loads(payload)["seq"]].append(payload)
        # A service judges the event that wins a must-hit-by meter after the others.
        for one, reply in outcome.replies:
            table = one.known.table.id
            sent = payloads[table, json.loads(reply)["seq"]]
            assert sent, f"more answers than events: {reply!r}"
            payload = sent.pop(0)
            self._hold(table, payload, self.books.judge(table, payload), reply)
        # A worker that remembers another round answers no copy of a result.
        for table, payload in batch:
            if payload in payloads[table, json.loads(payload)["seq"]]:
                self._send(table, payload, worker)

    @rule(data=st.data(), table=st.sampled_from(TABLES))
    def race(self, data: DataObject, table: str) -> None:
        """Send copies of an event to both workers together: counted once, answered alike."""
        payload = self._bytes(table, self._next_event(data, table))
        verdict = self.books.judge(table, payload)
        copies = [(table, payload)] * data.draw(st.integers(1, 3))

        async def at_both() -> list[bytes]:
            outcomes = await asyncio.gather(
                *(self.pit.take(copies, worker=worker) for worker in WORKERS)
            )
            return [reply for outcome in outcomes for _, reply in outcome.replies]

        replies = set(self.runner.run(at_both()))
        replies.add(self._repeat_until_answered(table, payload, 0))
        assert len(replies) == 1, replies
        self._hold(table, payload, verdict, replies.pop())

    @rule_of_a_table()
    def flawed(self, data: DataObject, table: str, worker: int) -> None:
        self._send(table, self._bytes(table, self._next_event(data, table, flawed=True)), worker)

    @rule_of_a_table(
        kind=st.sampled_from(("wagers", "result", "void")),
        which=st.sampled_from(("now", "over", "new")),
    )
    def stray(self, data: DataObject, table: str, worker: int, kind: str, which: str) -> None:
        at = self.books.tables[table]
        round_id = {"now": at.round, "over": at.over}.get(which) or self._next_round(table)
        if kind == "wagers":
            event = self._wagers(data, table)
        elif kind == "result":
            event = result_event(data.draw, at, flawed=False)
        else:
            event = {"type": "void", "reason": "misdeal"}
        self._send(table, self._bytes(table, event | {"round": round_id}), worker)

    @rule_of_a_table()
    def wager_again(self, data: DataObject, table: str, worker: int) -> None:
        at = self.books.tables[table]
        round_id = at.round or at.over or self._next_round(table)
        self._send(
            table, self._bytes(table, self._wagers(data, table) | {"round": round_id}), worker
        )

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), worker=st.sampled_from(WORKERS))
    def repeat(self, data: DataObject, worker: int) -> None:
        table, payload = data.draw(st.sampled_from(self.sent))
        self._send(table, payload, worker)

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), worker=st.sampled_from(WORKERS))
    def forge(self, data: DataObject, worker: int) -> None:
        """Send other bytes with the seq of a past event."""
        table, payload = data.draw(st.sampled_from(self.sent))
        self._send(table, _altered(payload), worker)

    @rule_of_a_table(ahead=st.integers(2, 2 * REPLIES_KEPT))
    def run_ahead(self, data: DataObject, table: str, worker: int, ahead: int) -> None:
        event = self._next_event(data, table)
        self._send(table, self._bytes(table, event, ahead=ahead), worker)

    @rule(worker=st.sampled_from(WORKERS))
    def restart(self, worker: int) -> None:
        self.pit.restart(worker)

    @rule()
    def forget_scripts(self) -> None:
        self.runner.run(self._flush_scripts())

    async def _flush_scripts(self) -> None:
        await self.redis.script_flush()

    # Rules of floorpersons.

    @precondition(lambda self: self.books.waiting())
    @rule(data=st.data(), reject=st.integers(0, 3).map(lambda number: number == 0))
    def decide_what_waits(self, data: DataObject, *, reject: bool) -> None:
        claim = data.draw(st.sampled_from(self.books.waiting()))
        if self.books.claims[claim].state == "validated":
            self._decide(claim, "pay", slip=data.draw(st.sampled_from(SLIPS)))
        elif reject:
            self._reject(claim, "fp-1", envy_too=data.draw(st.booleans()))
        else:
            self._decide(claim, "validate")

    def _reject(self, claim: str, by: str, *, envy_too: bool) -> None:
        expected = self.books.reject(claim, by, envy_too=envy_too)
        act = self.pit.claims.reject(claim, by, reason="fouled", envy_not_due=envy_too)
        self._check_act(claim, expected, act)

    def _confirm(self, claim: str, by: str, entry: int) -> None:
        expected = self.books.confirm(claim, by, entry)
        self._check_act(claim, expected, self.pit.claims.confirm(claim, by, entry))

    def _request_reopening(self, claim: str, by: str) -> None:
        expected = self.books.request(claim, "request_reopen", by)
        act = self.pit.claims.request_reopening(claim, by, reason="misread")
        self._check_act(claim, expected, act)

    @precondition(lambda self: self.books.claims)
    @rule(
        data=st.data(), reopens=st.booleans(), by=st.sampled_from(("fp-1", "fp-2")),
        envy_too=st.booleans(),
    )  # fmt: skip
    def request_anything(self, data: DataObject, by: str, *, reopens: bool, envy_too: bool) -> None:
        claim = data.draw(st.sampled_from(sorted({*self.books.claims, *self.books.envy})))
        if reopens:
            self._request_reopening(claim, by)
        elif claim in self.books.claims:
            self._reject(claim, by, envy_too=envy_too)

    @precondition(lambda self: self.books.claims)
    @rule(
        data=st.data(), by=st.sampled_from(("fp-1", "fp-2")), late=st.sampled_from((0, 0, 0, 1)),
        withdraws=st.booleans(),
    )  # fmt: skip
    def answer_any_request(self, data: DataObject, by: str, late: int, *, withdraws: bool) -> None:
        """Confirm or withdraw the request about a claim, or one that was never made."""
        asked = [claim for claim, one in self.books.claims.items() if one.request]
        claim = data.draw(st.sampled_from(asked or sorted(self.books.claims)))
        request = self.books.claims[claim].request
        entry = (request.entry if request else 1) - late
        if withdraws:
            expected = self.books.withdraw(claim, entry)
            self._check_act(claim, expected, self.pit.claims.withdraw_request(claim, by, entry))
        else:
            self._confirm(claim, by, entry)

    @rule(
        data=st.data(),
        table=st.sampled_from(TABLES[:2]),
        meanwhile=st.sampled_from(("nothing", "all", "a part", "a round", "a day", "a lapse")),
        envy_too=st.booleans(),
        again=st.sampled_from(("no", "yes", "with Envy")),
    )
    def reject_and_reopen(
        self, data: DataObject, table: str, meanwhile: str, again: str, *, envy_too: bool
    ) -> None:
        """Reject wins, reopen them, and reject some again, by two people, as other tables play."""
        before = set(self.books.claims)
        self.win_it_all(data, table, 0)
        claims = [claim for claim in self.books.claims if claim not in before]
        for claim in claims:
            self._reject(claim, "fp-1", envy_too=envy_too)
            if request := self.books.claims[claim].request:
                self._confirm(claim, "fp-1", request.entry)
                if meanwhile == "a lapse":
                    self.close_the_day(archive=False)
                self._confirm(claim, "fp-2", request.entry)
        other = TABLES[1 - TABLES.index(table)]
        if meanwhile == "all":
            self.win_it_all(data, other, 1)
            self._pay_what_holds(other)
            self.play_on(data, other, 1)
        elif meanwhile == "a part":
            self.win_on_the_dealer(data, other, 1, STRAIGHT_FLUSH)
        elif meanwhile == "a round":
            self.play_on(data, other, 1)
        for claim in claims:
            self._request_reopening(claim, "fp-3")
            if meanwhile == "a day":
                self.close_the_day(archive=False)
            for by in ("fp-1", "fp-2"):
                if request := self.books.claims[claim].request:
                    self._confirm(claim, by, request.entry)
                pending = self.books.claims[claim].state == "pending"
                if by == "fp-1" and pending and again != "no":
                    self._reject(claim, "fp-1", envy_too=again == "with Envy")

    @rule(data=st.data(), slips=st.permutations(SLIPS[1:]))
    def pay_and_correct_slips(self, data: DataObject, slips: list[str]) -> None:
        """Pay hand pays with one slip number, and correct the number of those that were paid."""
        for table in TABLES[:2]:
            before = set(self.books.claims)
            self.win_it_all(data, table, 0)
            for claim in [one for one in self.books.claims if one not in before]:
                self._decide(claim, "validate")
                self._decide(claim, "pay", slip=slips[0])
        for claim in [claim for claim, one in self.books.claims.items() if one.slip]:
            self._correct(claim, slips[1], "A-9")
            self._correct(claim, slips[1], self.books.claims[claim].slip)
        self._pay_what_holds(TABLES[0])
        self._pay_what_holds(TABLES[1])

    @precondition(lambda self: self.books.claims)
    @rule(data=st.data(), slip=st.sampled_from(SLIPS[1:]), known=st.booleans())
    def correct_a_slip(self, data: DataObject, slip: str, *, known: bool) -> None:
        paid = [claim for claim, one in self.books.claims.items() if one.slip]
        claim = data.draw(st.sampled_from(paid or sorted(self.books.claims)))
        self._correct(claim, slip, self.books.claims[claim].slip if known else "A-9")

    def _correct(self, claim: str, slip: str, replaces: str) -> None:
        expected = self.books.correct_slip(claim, slip, replaces)
        act = self.pit.claims.correct_slip(
            claim, "fp-2", slip=slip, replaces=replaces, reason="digits swapped"
        )
        self._check_act(claim, expected, act)

    def _check_act(
        self, claim: str, expected: str, act: Coroutine[Any, Any, ClaimRow], *, envy: bool = False
    ) -> None:
        """Compare the outcome of an act with the second books, and what was published.

        A refused act changes nothing in Redis. With `envy`, the act is about the Envy Bonuses.
        """
        before = len(self.pit.published)
        if expected not in _STATES:
            redis = self.runner.run(keyspace(self.redis))
            with refused(expected):
                self.runner.run(act)
            assert self.runner.run(keyspace(self.redis)) == redis
            assert len(self.pit.published) == before
            return
        row = self.runner.run(act)
        published = self.pit.published[before:]
        if envy:
            assert expected == row.envy_state
            self._check_published_envy(row, published)
            return
        one = self.books.claims[claim]
        assert (row.state, row.amount) == (expected, one.cents)
        if published:
            win = published[0]
            assert row.request is None
            assert win.event == {"pending": "hit"}.get(row.state, row.state)
            after = one.after_cents if win.event == "hit" else self.books.held(one.meter) // 1
            assert (win.meter, win.meter_after) == (one.meter, after)
            self._check_published_envy(row, published[1:])

    @rule(archive=st.booleans())
    def close_the_day(self, *, archive: bool) -> None:
        self.runner.run(self.days.keep(A_DAY))
        self.books.close_day()
        if archive and self.archives:
            files = ArchiveFiles(Path(self.home.name), self.pit.link.id)
            run = Archiver(self.pit.store, files, 0).run(lambda *_: None)
            self.books.entries += len(self.runner.run(run).written)

    @rule_of_a_table()
    def require_all_hands(self, data: DataObject, table: str, worker: int) -> None:
        self._begin(data, table, worker)
        known, self.books.all_hands = self.pit.known, True
        facility = msgspec.structs.replace(self.pit.floor.facility, require_all_hands=True)
        self.pit.known = {each: replace(one, facility=facility) for each, one in known.items()}
        self._send(table, self._bytes(table, self._next_event(data, table)), worker)
        self.pit.known, self.books.all_hands = known, False

    @precondition(lambda self: self.books.waiting_envy())
    @rule(data=st.data(), act=st.sampled_from(("pay_envy", "pay_envy", "reject_envy")))
    def settle_envy_that_waits(self, data: DataObject, act: EnvyAct) -> None:
        self._settle_envy(data.draw(st.sampled_from(self.books.waiting_envy())), act)

    @precondition(lambda self: self.books.claims or self.books.envy)
    @rule(data=st.data(), act=st.sampled_from(("pay_envy", "reject_envy")))
    def settle_any_envy(self, data: DataObject, act: EnvyAct) -> None:
        claims = sorted({*self.books.claims, *self.books.envy})
        self._settle_envy(data.draw(st.sampled_from(claims)), act)

    def settle_all_envy(self) -> None:
        for number, claim in enumerate(self.books.waiting_envy()):
            act: EnvyAct = "reject_envy" if number % 2 else "pay_envy"
            self._settle_envy(claim, act)
            self._settle_envy(claim, act)

    def _settle_envy(self, claim: str, act: EnvyAct) -> None:
        expected = self.books.settle_envy(claim, act)
        decided = self.pit.claims.decide_envy(claim, act, "fp-1", reason="why")
        self._check_act(claim, expected, decided, envy=True)

    @staticmethod
    def _check_published_envy(row: ClaimRow, published: Sequence[Jackpot]) -> None:
        """Check that the table receives the Envy Bonuses that its win does not report."""
        envy: list[tuple[str, str | None, int, int]] = []
        if row.envy_state in {"paid", "rejected"} or (
            row.envy_state == "validated" and row.state == "rejected"
        ):
            named, event = f"{row.claim}-envy", row.envy_state
            envy = [(named, event, owed.position, owed.amount) for owed in row.envy]
        assert [(one.claim, one.event, one.position, one.amount) for one in published] == envy

    def _pay_what_holds(self, table: str) -> None:
        for claim in self.books.waiting():
            one = self.books.claims[claim]
            if one.hand_pay and one.table == table:
                if one.state == "pending":
                    self._decide(claim, "validate")
                # Another floorperson than this one may have validated the claim.
                self._decide(claim, "pay", "fp-3")

    @precondition(lambda self: self.books.waiting())
    @rule()
    def decide_all_that_waits(self) -> None:
        while waiting := self.books.waiting():
            for claim in waiting:
                if self.books.claims[claim].state == "validated":
                    self._decide(claim, "pay", "fp-3")  # any other person may have validated it
                else:
                    self._decide(claim, "validate")

    @rule(data=st.data(), act=st.sampled_from(("confirm_correction", "refuse_correction")))
    def decide_what_a_table_asks(self, data: DataObject, act: AskAct) -> None:
        asking = [table for table in TABLES if self.books.tables[table].asks]
        open_asks = self.runner.run(self.pit.asks.asks())
        undecided = [table for table in asking if not self.books.tables[table].decided]
        assert sorted(ask.table for ask in open_asks) == sorted(undecided)
        if not open_asks:
            return
        ask = data.draw(st.sampled_from(open_asks))
        self.runner.run(self.pit.asks.decide(ask.ask, act, "fp-1", reason="why"))
        self.books.decide_ask(ask.table, confirmed=act == "confirm_correction")

    # Rules of supervisors.

    @rule(data=st.data(), table=st.sampled_from(TABLES))
    def close_for_a_while(self, data: DataObject, table: str) -> None:
        """Close the link; the open round is finished meanwhile, and new wagers are refused."""
        self._switch()
        self._send(table, self._bytes(table, self._next_event(data, table)), 0)
        self._switch()

    def _switch(self) -> None:
        link_acts, link = self.pit.link_acts, self.pit.link.id
        opening = self.books.closed
        self.books.switch()
        act = (
            link_acts.open(link, "sue") if opening else link_acts.close(link, "sue", "shift change")
        )
        assert self.runner.run(act).state == ("operable" if opening else "closed")

    @rule(data=st.data(), cents=st.integers(-(10**7), 10**7).filter(bool))
    def adjust(self, data: DataObject, cents: int) -> None:
        """Correct a meter by two people, unless its balance is too low or its limit forbids it."""
        link_acts, link = self.pit.link_acts, self.pit.link.id
        meter = data.draw(st.sampled_from(sorted(self.books.meters)))
        change = Adjustment(meter=meter, amount=cents, reason="malfunction")
        if self.books.meters[meter].hit_by:
            with pytest.raises(ActError, match="is adjusted only at its end"):
                self.runner.run(link_acts.propose(link, "sue", change))
            return
        after, limit = self.books.held(meter) + cents, self.books.meters[meter].limit_cents
        above = limit is not None and cents > 0 and after > limit
        if above or after // 1 < 0:
            with pytest.raises(ActError, match="limit is" if above else "the meter holds"):
                self.runner.run(link_acts.propose(link, "sue", change))
            return
        self._adjust(change)

    def _adjust(self, change: Adjustment) -> None:
        link_acts, link = self.pit.link_acts, self.pit.link.id
        proposed = self.runner.run(link_acts.propose(link, "sue", change))
        with pytest.raises(ActError, match="another person"):
            self.runner.run(link_acts.confirm(link, proposed.proposal, "sue"))
        assert (
            self.runner.run(link_acts.confirm(link, proposed.proposal, "tim")).state == "confirmed"
        )
        self.books.adjust(change.meter, change.amount)

    @precondition(lambda self: any(one.law.above for one in self.books.meters.values()))
    @rule_of_a_table(voids=st.booleans())
    def correct_after_the_rates_changed(
        self, data: DataObject, table: str, worker: int, *, voids: bool
    ) -> None:
        """Correct a wager or void its round after each meter has passed its threshold."""
        self._begin(data, table, worker)
        for meter, one in self.books.meters.items():
            if at := one.law.above * one.wager_cents:
                lacks = ceil(at - self.books.held(meter))
                cents = lacks if lacks > 0 else floor(at - self.books.held(meter)) - 1
                self._adjust(Adjustment(meter=meter, amount=cents, reason="malfunction"))
        self.correct_a_wager(data, table, worker, 1, decided=True)
        if voids:
            self.void(data, table, worker)

    @precondition(lambda self: self.books.promotions)
    @rule(worker=st.sampled_from(WORKERS), later=st.sampled_from((0, 2, 6, 300)))
    def promote(self, worker: int, later: int) -> None:
        """Have a service look for promotions that are on, some minutes later than before.

        A sum is added once on a day, and a part of each wager every few minutes.
        """
        self.promoting += timedelta(minutes=later)
        with clock_by_hand(datetime.now(UTC) + self.promoting) as clock:
            changed = self.runner.run(self.pit.promotions[worker].add())
        assert changed == self.books.promote(clock.at.astimezone(NEW_YORK))

    @precondition(lambda self: self.books.claims)
    @rule(
        data=st.data(), act=st.sampled_from(("validate", "reject", "pay")),
        by=st.sampled_from(("fp-1", "fp-2")), envy_too=st.booleans(), slip=st.sampled_from(SLIPS),
    )  # fmt: skip
    def decide_anything(
        self, data: DataObject, act: Act, by: str, slip: str, *, envy_too: bool
    ) -> None:
        claim = data.draw(st.sampled_from(sorted(self.books.claims)))
        self._decide(claim, act, by, envy_too=envy_too, slip=slip if act == "pay" else "")

    def _decide(
        self, claim: str, act: Act, by: str | None = None, *, envy_too: bool = False, slip: str = ""
    ) -> None:
        by = by or ("fp-2" if act == "pay" else "fp-1")
        expected = self.books.decide(claim, act, by, envy_too=envy_too, slip=slip)
        decided = self.pit.claims.decide(
            claim, act, by, slip=slip or None, envy_not_due=envy_too, envy_paid=envy_too
        )
        published = len(self.pit.published)
        self._check_act(claim, expected, decided)
        assert expected not in _STATES or len(self.pit.published) > published

    @rule(act=st.sampled_from(("validate", "reject", "pay")))
    def decide_nothing(self, act: Act) -> None:
        claim = "T-1-999999-1"
        self._check_act(claim, "unknown_claim", self.pit.decide(claim, act))
