"""Event stream of the display state: server-sent events in the format of the public contract."""

import asyncio
from typing import Final, Self

import msgspec

from meters.displays.display_state import DisplayRow, DisplayUpdates, JackpotRow, LinkRow, MeterRow

HEARTBEAT_S: Final = 5.0
"""Seconds without an event after which a comment is sent. If the comment cannot be sent, the reader
is gone."""

HEARTBEAT: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    # If a proxy buffered the events, no meter would be current.
    "X-Accel-Buffering": "no",
    "Cache-Control": "no-store, no-transform",
}
_EVENTS: Final[dict[type[DisplayRow], bytes]] = {
    MeterRow: b"meter",
    LinkRow: b"controller",
    JackpotRow: b"jackpot",
}


class EventStream:
    """Updates of the display state as the bytes of server-sent events.

    The first event is ``page``, with the version of the pages. A page from before an upgrade has
    another version. From this event, such a page knows that it is outdated. The current state
    follows, then the changes. Each meter, controller and jackpot has its own event.

    The reader gets the stream in parts. Each part has all changes since the last part was read. So
    a slow reader gets later data, and needs no more memory.
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
    """Return the bytes of one server-sent event."""
    return b"event: " + event + b"\ndata: " + data + b"\n\n"
