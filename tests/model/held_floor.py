import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant
from redis.asyncio import Redis

import meters.audit.table_audit
import meters.intake.bonus_draws
import meters.ledger.redis_layout
import meters.store.link_reader
import meters.store.link_store
from meters.ledger.hidden_values import HIDDEN_VALUE_DRAWN
from meters.process.clock import now
from meters.store.hidden_value_seal import HiddenValues
from tests.model.days import Days
from tests.model.model_floor import POKER, REPLIES_KEPT, WORKERS, Chance, ModelFloor
from tests.model.pit import Pit
from tests.model.second_books import Verdict
from tests.model.second_settling import Settling
from tests.naive.shapes import Line

_MEMORY: Final = Path("/dev/shm")  # noqa: S108  (archives are written often)


SECRET: Final = "a-secret-of-the-services-of-this-test-floor"  # noqa: S105


class Near:
    """Draws hidden values so near that a round or two reach them."""

    def __init__(self) -> None:
        self.chance = Chance(0)

    def below(self, most: int) -> int:
        return self.chance.randbelow(min(most, 8_000_000))


def _slip(claim: Mapping[str, str]) -> str:
    slip: str = json.loads(claim.get("slip_correction", claim.get("decision", "{}"))).get(
        "slip", ""
    )
    return slip


def _check_rules(said: Sequence[dict[str, Any]], due: Sequence[Line]) -> None:
    """Check that lines cite Chapter 649a, and take the rules off, unless the rules are compared."""
    for line, of_books in zip(said, due, strict=True):
        if "rule" not in of_books:
            assert line.pop("rule").startswith("649a."), line


