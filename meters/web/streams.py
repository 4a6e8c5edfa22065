"""Server-sent events: meters, links and jackpots for displays, and changes for floor pages."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

import msgspec
from litestar import get
from litestar.background_tasks import BackgroundTask
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from meters.floor.floor_file import Floor
from meters.floor.roles import Right
from meters.http.strict_requests import WebRequest
from meters.users.sign_in_attempts import site
from meters.users.user_store import UsersError
from meters.users.users import UserDirectory
from meters.web.display_state import (
    DisplayRow,
    DisplayState,
    DisplayUpdates,
    FixedJackpotsRow,
    JackpotRow,
    LinkRow,
    MeterRow,
    Watcher,
    WinsRow,
)
from meters.web.error_answers import StaffRequest, refusals
from meters.web.route_parameters import AskedLink
from meters.web.security import FOR_ANYBODY, client_of, needs, session_of, token_of

METERS_HEARTBEAT_S: Final = 5.0
"""If there is no event for this time, a comment is sent. If this fails, the reader has gone."""

_METERS_HEARTBEAT: Final = b": still here\n\n"
_STREAM_HEADERS: Final = {
    # With these headers, a proxy does not buffer the events: buffered meters would be out of date.
    "X-Accel-Buffering": "no",
    "Cache-Control": "no-store, no-transform",
}
_EVENT_STREAM: Final = "text/event-stream"
_EVENTS: Final[dict[type[DisplayRow], bytes]] = {
    MeterRow: b"meter",
    FixedJackpotsRow: b"fixed_jackpots",
    LinkRow: b"controller",
    JackpotRow: b"jackpot",
    WinsRow: b"wins",
}

LOOK_EVERY_S: Final = 5.0
"""The session of the user is checked at least this often."""

CHANGES_HEARTBEAT_S: Final = 2.0
"""If nothing changes for this time, a ``heartbeat`` is sent. If a page misses two heartbeats, the
page shows that its data can be out of date.
"""

TABLES_EVERY_S: Final = 1.0
"""Between two ``tables`` events, at least this time passes."""

_CHANGES_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"

_NOTHING_NEW: Final = -1
_OF_NO_LINK: Final = ""
"""An id that no link has: the stream needs no display data, but must end when all followers end."""


class ChangeSignal:
    """A counter of changes of any kind. Tasks can wait for the next change."""

    def __init__(self) -> None:
        self._count = 1
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._count += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def next(self, seen: int) -> int:
        while self._count == seen:
            await self._rung.wait()
        return self._count


async def meter_events(watch: DisplayUpdates, page_version: str) -> AsyncIterator[bytes]:
    """Yield changes of the meters, links and jackpots, as the bytes of server-sent events.

    The first event is ``page``, with the version of the pages. An open page with another version
    must reload. Each part of the stream has what changed since the last part that was read, so a
    slow reader needs no more memory.
    """
    first = frame(b"page", msgspec.json.encode({"version": page_version}))
    while True:
        try:
            async with asyncio.timeout(METERS_HEARTBEAT_S):
                rows = await anext(watch)
        except TimeoutError:
            yield _METERS_HEARTBEAT
            continue
        except StopAsyncIteration:
            return
        yield first + b"".join(frame(_EVENTS[type(row)], msgspec.json.encode(row)) for row in rows)
        first = b""


class ChangeCount(msgspec.Struct, frozen=True):
    """The data of the events ``changed`` and ``tables``. `count` rises with each change."""

    count: int


async def _change_events(
    changes: ChangeSignal,
    tables: ChangeSignal,
    user_directory: UserDirectory,
    token: str | None,
    end: DisplayUpdates,
) -> AsyncIterator[bytes]:
    """Yield the events that one floor page receives, until the user's session ends.

    The stream does not prolong the session, and continues after the session has lapsed. If many
    tables change within a second, the page gets one event.
    """
    seen = {changes: _NOTHING_NEW, tables: _NOTHING_NEW}
    events = {changes: b"changed", tables: b"tables"}
    looked_at = -LOOK_EVERY_S
    sent_at, not_before = time.monotonic(), {changes: 0.0, tables: 0.0}
    ended = asyncio.create_task(_until_closed(end))
    try:
        while not ended.done():
            if time.monotonic() - looked_at >= LOOK_EVERY_S:
                if not await _may_follow(user_directory, token):
                    return
                looked_at = time.monotonic()
            at = time.monotonic()
            dues = [looked_at + LOOK_EVERY_S, sent_at + CHANGES_HEARTBEAT_S]
            waits = {
                asyncio.create_task(each.next(seen[each])): each
                for each in seen
                if at >= not_before[each]
            }
            dues += [due for due in not_before.values() if due > at]
            try:
                await asyncio.wait(
                    {*waits, ended}, timeout=max(0.0, min(dues) - at), return_when="FIRST_COMPLETED"
                )
            finally:
                for wait in waits:
                    wait.cancel()
            came = [(wait, each) for wait, each in waits.items() if wait.done()]
            for wait, each in came:
                seen[each] = wait.result()
                yield frame(events[each], msgspec.json.encode(ChangeCount(seen[each])))
            sent_at = time.monotonic() if came else sent_at
            if tables in [each for _, each in came]:
                not_before[tables] = sent_at + TABLES_EVERY_S
            if not ended.done() and time.monotonic() - sent_at >= CHANGES_HEARTBEAT_S:
                sent_at = time.monotonic()
                yield _CHANGES_HEARTBEAT
    finally:
        ended.cancel()


async def _may_follow(user_directory: UserDirectory, token: str | None) -> bool:
    try:
        person = await user_directory.sessions.find(token, keep_alive=False)
    except UsersError:
        return False
    return person is not None and person.may(Right.WAITING)


async def _until_closed(watch: DisplayUpdates) -> None:
    async for _ in watch:
        pass


def meter_routes(floor: Floor, displays: DisplayState, page_version: str) -> list[HTTPRouteHandler]:
    links = frozenset(link.id for link in floor.link)

    @get("/api/v1/meters", opt=FOR_ANYBODY)
    async def list_meters() -> list[MeterRow]:
        """List the current value of every meter, in cents. Reserves are left out (reading T21)."""
        return displays.rows()

    @get(
        "/api/v1/meters/stream",
        opt=FOR_ANYBODY,
        media_type=_EVENT_STREAM,
        responses=refusals(400, 404, 429, 503),
    )
    async def stream_meters(request: WebRequest, link: AskedLink = None) -> Stream:
        """Send the current state of the meters, links and jackpots, then their changes.

        The server-sent events are `meter`, `fixed_jackpots`, `controller`, `jackpot` and `wins`. If
        `link` is given, only events of this link are sent. A `controller` event is sent every
        second while the service operates the link. If these events stop, the meters of the link can
        be out of date.
        """
        if link is not None and link not in links:
            raise NotFoundException(f"there is no link {link}")
        watch = displays.follow(link, Watcher(site(client_of(request))))
        return event_stream(meter_events(watch, page_version), displays, watch)

    return [list_meters, stream_meters]


def change_routes(
    changes: ChangeSignal,
    tables: ChangeSignal,
    user_directory: UserDirectory,
    displays: DisplayState,
) -> list[HTTPRouteHandler]:
    @get(
        "/api/v1/floor/stream",
        opt=needs(Right.WAITING),
        security=session_of(Right.WAITING),
        responses=refusals(401, 403, 429, 503),
        media_type=_EVENT_STREAM,
    )
    async def stream_changes(request: StaffRequest) -> Stream:
        """Send server-sent events to a floor page until its session ends.

        A `changed` event is sent at the start, and when a claim, a correction request or a link
        changes. A `tables` event is sent at the start, and when a table's state changes, at most
        once a second. A `heartbeat` is sent when nothing has changed for two seconds. The stream
        does not prolong the session.
        """
        watch = displays.follow(_OF_NO_LINK, Watcher(request.user.name, staff=True))
        shown = _change_events(changes, tables, user_directory, token_of(request), watch)
        return event_stream(shown, displays, watch)

    return [stream_changes]


def event_stream(
    events: AsyncIterable[bytes], displays: DisplayState, watch: DisplayUpdates
) -> Stream:
    return Stream(
        events,
        media_type=_EVENT_STREAM,
        headers=_STREAM_HEADERS,
        background=BackgroundTask(displays.leave, watch),
    )


def frame(event: bytes, data: bytes) -> bytes:
    return b"event: " + event + b"\ndata: " + data + b"\n\n"
