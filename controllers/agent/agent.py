"""The agent of one table: between its devices and the service, wherever either of them fails."""

import asyncio
import contextlib
import sqlite3
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog

from controllers.agent.delivery import BrokerPlace, Connect, EventDelivery, Timing
from controllers.agent.stats import AgentStats
from controllers.agent.table_writer import TableWriter
from controllers.table.device_events import (
    CorrectionWithdrawn,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    RoundDone,
    parse_event,
    refused,
)
from controllers.table.line_states import envy_waits
from controllers.table.replies import SequenceComparison, compare, events_lost
from controllers.table.state import Layout, Phase, TableState
from controllers.table.transitions import ASKED, UNCONFIRMED
from meters.floor.floor_file import Link, Table
from meters.wire.broker_client import BrokerClient
from meters.wire.envy_decisions import envy_owed_under
from meters.wire.holds import HELD, HELD_TOLD
from meters.wire.messages import ErrorDetail, HelloReply, Jackpot, MeterValue

_log: Final = structlog.get_logger(__name__)
_BEHIND_SURE: Final = 2
"""One hello may be overtaken by a reply; so many that say the same are believed."""
_CANCEL_AGAIN_S: Final = 1.5
_UNDECIDED_HELLOS: Final = 5
"""While nothing but a claim that holds nothing or an Envy Bonus waits, hellos are so many times as
rare."""
_USUAL: Final = Timing()
_WITHDRAWN: Final = DeviceAnswer(
    event=None,
    ok=False,
    error=ErrorDetail(code="withdrawn", message="the correction is no longer asked for"),
)


class _DeviceLine:
    """A line of a device, and where its answer goes.

    `patient` is whoever waits for its answer until a floorperson has decided.
    """

    def __init__(self, line: bytes, *, patient: bool = True) -> None:
        self.line = line.strip()
        self.patient = patient
        self.answer: asyncio.Future[DeviceAnswer] = asyncio.get_running_loop().create_future()


