"""The agent of one table. It repeats each event until the service replies, so no event is lost."""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog

from controllers.agent.delivery import BrokerPlace, Connect, EventDelivery, Timing
from controllers.agent.table_writer import TableWriter
from controllers.table.device_events import (
    CorrectionWithdrawn,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    RoundDone,
    WagerWithdrawn,
    encode_event,
    name_of,
    refused,
)
from controllers.table.open_settlements import awaits_staff, envy_waits
from controllers.table.replies import events_lost, has_lost_events
from controllers.table.state import Layout, Phase, TableState
from controllers.table.transitions import ASKED, UNCONFIRMED
from meters.floor.floor_file import Link, Table
from meters.floor.game_files import GAME_NOT_IN_EFFECT, problem_now
from meters.wire.broker_client import BrokerClient
from meters.wire.messages import HELD, HELD_MESSAGE, ErrorDetail, HelloReply, Jackpot, MeterValue

_log: Final = structlog.get_logger(__name__)
_BEHIND_SURE: Final = 2
"""Number of consecutive signs after which the agent reports that the service lost events.

A sign is a reply that expects an event to which the service has already replied. One sign alone
proves nothing: a delayed hello reply can arrive after a newer reply.
"""
_CANCEL_AGAIN_S: Final = 1.5
_UNDECIDED_HELLOS: Final = 5
"""Hellos are this many times rarer while only two kinds of decisions are awaited: on Envy Bonuses,
and on claims that do not hold the table."""
_USUAL: Final = Timing()
_WITHDRAWN: Final = DeviceAnswer(
    event=None,
    ok=False,
    error=ErrorDetail(code="withdrawn", message="the correction request was withdrawn"),
)


@dataclass(frozen=True, slots=True)
class _DeviceLine:
    """A device's line. A `patient` line can wait for a floorperson's decision on a correction."""

    line: bytes
    patient: bool
    answer: asyncio.Future[DeviceAnswer]


