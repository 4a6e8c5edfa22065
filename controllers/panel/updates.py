"""Updates of all tablets of a panel: the complete view after each change."""

import asyncio
from typing import Final, Self

import msgspec

from controllers.agent.agent import Agent
from controllers.panel.table_view import view_table

LOOK_EVERY_S: Final = 0.1
"""Seconds between two checks of the table.

The checks are needed because a fault can begin without an event.
"""

HEARTBEAT_EVERY_S: Final = 1.0
"""Seconds between heartbeats; a page that misses several of them hides its numbers."""

STREAMS_MAX: Final = 32

_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"
_encoder: Final = msgspec.json.Encoder()


class PanelUpdates:
    """Current view of one table, as JSON in bytes.

    Attributes:
        streams: number of tablets that receive the view.
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
        """Current view, as JSON."""
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
        """Check the table for changes until canceled."""
        while True:
            self.refresh()
            await asyncio.sleep(LOOK_EVERY_S)

    def refresh(self) -> None:
        """Check the table now; if the view has changed, send the view to all streams."""
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
        """Wait until the view differs from `seen`, and return the view.

        If the view does not change for `HEARTBEAT_EVERY_S` seconds, return `seen`. If the streams
        are closed, return None.
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

    The first event is `page`. A `view` event follows each change of the view. If there is no
    change, a `heartbeat` event is sent every second. A slow tablet receives only the latest view,
    so views do not accumulate in memory.
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
