"""The agent of one table: it connects the devices with the service, also through failures."""

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
"""Number of hello replies that must agree, because a single one may arrive after a newer reply."""
_CANCEL_AGAIN_S: Final = 1.5
_UNDECIDED_HELLOS: Final = 5
"""Factor by which hellos are less frequent while only Envy Bonuses, or claims that do not hold the
table, wait."""
_USUAL: Final = Timing()
_WITHDRAWN: Final = DeviceAnswer(
    event=None,
    ok=False,
    error=ErrorDetail(code="withdrawn", message="the correction request was withdrawn"),
)


class _DeviceLine:
    """A line of a device, and the future for its answer.

    `patient` is true if the device waits for its answer until a floorperson has decided.
    """

    def __init__(self, line: bytes, *, patient: bool = True) -> None:
        self.line = line.strip()
        self.patient = patient
        self.answer: asyncio.Future[DeviceAnswer] = asyncio.get_running_loop().create_future()


class Agent:
    """The agent of one table; it works while its context is open.

    One task handles device lines and messages one after the other, and only this task changes the
    table (except for `RoundDone`). A second task keeps the connection. A third task checks the
    heartbeat, publishes the status and sends hellos.

    `broker` is the broker's address, or a function that returns it before each connection.

    Attributes:
        layout: layout of the table.
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
        # None means that a hello reply was received.
        self._inbox: asyncio.Queue[_DeviceLine | Jackpot | None] = asyncio.Queue()
        # Messages that are handled while the table is held; None means a hello reply.
        self._finals: asyncio.Queue[Jackpot | None] = asyncio.Queue()
        self._asked = 0
        # Lines to handle after the correction request, and the line that waits for its decision.
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
        """Open the outbox and continue in the table's last state (duty D11).

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
            # The group must see a cancellation, which may be its own. It would wrap other errors.
            if isinstance(error, asyncio.CancelledError):
                await self._group.__aexit__(kind, error, trace)
            else:
                await self._group.__aexit__(None, None, None)
        finally:
            await self._writer.close()

    async def _end_tasks(self) -> None:
        """Cancel the tasks repeatedly until they end.

        Before Python 3.12, `asyncio.wait_for` may lose a cancellation if its result arrives at the
        same moment. The MQTT client uses it.
        """
        while alive := [task for task in self._tasks if not task.done()]:
            for task in alive:
                task.cancel()
            await asyncio.wait(alive, timeout=_CANCEL_AGAIN_S)

    @property
    def table_state(self) -> TableState:
        """Present state of the table."""
        return self._writer.state

    @property
    def state(self) -> str:
        """State of the table for displays: its phase, or ``locked_out`` without a live link.

        ``events_lost`` means that the service does not have events that it answered. The table's
        status reports it.
        """
        if self._behind >= _BEHIND_SURE:
            return "events_lost"
        phase = self._writer.state.phase
        if phase is Phase.OPEN and self.fault() is not None:
            phase = Phase.LOCKED_OUT
        return phase.value

    @property
    def unanswered(self) -> str | None:
        """The device event whose answer waits for the service, such as lockout; or None."""
        return self._writer.awaiting

    @property
    def meter_values(self) -> Mapping[str, MeterValue]:
        """Balances of the table's meters by id; empty while they may not be current."""
        if not self._delivery.connected or self.fault() is not None:
            return {}
        return self._delivery.meter_values.values

    @property
    def stats(self) -> AgentStats:
        """Present figures of the agent, for monitoring."""
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
        """Return why no new progressive wager may be accepted now (duty D13), or None."""
        if self._behind >= _BEHIND_SURE:
            return events_lost()
        fault = self._delivery.heartbeat.fault(asyncio.get_running_loop().time())
        if fault is None and not self._acquainted:
            return DeviceRefusal(
                "link_down", "the service has not confirmed this table's state yet"
            )
        return fault

    async def handle(self, line: bytes) -> DeviceAnswer:
        """Handle one device event, a line of JSON, and return the answer.

        A wager is answered immediately. `lockout`, `settle` and `void` wait for the service without
        a time limit. While the table is held, all events wait. If the caller stops waiting, the
        event still continues. A correction that a floorperson must confirm is answered after it was
        applied, refused or withdrawn; until then, all other events wait. After a start, a device
        repeats its last line if it received no answer. So the first line that equals the last line
        before the start receives the stored answer.
        """
        return await self._put(_DeviceLine(line))

    async def _put(self, request: _DeviceLine) -> DeviceAnswer:
        self._asked += 1
        self._inbox.put_nowait(request)
        return await request.answer

    async def handle_at_once(self, line: bytes) -> DeviceAnswer:
        """Handle one device event now, or refuse it with ``held`` or ``busy``.

        Unlike with `handle`, a touch cannot take effect later, when the person no longer watches. A
        correction that a floorperson must confirm is answered ``unconfirmed``; until the decision,
        the table accepts only its withdrawal. A `RoundDone` event is always handled immediately, so
        a payment that was made is not requested again.
        """
        event = _read(line)
        if isinstance(event, RoundDone):
            return await self._writer.tick_off(event)
        if self._writer.state.phase is Phase.HELD:
            return refused(line, DeviceRefusal(HELD, HELD_TOLD))
        if self._writer.state.asking is not None and isinstance(event, CorrectionWithdrawn):
            # It is also accepted while a repeat waits for the service, and handled after its reply.
            return await self._put(_DeviceLine(line, patient=False))
        if self._writer.state.asking is not None:
            return refused(line, DeviceRefusal(UNCONFIRMED, ASKED))
        if self._asked or self._writer.pending is not None:
            return refused(
                line, DeviceRefusal("busy", "the table is still busy with the previous event")
            )
        return await self._put(_DeviceLine(line, patient=False))

    async def wait_for_status(self, within_s: float) -> None:
        """Wait until the controller has sent the link's state once, at most `within_s` seconds.

        Do not wait longer if the link is closed or inoperable: an open round must continue.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._told.wait()

    async def wait_live(self, within_s: float | None = None) -> bool:
        """Wait until progressive wagers can be accepted; return False after `within_s` seconds."""
        try:
            async with asyncio.timeout(within_s):
                await self._live.wait()
        except TimeoutError:
            return False
        return True

    def on_hello(self, hello: HelloReply) -> None:
        """Handle a hello reply: the service's knowledge of the table."""
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
        """Count a sign that the service lost events: it expects one that it has answered."""
        self._behind += 1
        if self._behind == _BEHIND_SURE:
            self._log.error("events lost", expected=expected)

    def on_jackpot(self, jackpot: Jackpot) -> None:
        """Handle a message about a win at this table."""
        state = self._writer.state
        if state.phase is Phase.HELD:
            self._finals.put_nowait(jackpot)
        elif state.claims_wait or envy_owed_under(jackpot.claim) is not None:
            self._inbox.put_nowait(jackpot)

    def on_answer(self, answer: DeviceAnswer) -> None:
        """Observe the answer to a device event; subclasses may override it.

        A correction that a floorperson confirms has two answers: ``unconfirmed`` and the last one.
        """

    async def _work(self) -> None:
        """Handle lines and messages one at a time; while the table is held, only messages."""
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
        """Return the next line or message.

        Raises:
            TimeoutError: it is time to repeat the correction request.
        """
        if self._writer.state.asking is None:
            return self._put_off.popleft() if self._put_off else await self._inbox.get()
        async with asyncio.timeout_at(self._try_due_s):
            return await self._inbox.get()

    async def _answer(self, request: _DeviceLine) -> None:
        answer = await self._writer.handle(request.line, self.fault)
        self.on_answer(answer)
        if not answer.ok and self._writer.state.phase is not Phase.OPEN:
            self._hello_due_s = 0.0  # the service may have another open round than this table
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
            self.on_answer(answer)
            self._end_waiting(answer)

    def _end_waiting(self, answer: DeviceAnswer) -> None:
        """Answer the line that waits for a floorperson if there is no correction request now."""
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
        """Check the heartbeat, publish the status when it changes, and send hellos when needed."""
        loop = asyncio.get_running_loop()
        reported: tuple[int, str] | None = None
        lived = False
        while True:
            fault = self.fault()
            lives = self._delivery.heartbeat.fault(loop.time()) is None
            if lives and not lived:
                # The store may have lost events, and the service did not receive earlier hellos.
                self._hello_due_s = 0.0
            lived = lives
            if fault is None:
                self._live.set()
            else:
                self._live.clear()
            if fault is None or fault.code != "link_down":
                self._told.set()
            # If the connection was lost since the last check, the broker published the last will.
            # So the status must be published again after each connection.
            now = (self._delivery.connections, self.state)
            if reported != now and await self._delivery.tell_status(now[1]):
                reported = now
            if self._wants_hello() and loop.time() >= self._hello_due_s:
                every = _UNDECIDED_HELLOS if self._merely_undecided else 1
                self._hello_due_s = loop.time() + self._timing.hello_every_s * every
                await self._delivery.say_hello()
            await asyncio.sleep(self._timing.watch_every_s)

    def _wants_hello(self) -> bool:
        """Return whether to send hellos to the service.

        While a claim is undecided or holds the table, or an Envy Bonus is unpaid, a hello brings
        the decisions again. So a lost message or a killed agent does not make them wait forever.
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
    """Return the event of a line, or None if the line is not valid."""
    try:
        return parse_event(line)
    except DeviceRefusal:
        return None