class Agent:
    """The agent of one table. It runs while its `async with` block runs.

    It has three tasks. The first handles lines from devices and messages from the service, one
    after the other. No other task changes the state of the table, except for two events that
    `handle_at_once` handles immediately: `RoundDone` and, while a hand pay holds the table, the
    withdrawal of a wager. The second task keeps the agent connected to the broker. The third checks
    the service's heartbeat, publishes the table's status and sends hellos. A hello asks the service
    for the table's last event number and open round.

    If `broker` is a function, it is called before each connection. The date in the facility's
    `timezone` decides whether the game is in effect.
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
        require_all_hands: bool = False,
        timezone: str = "UTC",
    ) -> None:
        self.layout: Final = Layout.of(link, table, require_all_hands=require_all_hands)
        self._chapter = table.chapter
        self._timezone = timezone
        self._timing = timing
        meters = (meter.meter_id for meter in self.layout.meters)
        self.delivery: Final = EventDelivery(
            link.id, table.id, broker, self, timing, meters=meters, connect=connect
        )
        self.writer: TableWriter
        self._outbox_path = outbox_path
        self._log = _log.bind(link=link.id, table=table.id)
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        # In this queue, None means that a message of the service has arrived.
        self._inbox: asyncio.Queue[_DeviceLine | None] = asyncio.Queue()
        # Messages that are handled even while a hand pay holds the table. None means a hello reply.
        self._finals: asyncio.Queue[Jackpot | None] = asyncio.Queue()
        self._unanswered = 0
        # `_put_off` has the device lines that wait until the correction request has ended.
        # `_undecided` is the line that made the request and waits for the floorperson's decision.
        self._put_off: deque[_DeviceLine] = deque()
        self._undecided: _DeviceLine | None = None
        self._ask_due_s = 0.0
        self._hello: HelloReply | None = None
        self._hello_due_s = 0.0
        self._acquainted = False
        self._behind = 0
        self._live = asyncio.Event()
        self._status_known = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Open the outbox and restore the table's last state (duty D11).

        Raises:
            OutboxError: the outbox cannot be used.
        """
        self.writer = await TableWriter.open(self.layout, self._outbox_path, self.delivery.deliver)
        await self._group.__aenter__()
        self._tasks = [
            self._group.create_task(self.delivery.stay_connected(), name="delivery"),
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
            # A cancellation is passed to the task group, which can have caused it. Any other error
            # is not passed, because the group would wrap it in an exception group.
            if isinstance(error, asyncio.CancelledError):
                await self._group.__aexit__(kind, error, trace)
            else:
                await self._group.__aexit__(None, None, None)
        finally:
            await self.writer.close()

    async def _end_tasks(self) -> None:
        """Cancel the agent's tasks repeatedly until they end.

        Before Python 3.12, `asyncio.wait_for` in the MQTT client can lose a cancellation that
        arrives together with the awaited result.
        """
        while alive := [task for task in self._tasks if not task.done()]:
            for task in alive:
                task.cancel()
            await asyncio.wait(alive, timeout=_CANCEL_AGAIN_S)

    @property
    def table_state(self) -> TableState:
        return self.writer.state

    @property
    def state(self) -> str:
        """The state of the table on displays and in its status: a phase or ``events_lost``.

        An open table that cannot accept progressive wagers is ``locked_out``. ``events_lost`` means
        that the service has lost events to which it had replied.
        """
        if self._behind >= _BEHIND_SURE:
            return "events_lost"
        phase = self.table_state.phase
        if phase is Phase.OPEN and self.fault() is not None:
            phase = Phase.LOCKED_OUT
        return phase.value

    @property
    def unanswered(self) -> str | None:
        return self.writer.awaiting

    @property
    def waiting(self) -> int:
        return self._inbox.qsize()

    @property
    def meter_values(self) -> Mapping[str, MeterValue]:
        """Values by meter id, without values in doubt.

        The mapping is empty while the broker is not connected, or while a fault stops new
        progressive wagers.
        """
        if not self.delivery.connected or self.fault() is not None:
            return {}
        return self.delivery.meter_values.values

    def fault(self) -> DeviceRefusal | None:
        """Return the fault that stops new progressive wagers now, or None (duty D13)."""
        if self._behind >= _BEHIND_SURE:
            return events_lost()
        if self.delivery.too_long is not None:
            return self.delivery.too_long
        fault = self.delivery.heartbeat.fault(asyncio.get_running_loop().time())
        if fault is not None:
            return fault
        if not self._acquainted:
            return DeviceRefusal(
                "link_down", "the service has not confirmed this table's state yet"
            )
        problem = problem_now(self._chapter, self._timezone)
        return DeviceRefusal(GAME_NOT_IN_EFFECT, problem) if problem else None

    async def handle(self, line: bytes) -> DeviceAnswer:
        """Handle one device event, a line of JSON, and return the answer.

        Events are answered one after the other. A wager needs no reply from the service. If an
        event such as `settle` is sent to the service, the answer waits for the service's reply,
        without a time limit. While a hand pay holds the table, all events wait. If the caller stops
        waiting, the agent still completes the event.

        If a floorperson must confirm a correction, the answer to the correction waits until the
        correction is applied, refused or withdrawn. Later lines wait too.

        After a restart of the agent, a device repeats its last unanswered line. If the first line
        after the restart is the same as the last line before the restart, the device gets the
        stored answer. But if the stored answer refuses any event except `lockout`, the line is
        handled as a new event.
        """
        return await self._put(line, patient=True)

    async def _put(self, line: bytes, *, patient: bool) -> DeviceAnswer:
        request = _DeviceLine(line.strip(), patient, asyncio.get_running_loop().create_future())
        self._unanswered += 1
        self._inbox.put_nowait(request)
        return await request.answer

    async def handle_at_once(self, event: DeviceEvent) -> DeviceAnswer:
        """Handle one device event now, or refuse it with ``held`` or ``busy``.

        A touch on the panel must not take effect later, when the dealer no longer watches. If a
        floorperson must confirm a correction, the answer is ``unconfirmed``. Until the decision,
        the table accepts only two events: the withdrawal of the request, and `RoundDone`.
        `RoundDone` reports payments of an earlier round, so that the panel does not ask for them
        twice.
        """
        held = self.table_state.phase is Phase.HELD
        asking = self.table_state.asking is not None
        if isinstance(event, RoundDone) or (held and isinstance(event, WagerWithdrawn)):
            return await self.writer.handle_alone(event)
        if held:
            refusal = DeviceRefusal(HELD, HELD_MESSAGE)
        elif asking and not isinstance(event, CorrectionWithdrawn):
            refusal = DeviceRefusal(UNCONFIRMED, ASKED)
        elif not asking and (self._unanswered or self.writer.pending is not None):
            refusal = DeviceRefusal("busy", "the table is still busy with the last touch")
        else:
            # While a repeated correction request waits for the service's reply, a withdrawal of the
            # request is accepted, and is handled after the reply.
            return await self._put(encode_event(event), patient=False)
        return refused(name_of(event), refusal)

    async def wait_for_status(self, within_s: float) -> None:
        """Wait at most `within_s` seconds until the service has sent the link's state.

        The wait also ends if the link is closed or inoperable, because an open round must continue.
        """
        await occurs(self._status_known, within_s)

    async def wait_live(self, within_s: float | None = None) -> bool:
        """Wait until progressive wagers can be accepted; return False after `within_s` seconds."""
        return await occurs(self._live, within_s)

    def on_hello(self, hello: HelloReply) -> None:
        pending = self.writer.pending is not None
        if has_lost_events(hello, last_seq=self.writer.last_seq, pending=pending):
            self.on_behind(hello.last_seq + 1)
        else:
            self._behind = 0
        if self.table_state.phase is Phase.HELD:
            self._finals.put_nowait(None)
        elif self._hello is None:
            self._inbox.put_nowait(None)
        self._hello = hello

    def on_behind(self, expected: int) -> None:
        """Count a reply that expects an event to which the service has already replied."""
        self._behind += 1
        if self._behind == _BEHIND_SURE:
            self._log.error("events lost", expected=expected)

    def on_jackpot(self, jackpot: Jackpot) -> None:
        """Queue a message about a win, in order of arrival.

        If a hit were handled after the rejection of the win, the win would seem to be reopened.
        """
        self._finals.put_nowait(jackpot)
        if self.table_state.phase is not Phase.HELD:
            self._inbox.put_nowait(None)

    def on_answer(self, answer: DeviceAnswer) -> None:
        """Receive the answer to a device event. Subclasses override this.

        If a floorperson must confirm a correction, the first answers are ``unconfirmed``.
        """

    async def _work(self) -> None:
        if self.writer.pending is not None:
            await self.writer.finish(self.writer.pending)
        while True:
            if self.table_state.phase is Phase.HELD or not self._finals.empty():
                await self._hear(await self._finals.get())
                continue
            try:
                request = await self._next()
            except TimeoutError:
                await self._ask_again()
                continue
            if request is None:
                await self._hear(None)
            elif self.table_state.asking is not None and request.patient:
                self._put_off.append(request)
            else:
                await self._answer(request)
            self._end_waiting(_WITHDRAWN)

    async def _next(self) -> _DeviceLine | None:
        """Return the next device line, or None for a message of the service.

        Raises:
            TimeoutError: the correction request must be repeated now.
        """
        if self.table_state.asking is None:
            return self._put_off.popleft() if self._put_off else await self._inbox.get()
        async with asyncio.timeout_at(self._ask_due_s):
            return await self._inbox.get()

    async def _answer(self, request: _DeviceLine) -> None:
        answer = await self.writer.handle(request.line, self.fault)
        self.on_answer(answer)
        if not answer.ok and self.table_state.phase is not Phase.OPEN:
            self._hello_due_s = 0.0  # perhaps the service has another open round
        self._unanswered -= 1
        if self.table_state.asking is not None:
            self._ask_due_s = asyncio.get_running_loop().time() + self._timing.ask_every_s
            if request.patient:
                self._undecided = request
                return
        if not request.answer.done():
            request.answer.set_result(answer)

    async def _ask_again(self) -> None:
        answer = await self.writer.ask_again()
        self._ask_due_s = asyncio.get_running_loop().time() + self._timing.ask_every_s
        if answer is not None:
            self.on_answer(answer)
            self._end_waiting(answer)

    def _end_waiting(self, answer: DeviceAnswer) -> None:
        request = self._undecided
        if request is None or self.table_state.asking is not None:
            return
        self._undecided = None
        if not request.answer.done():
            request.answer.set_result(answer)

    async def _hear(self, jackpot: Jackpot | None) -> None:
        try:
            if jackpot is not None:
                await self.writer.decide(jackpot)
                return
            hello, self._hello = self._hello, None
            if hello is not None and await self.writer.reconcile(hello):
                self._acquainted = True
        except sqlite3.Error:
            self._log.exception("outbox not written")

    async def _keep_watch(self) -> None:
        loop = asyncio.get_running_loop()
        reported: tuple[int, str] | None = None
        lived = False
        while True:
            fault = self.fault()
            lives = self.delivery.heartbeat.fault(loop.time()) is None
            if lives and not lived:
                # The service was down until now. Meanwhile, Redis can have lost events, and no
                # hello reached the service.
                self._hello_due_s = 0.0
            lived = lives
            if fault is None:
                self._live.set()
            else:
                self._live.clear()
            if fault is None or fault.code != "link_down":
                self._status_known.set()
            # When the connection is lost, the broker publishes that the table is offline (the last
            # will). So the status is published again after each new connection.
            now = (self.delivery.connections, self.state)
            if reported != now and await self.delivery.publish_status(now[1]):
                reported = now
            every = self._hello_every()
            if every is not None and loop.time() >= self._hello_due_s:
                self._hello_due_s = loop.time() + self._timing.hello_every_s * every
                await self.delivery.say_hello()
            await asyncio.sleep(self._timing.watch_every_s)

    def _hello_every(self) -> int | None:
        """Return the number of usual intervals until the next hello; None if none is needed.

        After a hello, the service repeats the floorpersons' decisions for this table. So a decision
        arrives even if its first message was lost. The table needs decisions while a claim is
        undecided or holds the table, and while a hand pay or an Envy Bonus is unpaid.
        """
        state = self.table_state
        if not self.delivery.connected:
            return None
        if not self._acquainted or self._behind > 0 or state.held:
            return 1
        waits = any(map(awaits_staff, state.shown)) or envy_waits(state)
        return _UNDECIDED_HELLOS if waits or self._hello_due_s == 0.0 else None


async def occurs(event: asyncio.Event, within_s: float | None) -> bool:
    try:
        async with asyncio.timeout(within_s):
            return await event.wait()
    except TimeoutError:
        return False