class HeldFloor(RuleBasedStateMachine):
    """Floor whose replies and balances are compared with the second books after each event."""

    url: ClassVar[str]
    floor: ClassVar[ModelFloor] = POKER
    archives: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.home = TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None)
        self.patch = pytest.MonkeyPatch()
        self.runner = asyncio.Runner()
        self.books = self.floor.second_books()
        self.sent: list[tuple[str, bytes]] = []
        self.rounds: defaultdict[str, int] = defaultdict(int)
        self.promoting = timedelta()
        self.versions: dict[str, tuple[int, int]] = {}
        self.redis = Redis.from_url(self.url)
        self.near = Near()
        self.pit = Pit(
            self.redis, self.floor.text, workers=len(WORKERS),
            hidden=HiddenValues([SECRET], self.near.below),
        )  # fmt: skip
        self.books.hidden = self._hidden
        self.values: dict[tuple[str, int], int] = {}
        self.days = Days(self.pit)
        # The ledger has the time of Redis, and a store that is rebuilt has the day of its entries.
        self.days.clock.now = now()

    def _hidden(self, meter: str, cycle: int) -> int:
        """Return a hidden value: opened in the ledger, or else the present one."""
        if (meter, cycle) not in self.values:
            self.values[meter, cycle] = self._read_hidden(meter, cycle)
        return self.values[meter, cycle]

    def _read_hidden(self, meter: str, cycle: int) -> int:
        for entry in self.runner.run(self.pit.entries()):
            if entry["kind"] == "hidden_value":
                drawn = HIDDEN_VALUE_DRAWN.decode(entry["event"])
                if (drawn.meter, drawn.cycle) == (meter, cycle + 1) and drawn.opened:
                    return drawn.opened.micros
        (state,) = self.runner.run(self.pit.store.hidden_states([meter]))
        assert state.cycle == cycle
        return self.pit.store.hidden_values.read(meter, cycle, state.sealed).micros

    @initialize(seed=st.integers(0, 2**32))
    def open(self, seed: int) -> None:
        self.near.chance = Chance(seed)
        self.patch.setattr(meters.intake.bonus_draws, "secrets", self.near.chance)
        for module in (
            meters.store.link_store,
            meters.store.link_reader,
            meters.ledger.redis_layout,
            meters.audit.table_audit,
        ):
            self.patch.setattr(module, "REPLIES_KEPT", REPLIES_KEPT)
        self.runner.run(self._open())

    async def _open(self) -> None:
        await self.redis.flushall()
        await self.pit.open()
        if self.pit.floor.games.digests:
            self.books.tallies["approvals"] += 1
            self.books.entries += 1
        await self.days.open()

    def teardown(self) -> None:
        try:
            self.runner.run(self.redis.aclose())
        finally:
            self.runner.close()
            self.home.cleanup()
            self.patch.undo()

    def _send(self, table: str, payload: bytes, worker: int) -> None:
        verdict = self.books.judge(table, payload)
        reply = self._repeat_until_answered(table, payload, worker)
        self._hold(table, payload, verdict, reply)

    def _repeat_until_answered(self, table: str, payload: bytes, worker: int) -> bytes:
        """Send an event; once more if a worker that remembers another round gave no answer."""
        for _ in range(2):
            reply = self.runner.run(self.pit.send(table, payload, worker=worker))
            if reply is not None:
                return reply
        raise AssertionError(f"{payload!r} of {table} was not answered twice")

    def _hold(self, table: str, payload: bytes, verdict: Verdict, reply: bytes) -> None:
        if verdict.status == "again":
            assert reply == verdict.reply, (reply, verdict)
            return
        said, event = json.loads(reply), json.loads(payload)
        assert said["seq"] == event["seq"]
        assert said["status"] == verdict.status, (reply, verdict)
        if verdict.status == "out_of_order":
            assert said == {
                "seq": event["seq"], "status": "out_of_order", "expected": verdict.expected,
            }  # fmt: skip
            return
        if verdict.status == "refused":
            assert said["error"]["code"] == verdict.code, (reply, verdict)
            if verdict.code in {"seq_reused", "seq_passed"}:
                return
        else:
            self._book(table, event, said)
        self.books.note(table, payload, reply)
        self.sent.append((table, payload))

    def _book(self, table: str, event: dict[str, Any], said: dict[str, Any]) -> None:
        match event["type"]:
            case "wagers":
                self._check_draw(table, event, said["draw"])
                assert said.get("claims", []) == self.books.lay(table, event, said["draw"])
            case "correct_wager":
                assert said["draw"] == self.books.tables[table].draw
                assert said.get("claims", []) == self.books.correct(table, event)
            case "void":
                assert said.keys() == {"seq", "status"}
                self.books.void(table)
            case _:
                settling = Settling(self.books, table, event)
                settling.run()
                _check_rules(said["lines"], settling.lines)
                assert said["lines"] == settling.lines, (said["lines"], settling.lines)
                assert said["claims"] == settling.claims
                assert said.get("link_share") == (settling.link_share if settling.on_link else None)

    @staticmethod
    def _check_draw(table: str, event: dict[str, Any], draw: dict[str, Any] | None) -> None:
        made = any("hand_bonus" in wager for bet in event["positions"] for wager in bet["wagers"])
        assert (draw is not None) == made
        if draw is not None:
            places = 7 if table == "T-1" else 6
            assert draw["lucky_position"] in (None, "dealer", *range(1, places + 1))
            assert draw["magic_card"] is None or draw["magic_card"][0] in "23456789TJQKA"

    @invariant()
    def check(self) -> None:
        """Compare everything after each step. A machine that compares other things overrides it."""
        self.audit_balances()  # it says the most about a difference
        self.balances_are_those_of_the_second_books_to_the_micro()
        self.each_claim_is_in_one_state()
        self.meters_are_as_the_second_books_have_them()

    def balances_are_those_of_the_second_books_to_the_micro(self) -> None:
        snapshot = self.runner.run(self.pit.store.snapshot())
        assert sum(snapshot.accounts.values()) == 0
        held = {name: micros for name, micros in snapshot.accounts.items() if micros}
        assert held == self.books.micros()
        counted = {name: count for name, count in snapshot.tallies.items() if count}
        assert counted == {name: count for name, count in self.books.tallies.items() if count}
        assert snapshot.last_entry == self.books.entries

    def meters_are_as_the_second_books_have_them(self) -> None:
        for state in self.runner.run(self.pit.store.state()).meters:
            assert state.cycle == self.books.cycles[state.meter]
            assert state.pending == self.books.pending(state.meter)
            assert state.amount_cents == self.books.held(state.meter) // 1
            version, amount_cents = self.versions.get(state.meter, (0, 0))
            assert state.version >= version
            assert state.version > version or state.amount_cents == amount_cents
            self.versions[state.meter] = (state.version, state.amount_cents)

    def each_claim_is_in_one_state(self) -> None:
        ids = list(self.books.claims)
        stored = self.runner.run(self.pit.store.claims(ids))
        found = [
            (
                one["state"], int(one["amount"]), int(one["after"]),
                int(one.get("request_entry", 0)), _slip(one),
            )
            for one in stored
        ]  # fmt: skip
        assert found == [
            (
                claim.state, claim.cents, claim.after_cents,
                claim.request.entry if claim.request else 0, claim.slip,
            )
            for claim in self.books.claims.values()
        ]  # fmt: skip
        waiting = [row.claim for row in self.runner.run(self.pit.claims.waiting())]
        assert sorted(waiting) == sorted({*self.books.waiting(), *self.books.waiting_envy()})

    def audit_balances(self) -> None:
        finding = self.runner.run(self.pit.audit())
        assert finding.problems == (), finding.problems
        tallies = self.books.tallies
        for net, gross, voided in (
            (finding.totals.wagers, "wagers", "voided_wagers"),
            (finding.totals.wagered_cents, "wagered_cents", "voided_cents"),
        ):
            assert net == sum(
                tallies[f"{gross}:{meter}"] - tallies[f"{voided}:{meter}"]
                for meter in self.books.meters
            )
