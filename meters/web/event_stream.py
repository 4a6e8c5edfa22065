"""Event stream of the display state: server-sent events in the format of the public contract."""

import asyncio
from typing import Final, Self

import msgspec

from meters.displays.display_state import BoardRow, DisplayUpdates, JackpotRow, LinkRow, MeterRow

HEARTBEAT_S: Final = 5.0
"""Silence after which a comment is sent, so readers that are gone are detected."""

HEARTBEAT: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    # A proxy that buffers events would make every meter stale.
    "X-Accel-Buffering": "no",
    "Cache-Control": "no-store, no-transform",
}
_EVENTS: Final[dict[type[BoardRow], bytes]] = {
    MeterRow: b"meter",
    LinkRow: b"controller",
    JackpotRow: b"jackpot",
}


class EventStream:
    """Updates of the display state as bytes: one event for each meter, controller and jackpot.

    The first event is ``page``, the version of the pages. A page that was open before an upgrade
    sees by it that it is outdated. The current state follows, then the changes.

    Each part has everything that changed since the reader read the last one, so a slow reader gets
    later data but needs no more memory.
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
    """Return one server-sent event."""
    return b"event: " + event + b"\ndata: " + data + b"\n\n"
