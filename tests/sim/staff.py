"""Floorpersons and supervisors: they decide claims and close links at any moment, and err."""

import asyncio
from collections.abc import Sequence
from operator import attrgetter
from random import Random
from typing import Any, Final

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import AskRow
from meters.acts.meter_changes import Adjustment, ParameterChange
from meters.floor.floor_file import Link
from meters.ledger.link_state import Act, EnvyAct
from meters.ledger.table_corrections import AskAct
from tests.model.model_floor import Change, ModelFloor
from tests.model.pit import to
from tests.sim.checker import Checker
from tests.sim.service import SimulatedService
from tests.sim.world import World

NAMES: Final = ("ann", "bob", "cy")
_ACTS: Final[Sequence[Act]] = ("validate", "reject", "pay")
_ENVY_ACTS: Final[Sequence[EnvyAct]] = ("pay_envy", "pay_envy", "pay_envy", "reject_envy")
_ASK_ACTS: Final[Sequence[AskAct]] = (
    "confirm_correction", "confirm_correction", "refuse_correction",
)  # fmt: skip
_FIRST_ACTS: Final[Sequence[Act]] = ("validate", "validate", "validate", "reject")
_AS_IS_DUE: Final = 0.8
_BOTH: Final = 0.2
_REOPENS: Final = 0.2
_EVERY_S: Final = 0.7
_LINK_EVERY_S: Final = 15.0
_PATIENCE_S: Final = 60.0


