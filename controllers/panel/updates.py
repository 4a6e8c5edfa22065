"""Updates of all tablets of a panel: the complete view after each change."""

import asyncio
from typing import Final, Self

import msgspec

from controllers.agent.agent import Agent
from controllers.panel.table_view import view_table

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
