"""Event stream of the meters, links and jackpots: server-sent events, as the contract defines."""

import asyncio
from typing import Final, Self

import msgspec

from meters.displays.display_state import DisplayRow, DisplayUpdates, JackpotRow, LinkRow, MeterRow

HEARTBEAT_S: Final = 5.0
"""Time without an event after which a comment is sent.

If it cannot be sent, the service knows that the reader has disconnected.
"""

HEARTBEAT: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    # These headers forbid a proxy to buffer the events, because buffered meters would be out of
    # date.
    "X-Accel-Buffering": "no",
    "Cache-Control": "no-store, no-transform",
}
_EVENTS: Final[dict[type[DisplayRow], bytes]] = {
    MeterRow: b"meter",
    LinkRow: b"controller",
    JackpotRow: b"jackpot",
}


class EventStream:
    """Changes of the meters, links and jackpots, as the bytes of server-sent events.

    The first event is ``page``, with the version of the pages: an open page with another version
    must reload. Then comes the current state, and after it changes, each event about one meter, one
    link (``controller``) or one jackpot.

    The stream is sent in parts, each with all changes since the reader read the one before. So a
    slow reader gets changes later, but needs no more memory.
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
    return b"event: " + event + b"\ndata: " + data + b"\n\n"
