"""Traffic with the tablets of a panel: their touches, and the view after each change."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from controllers.agent.agent import Agent, occurs
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
    name_in,
    name_of,
    parse_event,
    refused,
)

ANSWER_WITHIN_S: Final = 4.0
"""After this time, the tablet is told that the service has not replied. The event stays valid."""
LOOK_EVERY_S: Final = 0.1
"""Interval of checks for changes: a fault can begin without an event."""

HEARTBEAT_EVERY_S: Final = 1.0
"""Interval of heartbeats. A page that misses several of them hides its numbers."""

STREAMS_MAX: Final = 32

_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"
_encoder: Final = msgspec.json.Encoder()


class PanelEvents:
    """Sends a panel's touches to the agent.

    If the previous touch has no answer within `within_s` seconds, a touch is refused, so that it
    does not take effect much later. Only a `RoundDone` event never waits.
    """

    def __init__(self, agent: Agent, within_s: float = ANSWER_WITHIN_S) -> None:
        self._agent = agent
        self._within_s = within_s
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Task[DeviceAnswer]] = set()

    async def submit(self, line: bytes) -> DeviceAnswer | None:
        """Answer one device event; return None if it is accepted but not answered in time."""
        try:
            event = parse_event(line)
        except DeviceRefusal as refusal:
            return refused(name_in(line), refusal)
        if isinstance(event, Retracted) and event.takes_cards and not (event.reason or "").strip():
            why = DeviceRefusal("reason_missing", "say why the cards are taken back")
            return refused(name_of(event), why)
        if isinstance(event, VoidPressed | SettlePressed):
            event = replace(event, confirm=True)
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._within_s
        if isinstance(event, RoundDone):
            handling = self._agent.handle_at_once(event)
        else:
            try:
                async with asyncio.timeout_at(until_s):
                    await self._turn.acquire()
            except TimeoutError:
                message = "the service has not answered the last touch yet"
                return refused(name_of(event), DeviceRefusal("busy", message))
            handling = self._handle(event)
        task = asyncio.create_task(handling, name="touch")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait({task}, timeout=max(until_s - loop.time(), 0.0))
        return task.result() if task.done() else None

    async def _handle(self, event: DeviceEvent) -> DeviceAnswer:
        try:
            settled = self._agent.table_state.settled
            if settled is None or not isinstance(event, BettingLocked):
                return await self._agent.handle_at_once(event)
            # A page that shows a settlement has no lock-out button. So the dealer pressed the
            # button before they saw this settlement, and the lock-out would mark its payouts as
            # paid.
            reason = (
                f"the settlement of round {settled.round} is open: pay it, and press Next round"
                " first"
            )
            return refused(name_of(event), DeviceRefusal("settlement_open", reason))
        finally:
            self._turn.release()

    def close(self) -> None:
        """Stop waiting for answers. The agent still completes accepted events."""
        for task in self._under_way:
            task.cancel()


class PanelUpdates:
    """Sends the complete view to all tablets of a panel after each change.

    A slow tablet receives only the latest view, so views do not fill the memory.
    """

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

    async def stream(self, page_version: str, allowed: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield the server-sent events for one tablet while the tablet may see them.

        First come `page` and a `view`, then a `view` after each change. If nothing changes, a
        `heartbeat` comes every second.
        """
        seen = b""
        begin = b'event: page\ndata: {"version":"%s"}\n\n' % page_version.encode()
        self.streams += 1
        try:
            while True:
                if self._view == seen and not self._closed:
                    await occurs(self._changed, HEARTBEAT_EVERY_S)
                view = self._view
                if self._closed or not allowed():
                    return
                if view == seen:
                    yield _HEARTBEAT
                else:
                    yield begin + b"event: view\ndata: " + view + b"\n\n"
                seen, begin = view, b""
        finally:
            self.streams -= 1