class Agent:
    """The agent of one table; it works from entry to exit.

    One task takes what comes in turn and alone has the table changed; another holds the
    connection; a third looks after the beat, the status and the hellos.

    `broker` is the broker's address, or what tells it anew before each connection.

    Attributes:
        layout: the table.
    """

    def __init__(
        self,
        link: Link,
        table: Table,
        broker: BrokerPlace,
        outbox_path: Path,
        *,
        timing: Timing = _USUAL,
        connect: Connect = BrokerClient,
    ) -> None:
        self.layout: Final = Layout.of(link, table)
        self._timing = timing
        meters = (meter.meter_id for meter in self.layout.meters)
        self._delivery = EventDelivery(
            link.id, table.id, broker, self, timing, meters=meters, connect=connect
        )
        self._writer = TableWriter(self.layout, outbox_path, self._delivery.deliver)
        self._log = _log.bind(link=link.id, table=table.id)
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        # None: a hello was heard.
        self._inbox: asyncio.Queue[_DeviceLine | Jackpot | None] = asyncio.Queue()
        # What is taken while the table is held; None: a hello was heard.
        self._finals: asyncio.Queue[Jackpot | None] = asyncio.Queue()
        self._asked = 0
        # What is taken once no floorperson is asked any more, and what waits for their decision.
        self._put_off: deque[_DeviceLine] = deque()
        self._undecided: _DeviceLine | None = None
        self._try_due_s = 0.0
        self._hello: HelloReply | None = None
        self._hello_due_s = 0.0
        self._acquainted = False
        self._behind = 0
        self._live = asyncio.Event()
        self._told = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Open the outbox and go on where the table was (duty D11).

        Raises:
            OutboxError: the outbox cannot be used.
        """
        await self._writer.open()
        await self._group.__aenter__()
        self._tasks = [
            self._group.create_task(self._delivery.stay_connected(), name="delivery"),
            self._group.create_task(self._work(), name="work"),
            self._group.create_task(self._keep_watch(), name="watch"),
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end_tasks()
        try:
            # The group must see a cancellation, which may be its own; it would wrap other errors.
            if isinstance(error, asyncio.CancelledError):
                await self._group.__aexit__(kind, error, trace)
            else:
                await self._group.__aexit__(None, None, None)
        finally:
            await self._writer.close()

    async def _end_tasks(self) -> None:
        """End the tasks; ask again, since `asyncio.wait_for` before Python 3.12 may lose a cancel.

        It does where what it waits for comes at the same moment, and the MQTT client waits so.
        """
        while alive := [task for task in self._tasks if not task.done()]:
            for task in alive:
                task.cancel()
            await asyncio.wait(alive, timeout=_CANCEL_AGAIN_S)

    @property
    def table_state(self) -> TableState:
        """The table as it stands."""
        return self._writer.state

    @property
    def state(self) -> str:
        """The table's state for displays: its phase, or ``locked_out`` without a live link.

        ``events_lost`` where the service does not know events that it answered: it is told so.
        """
        if self._behind >= _BEHIND_SURE:
            return "events_lost"
        phase = self._writer.state.phase
        if phase is Phase.OPEN and self.fault() is not None:
            phase = Phase.LOCKED_OUT
        return phase.value

    @property
    def unanswered(self) -> str | None:
        """The device event whose answer waits for the service: lockout, settle, void; or None."""
        return self._writer.awaiting

    @property
    def meter_values(self) -> Mapping[str, MeterValue]:
        """What the table's meters hold, by id; none while that is not known to be current."""
        if not self._delivery.connected or self.fault() is not None:
            return {}
        return self._delivery.meter_values.values

    @property
    def stats(self) -> AgentStats:
        """How it does at this moment, for whoever watches it."""
        delivery, writer = self._delivery, self._writer
        return AgentStats(
            connected=delivery.connected,
            connections=delivery.connections,
            playable=self.fault() is None,
            beat_age_s=delivery.heartbeat.age_s(asyncio.get_running_loop().time()),
            beats_missed=delivery.heartbeat.missed,
            state=self.state,
            unanswered=int(writer.pending is not None),
            unanswered_s=writer.unanswered_s(),
            waiting=self._inbox.qsize(),
            last_seq=writer.last_seq,
            outbox_bytes=writer.outbox_bytes(),
            deliveries=delivery.deliveries,
            accepted=writer.accepted,
        )

    def fault(self) -> DeviceRefusal | None:
        """Why no new progressive wager may be taken now (duty D13), or None."""
        if self._behind >= _BEHIND_SURE:
            return events_lost()
        fault = self._delivery.heartbeat.fault(asyncio.get_running_loop().time())
        if fault is None and not self._acquainted:
            return DeviceRefusal(
                "link_down", "the service has not yet said where this table stands"
            )
        return fault

    async def handle(self, line: bytes) -> DeviceAnswer:
        """Take one device event, a line of JSON, and answer it.

        A wager is answered at once; `lockout`, `settle` and `void` wait for the service, however
        long it takes; everything waits while the table is held. A caller that gives up changes
        nothing: the event takes its course. A correction that a floorperson must confirm is
        answered once it is applied, refused or withdrawn, and everything waits. The first line
        after a start that equals the last one taken before it gets that one's answer: a device
        repeats what it heard no answer to.
        """
        return await self._put(_DeviceLine(line))

    async def _put(self, request: _DeviceLine) -> DeviceAnswer:
        self._asked += 1
        self._inbox.put_nowait(request)
        return await request.answer

    async def handle_at_once(self, line: bytes) -> DeviceAnswer:
        """As `handle`, but what could not be taken up now is refused: ``held`` or ``busy``.

        So that nothing that a person pressed takes effect long after he has looked away. What a
        floorperson must confirm is answered ``unconfirmed``; the table's state says that it waits,
        and takes nothing but its withdrawal. What was done about a round before is taken at once,
        whatever waits, so that nothing that was paid is asked for again.
        """
        event = _read(line)
        if isinstance(event, RoundDone):
            return await self._writer.tick_off(event)
        if self._writer.state.phase is Phase.HELD:
            return refused(line, DeviceRefusal(HELD, HELD_TOLD))
        if self._writer.state.asking is not None and isinstance(event, CorrectionWithdrawn):
            # Also while a try waits for the service: it is taken as soon as that is answered.
            return await self._put(_DeviceLine(line, patient=False))
        if self._writer.state.asking is not None:
            return refused(line, DeviceRefusal(UNCONFIRMED, ASKED))
        if self._asked or self._writer.pending is not None:
            return refused(
                line, DeviceRefusal("busy", "the table is still busy with what came before")
            )
        return await self._put(_DeviceLine(line, patient=False))

    async def wait_for_status(self, within_s: float) -> None:
        """Wait until the controller has once said how the link stands, so many seconds at most.

        A round that is in hand is not kept waiting because the link is closed or inoperable.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._told.wait()

    async def wait_live(self, within_s: float | None = None) -> bool:
        """Wait until progressive wagers can be taken; False where that did not come in time."""
        try:
            async with asyncio.timeout(within_s):
                await self._live.wait()
        except TimeoutError:
            return False
        return True

    def on_hello(self, hello: HelloReply) -> None:
        """The service says where the table stands."""
        pending = self._writer.pending is not None
        if (
            compare(hello, last_seq=self._writer.last_seq, pending=pending)
            is SequenceComparison.BEHIND
        ):
            self.on_behind(hello.last_seq + 1)
        else:
            self._behind = 0
        if self._writer.state.phase is Phase.HELD:
            self._finals.put_nowait(None)
        elif self._hello is None:
            self._inbox.put_nowait(None)
        self._hello = hello

    def on_behind(self, expected: int) -> None:
        """The service expects an event that it has answered before."""
        self._behind += 1
        if self._behind == _BEHIND_SURE:
            self._log.error("events lost", expected=expected)

    def on_jackpot(self, jackpot: Jackpot) -> None:
        """Something became of a win at this table."""
        state = self._writer.state
        if state.phase is Phase.HELD:
            self._finals.put_nowait(jackpot)
        elif state.claims_wait or envy_owed_under(jackpot.claim) is not None:
            self._inbox.put_nowait(jackpot)

    async def _work(self) -> None:
        """Take what comes, one at a time; no line of a round is taken while the table is held."""
        if self._writer.pending is not None:
            await self._writer.finish()
        while True:
            if self._writer.state.phase is Phase.HELD or not self._finals.empty():
                final = await self._finals.get()
                await (self._reconcile() if final is None else self._decide(final))
                continue
            try:
                request = await self._next()
            except TimeoutError:
                await self._try_again()
                continue
            if request is None:
                await self._reconcile()
            elif isinstance(request, Jackpot):
                await self._decide(request)
            elif self._writer.state.asking is not None and request.patient:
                self._put_off.append(request)
            else:
                await self._answer(request)
            self._end_waiting(_WITHDRAWN)

    async def _next(self) -> _DeviceLine | Jackpot | None:
        """The next to be taken.

        Raises:
            TimeoutError: what a floorperson is asked for is due to be tried again.
        """
        if self._writer.state.asking is None:
            return self._put_off.popleft() if self._put_off else await self._inbox.get()
        async with asyncio.timeout_at(self._try_due_s):
            return await self._inbox.get()

    async def _answer(self, request: _DeviceLine) -> None:
        answer = await self._writer.handle(request.line, self.fault)
        if not answer.ok and self._writer.state.phase is not Phase.OPEN:
            self._hello_due_s = 0.0  # the service may hold another round than this table
        self._asked -= 1
        if self._writer.state.asking is not None:
            self._try_due_s = asyncio.get_running_loop().time() + self._timing.ask_every_s
            if request.patient:
                self._undecided = request
                return
        if not request.answer.done():
            request.answer.set_result(answer)

    async def _try_again(self) -> None:
        answer = await self._writer.try_again()
        self._try_due_s = asyncio.get_running_loop().time() + self._timing.ask_every_s
        if answer is not None:
            self._end_waiting(answer)

    def _end_waiting(self, answer: DeviceAnswer) -> None:
        """Answer the line that waited for a floorperson, once none is asked any more."""
        request = self._undecided
        if request is None or self._writer.state.asking is not None:
            return
        self._undecided = None
        if not request.answer.done():
            request.answer.set_result(answer)

    async def _decide(self, jackpot: Jackpot) -> None:
        try:
            await self._writer.decide(jackpot)
        except sqlite3.Error:
            self._log.exception("outbox not written")

    async def _reconcile(self) -> None:
        hello, self._hello = self._hello, None
        if hello is None:
            return
        try:
            if await self._writer.reconcile(hello):
                self._acquainted = True
        except sqlite3.Error:
            self._log.exception("outbox not written")

    async def _keep_watch(self) -> None:
        """Look after the beat, tell the status when it changes, say hello while that matters."""
        loop = asyncio.get_running_loop()
        reported: tuple[int, str] | None = None
        lived = False
        while True:
            fault = self.fault()
            lives = self._delivery.heartbeat.fault(loop.time()) is None
            if lives and not lived:
                # The store may have come back with less than it held; a hello before was not heard.
                self._hello_due_s = 0.0
            lived = lives
            if fault is None:
                self._live.set()
            else:
                self._live.clear()
            if fault is None or fault.code != "link_down":
                self._told.set()
            # A connection may be lost and found between two looks; its last will was told then.
            now = (self._delivery.connections, self.state)
            if reported != now and await self._delivery.tell_status(now[1]):
                reported = now
            if self._wants_hello() and loop.time() >= self._hello_due_s:
                every = _UNDECIDED_HELLOS if self._merely_undecided else 1
                self._hello_due_s = loop.time() + self._timing.hello_every_s * every
                await self._delivery.say_hello()
            await asyncio.sleep(self._timing.watch_every_s)

    def _wants_hello(self) -> bool:
        """Whether the service is to be asked where the table stands.

        While a claim is undecided or holds the table, or an Envy Bonus is not paid, the answer to a
        hello brings what became of it, so that a lost message or a killed agent never leaves it
        waiting.
        """
        return self._delivery.connected and (
            not self._acquainted
            or self._behind > 0
            or self._hello_due_s == 0.0
            or self._writer.state.phase is Phase.HELD
            or self._writer.state.claims_wait
            or envy_waits(self._writer.state)
        )

    @property
    def _merely_undecided(self) -> bool:
        state = self._writer.state
        return self._acquainted and state.phase is not Phase.HELD and self._behind == 0


def _read(line: bytes) -> DeviceEvent | None:
    """The event that a line is, or None where it is none."""
    try:
        return parse_event(line)
    except DeviceRefusal:
        return None