class Staff:
    def __init__(
        self,
        world: World,
        link: Link,
        played: ModelFloor,
        services: Sequence[SimulatedService],
        checker: Checker,
    ) -> None:
        self._world = world
        self._link = link.id
        self._meters = [meter.meter_id for meter in link.hand_meters]
        self._changes = played.changes
        self._services = services
        self._checker = checker
        self._chance: Random = world.chance("staff")
        self._envy_chance: Random = world.chance("envy")
        self._ask_chance: Random = world.chance("asks")
        self._two_chance: Random = world.chance("two people")
        self.acts = 0

    async def decide(self) -> None:
        """Decide claims forever: mostly the act that is due next, at times another."""
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / _EVERY_S))
            states = self._checker.claims
            if not states:
                continue
            claim, act = self._chance.choice(list(states)), self._chance.choice(_ACTS)
            if (waiting := self._checker.books.waiting()) and self._chance.random() < _AS_IS_DUE:
                claim = self._chance.choice(waiting)
                act = "pay" if states[claim] == "validated" else self._chance.choice(_FIRST_ACTS)
            by = self._chance.choice(NAMES)
            slip = f"S-{claim.replace('.', '-')}" if self._chance.random() < 0.9 else "S-1"
            if await self._decide(claim, act, by, slip):
                # Somebody else can have confirmed the request before the answer comes.
                requested = ("request_reject",) if act == "reject" else ()
                self._check_recorded(claim, act, by, *requested)

    async def decide_by_two(self) -> None:
        chance = self._two_chance
        while True:
            await asyncio.sleep(chance.expovariate(1 / _EVERY_S))
            by, states = chance.choice(NAMES), self._checker.claims
            rejected = [claim for claim, state in states.items() if state == "rejected"]
            if (requests := self._checker.requests) and chance.random() < _AS_IS_DUE:
                claim = chance.choice(list(requests))
                what = f"{by} confirms {claim}"
                await self._ask(what, "_claims.confirm", claim, by, requests[claim])
            elif rejected and not self._world.weather.calm and chance.random() < _REOPENS:
                claim = chance.choice(rejected)
                what = f"{by} asks for {claim}"
                await self._ask(what, "_claims.request_reopening", claim, by, reason="misread")
            elif (slips := self._checker.slips) and chance.random() < _REOPENS:
                claim, slip = chance.choice(list(slips)), f"N-{chance.randrange(30)}"
                given = {"slip": slip, "replaces": slips[claim], "reason": "digits swapped"}
                what = f"{by} corrects {claim}"
                await self._ask(what, "_claims.correct_slip", claim, by, **given)

    async def settle_envy(self) -> None:
        while True:
            await asyncio.sleep(self._envy_chance.expovariate(1 / _EVERY_S))
            claims = self._checker.books.waiting_envy()
            if not claims or self._envy_chance.random() > _AS_IS_DUE:
                claims = list(self._checker.claims)
            if not claims:
                continue
            claim, by = self._envy_chance.choice(claims), self._envy_chance.choice(NAMES)
            act = self._envy_chance.choice(_ENVY_ACTS)
            what, given = f"{by} {act} {claim}", {"reason": "not due"}
            if await self._ask(what, "_claims.decide_envy", claim, act, by, **given):
                self._check_recorded(claim, act, by)

    async def decide_asks(self) -> None:
        chance = self._ask_chance
        while True:
            await asyncio.sleep(chance.expovariate(1 / _EVERY_S))
            if not self._checker.asking:
                continue
            rows: Sequence[AskRow] = await self._ask("looks", "_asks.asks") or ()
            for row in rows:
                self._checker.show_ask(row)
            if not rows:
                continue
            # Before they decide, the table may have withdrawn the request, or sent another.
            await asyncio.sleep(chance.uniform(0.0, 2 * _EVERY_S))
            row = chance.choice(rows)
            people = chance.sample(NAMES, 2 if chance.random() < _BOTH else 1)
            await asyncio.gather(*(self._decide_ask(row, by) for by in people))

    async def _decide_ask(self, row: AskRow, by: str) -> None:
        act = self._ask_chance.choice(_ASK_ACTS)
        what = f"{by} {act} {row.ask}"
        if await self._ask(what, "_asks.decide", row.ask, act, by, reason="deal on"):
            self._check_recorded(row.ask, act, by)

    async def _decide(self, claim: str, act: Act, by: str, slip: str) -> Any:  # noqa: ANN401
        envy_too, what = self._envy_chance.random() < 0.5, f"{by} {act} {claim}"
        if act == "reject":
            given = {"reason": "not one", "envy_not_due": envy_too}
            return await self._ask(what, "_claims.reject", claim, by, **given)
        due = {"envy_not_due": envy_too, "envy_paid": envy_too}
        paid = slip if act == "pay" else None
        return await self._ask(what, "_claims.decide", claim, act, by, slip=paid, **due)

    def _check_recorded(self, what: str, act: str, by: str, *or_act: str) -> None:
        """Check that an act reported as done is in the ledger, or one that can take its place."""
        if not any(
            entry["kind"] in {act, *or_act} and entry["by"] == by and f'"{what}"' in entry["event"]
            for entry in self._checker.entries
        ):
            self._world.fail(f"{act} {what} by {by} is reported as done: no such entry")

    async def keep_links(self) -> None:
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / _LINK_EVERY_S))
            if self._world.weather.calm:
                return
            by, other = self._chance.sample(NAMES, 2)
            if self._chance.random() < 0.5 or not self._changes:
                await self._adjust(self._chance.choice(self._meters), by, other)
            else:
                await self._close_and_change(self._chance.choice(self._changes), by, other)

    async def _adjust(self, meter: str, by: str, other: str) -> None:
        cents = self._chance.choice((-1, 1)) * self._chance.randint(1, 50_000)
        change = Adjustment(meter=meter, amount=cents, reason="malfunction")
        await self._propose(change, by, other)

    async def _close_and_change(self, change: Change, by: str, other: str) -> None:
        await self._ask(f"{by} closes", "_link_acts.close", self._link, by, "maintenance")
        await asyncio.sleep(self._chance.uniform(0.0, 12.0))
        value = self._chance.choice(change.values)
        await self._propose(to(change.meter, change.parameter, value), by, other)
        await self.reopen()

    async def _propose(self, change: ParameterChange | Adjustment, by: str, other: str) -> None:
        what = f"{by} proposes {change}"
        row = await self._ask(what, "_link_acts.propose", self._link, by, change)
        if row is None:
            return
        await asyncio.sleep(self._chance.uniform(0.0, 2.0))
        who = other if self._chance.random() < 0.8 else by
        what = f"{who} confirms {row.proposal}"
        await self._ask(what, "_link_acts.confirm", self._link, row.proposal, who)

    async def reopen(self) -> None:
        while not await self._ask("ann opens", "_link_acts.open", self._link, "ann"):
            await asyncio.sleep(1.0)
            standing = await self._ask("ann looks", "_link_acts.links")
            if standing and standing[0].state != "closed":
                return

    async def _ask(self, what: str, act: str, *given: object, **more: object) -> Any:  # noqa: ANN401
        """Ask a running service for an act; return None if it refused, died or did not answer."""
        running = [each for each in self._services if each.running is not None]
        if not running:
            return None
        service = self._chance.choice(running)
        assert service.running is not None
        task = service.ask(attrgetter(act)(service.running)(*given, **more))
        await asyncio.wait(
            {task, service.process.died}, timeout=_PATIENCE_S, return_when=asyncio.FIRST_COMPLETED
        )
        if not task.done():
            self._world.note(f"{what}: no answer")
            return None
        try:
            done = task.result()
        except ActError as error:
            self._world.note(f"{what}: {error.code}")
            return None
        except asyncio.CancelledError:
            return None
        self.acts += 1
        self._world.note(f"{what}: done")
        return done
