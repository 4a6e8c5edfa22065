"""A table: an agent that dies and comes back, and a dealer who repeats unanswered events."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from bonus.cards import CARDS
from controllers.agent.agent import Agent
from controllers.agent.delivery import Connect
from controllers.agent.outbox import Outbox, OutboxError, Sent
from controllers.demo.dealer_bots import DealerBot
from controllers.table.device_events import (
    ChipsCounted,
    CorrectionWithdrawn,
    DeviceAnswer,
    DeviceEvent,
    HandRead,
    NoWinDeclared,
    Retracted,
    SettlePressed,
    VoidPressed,
    WagerCorrected,
    WagerWithdrawn,
    encode_event,
)
from controllers.table.state import Phase
from meters.floor.floor_file import Link, Table
from tests.sim.agent_reports import AgentReports, ends_betting
from tests.sim.disk import OutboxDisk
from tests.sim.loop import Process
from tests.sim.world import World

_BACK_S: Final = (0.1, 8.0)
_TOUCH_S: Final = 0.25
_VOIDS: Final = 0.03
_MISREAD: Final = 0.06
_DECLARES: Final = 0.1
_MISCOUNTS: Final = 0.25
_LIT: Final = 0.5
_ASKS: Final = 0.8
_WITHDRAWS: Final = 0.3
_WITHDRAW_EVERY_S: Final = 2.0
_JACKPOT_EVERY: Final = 3
_NO_URL: Final = "mqtt://simulated:1883"


class SimulatedTable:
    def __init__(
        self, world: World, link: Link, table: Table, connect: Connect, reports: AgentReports
    ) -> None:
        self.name = table.id
        self.outbox = world.home / f"{table.id}.sqlite"
        self.disk = OutboxDisk(world, self.outbox)
        self.disk.kill = self.kill
        self.agent: Agent | None = None
        self.rounds = 0
        self.answers = 0
        self._world = world
        self._link, self._table, self._connect = link, table, connect
        self._reports = reports
        self._chance = world.chance(f"table/{table.id}")
        self._correcting = world.chance(f"corrections/{table.id}")
        self._declaring = world.chance(f"declarations/{table.id}")
        self._miscounting = world.chance(f"miscounts/{table.id}")
        self.process = Process(world.loop, table.id, self.disk)
        self._main: asyncio.Task[None] | None = None
        self._working = asyncio.Event()
        self._bot: DealerBot | None = None
        self._over = False
        self.may_rest = self.resting = False

    def start(self) -> None:
        self.process = self.process.again(self.disk)
        self._main = self.process.spawn(self._run())

    async def _run(self) -> None:
        try:
            async with Agent(
                self._link, self._table, _NO_URL, self.outbox, connect=self._connect
            ) as agent:
                self.agent = agent
                self._working.set()
                await asyncio.Event().wait()
        except OutboxError as error:
            self._world.note(f"the agent ended: {error}")
            self._world.loop.outside(0.0, self.kill)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._world.fail(f"the agent of {self.name} ended: {error!r}")

    def kill(self) -> None:
        if self.process.alive and self._main is not None:
            self.process.kill()
            self.disk.crash()
            self._down()

    async def stop(self) -> None:
        process, main = self.process, self._main
        if process.alive and main is not None:
            main.cancel()
            await asyncio.wait({main, process.died}, return_when=asyncio.FIRST_COMPLETED)
            if process.alive:
                process.kill()
                self._down()

    @property
    def lost(self) -> bool:
        return self.disk.lost

    def history(self) -> Sequence[Sent]:
        """Return every event with its reply, from the outbox of an agent that has ended."""
        outbox = Outbox.open(self.outbox, self._link.id, self.name)
        try:
            return tuple(outbox.history())
        finally:
            outbox.close()

    async def close(self) -> None:
        self._over = True
        await self.stop()

    def _down(self) -> None:
        self._working.clear()
        self.agent = None
        self._main = None
        if not self._over:
            self._world.loop.outside(self._chance.uniform(*_BACK_S), self.start)

    async def say(self, event: DeviceEvent, *, at_once: bool = False) -> DeviceAnswer:
        """Send a device event until it is answered, even if the agent dies meanwhile.

        With `at_once` do what the panel does: do not wait for a floorperson.
        """
        line = encode_event(event)
        while True:
            await self._working.wait()
            agent, process = self.agent, self.process
            if agent is None:
                continue
            handling = agent.handle_at_once(event) if at_once else agent.handle(line)
            asked = self._world.loop.create_task(handling)
            both: list[asyncio.Future[Any]] = [asked, process.died]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                answer = asked.result()
                self.answers += 1
                self._world.note(f"{self.name} {line.decode()} -> {_short(answer)}")
                self._reports.answered(
                    self.name, event, answer, lost=self.disk.lost, shaken=self.disk.shaken
                )
                if ends_betting(event, answer):
                    self.disk.shaken = False
                return answer
            asked.cancel()
            self._world.note(f"{self.name} {line.decode()} had no answer")

    async def deal(self) -> None:
        while True:
            await self._clear()
            agent = self.agent
            self.resting = self.may_rest
            if self.resting or agent is None or not await agent.wait_live(1.0):
                await asyncio.sleep(_TOUCH_S)
                continue
            if self._bot is None:
                self._bot = DealerBot(agent.layout, self._chance, stack_every=_JACKPOT_EVERY)
            if await self._play(self._bot):
                self.rounds += 1

    async def _play(self, bot: DealerBot) -> bool:
        """Play a round; return False if the dealer abandoned it."""
        play = bot.play_round()
        event: DeviceEvent = next(play)
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / _TOUCH_S))
            if self._chance.random() < _VOIDS:
                return False
            if isinstance(event, HandRead) and self._correcting.random() < _MISREAD:
                await self._misread(event)
            if isinstance(event, ChipsCounted) and self._miscounting.random() < _MISCOUNTS:
                event = await self._correct_wager(event)
            answer = await self._enter(event)
            try:
                event = play.send(answer)
            except StopIteration:
                return answer.ok

    async def _enter(self, event: DeviceEvent) -> DeviceAnswer:
        if isinstance(event, HandRead) and self._declaring.random() < _DECLARES:
            answer = await self.say(NoWinDeclared(position=event.position))
            if answer.ok:
                return answer
        return await self.say(self._asking(event))

    async def _misread(self, event: HandRead) -> None:
        deck = agent.layout.rules.deck if (agent := self.agent) else CARDS
        cards = self._correcting.sample(deck.names, len(event.cards))
        if (await self.say(HandRead(position=event.position, cards=cards))).ok:
            await self.say(Retracted(what="hand", position=event.position, reason="typed wrong"))

    async def _correct_wager(self, event: ChipsCounted) -> ChipsCounted:
        agent, chance = self.agent, self._miscounting
        if agent is None or not agent.table_state.wagers:
            return event
        layout = agent.layout
        chips = [wager for wager in layout.rules.meters.terms if not layout.is_electronic(wager)]
        placed = chance.choice(agent.table_state.wagers)
        position, wager = placed.position, placed.wager
        if layout.is_electronic(wager) or chance.random() >= _LIT:
            wager = chance.choice([one for one in chips if layout.amount_cents(one)])
        lit = agent.table_state.lit_wager(position, wager)
        answer = await self.say(
            WagerCorrected(
                action="take_back" if lit else "add", position=position, wager=wager,
                reason="light without a chip" if lit else "chip without a light",
            )
        )  # fmt: skip
        return ChipsCounted(count=answer.chips) if isinstance(answer.chips, int) else event

    def _asking(self, event: DeviceEvent) -> DeviceEvent:
        """Return the event. If it corrects something, it mostly asks a floorperson."""
        if isinstance(event, SettlePressed | VoidPressed) and self._correcting.random() < _ASKS:
            return replace(event, confirm=True)
        return event

    async def withdraw(self) -> None:
        chance = self._correcting
        while True:
            await asyncio.sleep(chance.expovariate(1 / _WITHDRAW_EVERY_S))
            agent = self.agent
            if agent is None or agent.table_state.asking is None:
                continue
            if chance.random() < _WITHDRAWS:
                await self.say(CorrectionWithdrawn(), at_once=True)

    async def _clear(self) -> None:
        await self._working.wait()
        while (agent := self.agent) is None or agent.table_state.phase not in {
            Phase.OPEN,
            Phase.HELD,
        }:
            answer = await self.say(self._asking(VoidPressed(reason="misdeal")))
            if not answer.ok:
                await asyncio.sleep(1.0)
        for placed in agent.table_state.wagers:
            await self.say(WagerWithdrawn(position=placed.position, wager=placed.wager))

    @property
    def idle(self) -> bool:
        agent = self.agent
        return (
            agent is not None
            and agent.unanswered is None
            and agent.fault() is None
            and agent.table_state.phase is Phase.OPEN
        )

    @property
    def standing(self) -> str:
        agent = self.agent
        if agent is None:
            return f"{self.name} is down"
        fault = agent.fault()
        state = agent.table_state
        return (
            f"{self.name} {state.phase} {state.reason} unanswered {agent.unanswered},"
            f" held {state.held}, {fault.message if fault else 'live'}"
        )


def _short(answer: DeviceAnswer) -> str:
    if answer.ok:
        return "ok"
    return f"refused {getattr(answer.error, 'code', '')}"
