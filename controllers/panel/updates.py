"""What keeps every tablet of a panel current: the whole view, each time that it has changed."""

import asyncio
from typing import Final, Self

import msgspec

from controllers.agent.agent import Agent
from controllers.panel.table_view import view_table

LOOK_EVERY_S: Final = 0.1
"""Faults come with time as much as with events, so the table is looked at again and again."""

HEARTBEAT_EVERY_S: Final = 1.0
"""A page that hears nothing for a few of these no longer shows its numbers."""

STREAMS_MAX: Final = 32

_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"
_encoder: Final = msgspec.json.Encoder()


class PanelUpdates:
    """The current view of one table, as bytes.

    Attributes:
        streams: how many tablets follow it.
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
        """The view of this moment, as JSON."""
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
        """Look at the table until cancelled."""
        while True:
            self.refresh()
            await asyncio.sleep(LOOK_EVERY_S)

    def refresh(self) -> None:
        """Look at the table now; whoever follows is told where it has changed."""
        view = self.view
        if view != self._view:
            self._view = view
            self._wake()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def next_after(self, seen: bytes) -> bytes | None:
        """The view once it is another than `seen`, or `seen` where none came; None at the end."""
        if self._view == seen and not self._closed:
            changed = self._changed
            try:
                async with asyncio.timeout(HEARTBEAT_EVERY_S):
                    await changed.wait()
            except TimeoutError:
                return seen
        return None if self._closed else self._view


class ViewStream:
    """The view as server-sent events: `page` first, then `view` and, in silence, `heartbeat`.

    Only the last view is sent, however many came meanwhile: a slow tablet falls behind in time but
    not in memory.
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
