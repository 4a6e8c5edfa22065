"""Traffic with the tablets of a panel: their touches, and the view after each change."""

import asyncio
from typing import Final, Self

import msgspec
from msgspec.structs import replace

from controllers.agent.agent import Agent
from controllers.panel.table_view import view_table
from controllers.table.device_events import (
    BettingLocked,
    DeviceAnswer,
    DeviceEvent,
    DeviceRefusal,
    Retracted,
    RoundDone,
    SettlePressed,
    VoidPressed,
    encode_event,
    parse_event,
    refused,
)

ANSWER_WITHIN_S: Final = 4.0
"""When the tablet is told that the service has not answered yet.

The event of the touch remains valid.
"""


class PanelEvents:
    """Sends a panel's touches to the agent.

    While another event waits, a touch is refused, so it never takes effect later; but a `RoundDone`
    event is accepted at any time.
    """

    def __init__(self, agent: Agent, within_s: float = ANSWER_WITHIN_S) -> None:
        self._agent = agent
        self._within_s = within_s
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Task[DeviceAnswer]] = set()

    async def submit(self, line: bytes) -> DeviceAnswer | None:
        """Answer one device event; None if it is accepted but not answered in time."""
        if refusal := _needs_reason(line):
            return refused(line, refusal)
        line = _asking(line)
        if isinstance(_read(line), RoundDone):
            return await self._tick_off(line)
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._within_s
        try:
            async with asyncio.timeout_at(until_s):
                await self._turn.acquire()
        except TimeoutError:
            return refused(
                line, DeviceRefusal("busy", "the service has not answered the previous event yet")
            )
        task = asyncio.create_task(self._handle(line), name="touch")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task}, timeout=max(until_s - loop.time(), 0.0))
        return task.result() if task.done() else None

    async def _tick_off(self, line: bytes) -> DeviceAnswer | None:
        task = asyncio.create_task(self._agent.handle_at_once(line), name="tick")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task}, timeout=self._within_s)
        return task.result() if task.done() else None

    async def _handle(self, line: bytes) -> DeviceAnswer:
        try:
            if refusal := self._unseen_settlement(line):
                return refused(line, refusal)
            return await self._agent.handle_at_once(line)
        finally:
            self._turn.release()

    def _unseen_settlement(self, line: bytes) -> DeviceRefusal | None:
        """Refuse a lock-out that the dealer touched before they saw a settlement.

        A page that shows a settlement has no lock-out button. So the dealer had not seen the open
        one, and the lock-out would mark its payouts as paid.
        """
        settled = self._agent.table_state.settled
        if settled is None or not isinstance(_read(line), BettingLocked):
            return None
        message = (
            f"the settlement of round {settled.round} is open: pay it, and press Next round first"
        )
        return DeviceRefusal("settlement_open", message)

    def close(self) -> None:
        """Stop waiting for answers; the agent still completes accepted events."""
        for task in self._under_way:
            task.cancel()


def _needs_reason(line: bytes) -> DeviceRefusal | None:
    event = _read(line)
    if isinstance(event, Retracted) and event.takes_cards and not (event.reason or "").strip():
        return DeviceRefusal("reason_missing", "say why the cards are taken back")
    return None


def _read(line: bytes) -> DeviceEvent | None:
    """Return the event in a line; the agent reports the error of an invalid one."""
    try:
        return parse_event(line)
    except DeviceRefusal:
        return None


def _asking(line: bytes) -> bytes:
    event = _read(line)
    if isinstance(event, VoidPressed | SettlePressed):
        return encode_event(replace(event, confirm=True))
    return line


LOOK_EVERY_S: Final = 0.1
"""Interval of checks, because a fault can begin without an event."""

HEARTBEAT_EVERY_S: Final = 1.0
"""A page that misses several heartbeats hides its numbers."""

STREAMS_MAX: Final = 32

_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"
_encoder: Final = msgspec.json.Encoder()


class PanelUpdates:
    def __init__(self, agent: Agent, *, demonstration: bool) -> None:
        self._agent = agent
        self._demonstration = demonstration
        self._changed = asyncio.Event()
        self._view = b""
        self._closed = False
        self.streams = 0

    @property
    def view(self) -> bytes:
        agent = self._agent
        view = view_table(
            agent.layout,
            agent.table_state,
            fault=agent.fault(),
            values=agent.meter_values,
            unanswered=agent.unanswered,
            demonstration=self._demonstration,
        )
        return _encoder.encode(view)

    async def keep_current(self) -> None:
        while True:
            self.refresh()
            await asyncio.sleep(LOOK_EVERY_S)

    def refresh(self) -> None:
        view = self.view
        if view != self._view:
            self._view = view
            self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def next_after(self, seen: bytes) -> bytes | None:
        """Wait for a view that differs from `seen`, which is returned after `HEARTBEAT_EVERY_S`.

        None means that the streams are closed.
        """
        if self._view == seen and not self._closed:
            changed = self._changed
            try:
                async with asyncio.timeout(HEARTBEAT_EVERY_S):
                    await changed.wait()
            except TimeoutError:
                return seen
        return None if self._closed else self._view


class ViewStream:
    """Stream of server-sent events for one tablet.

    First comes `page`, then a `view` after each change, and a `heartbeat` every second without one.
    A slow tablet receives only the latest view, so views do not accumulate in memory.
    """

    def __init__(self, feed: PanelUpdates, page_version: str) -> None:
        self._feed = feed
        self._seen = b""
        self._first = b'event: page\ndata: {"version":"%s"}\n\n' % page_version.encode()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        view = await self._feed.next_after(self._seen)
        if view is None:
            raise StopAsyncIteration
        if view == self._seen:
            return _HEARTBEAT
        self._seen = view
        first, self._first = self._first, b""
        return first + b"event: view\ndata: " + view + b"\n\n"
