"""The event stream: the board as server-sent events, in the words of the public contract."""

import asyncio
from typing import Final, Self

import msgspec

from meters.displays.display_state import BoardRow, DisplayUpdates, JackpotRow, LinkRow, MeterRow

HEARTBEAT_S: Final = 5.0
"""After so many silent seconds a comment goes out: it finds the readers that are gone."""

HEARTBEAT: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    # A proxy that gathers events before it passes them on would make every meter stale.
    "X-Accel-Buffering": "no",
    "Cache-Control": "no-store, no-transform",
}
_EVENTS: Final[dict[type[BoardRow], bytes]] = {
    MeterRow: b"meter",
    LinkRow: b"controller",
    JackpotRow: b"jackpot",
}


class EventStream:
    """A watch of the board as bytes: an event each for a meter, a controller, a jackpot.

    The first is ``page``: the version of the pages, by which a page that has been open since
    before an upgrade knows that it is outdated. What is current follows, then what changes.

    Each part holds everything that changed since the reader took the last, so a slow reader falls
    behind in time but not in memory.
    """

    def __init__(self, watch: DisplayUpdates, page_version: str) -> None:
        self._watch = watch
        self._first = frame(b"page", msgspec.json.encode({"version": page_version}))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                rows = await anext(self._watch)
        except TimeoutError:
            return HEARTBEAT
        first, self._first = self._first, b""
        return first + b"".join(frame(_EVENTS[type(row)], msgspec.json.encode(row)) for row in rows)


def frame(event: bytes, data: bytes) -> bytes:
    """One server-sent event."""
    return b"event: " + event + b"\ndata: " + data + b"\n\n"
