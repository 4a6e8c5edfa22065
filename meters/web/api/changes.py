import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

import msgspec
from litestar import get
from litestar.background_tasks import BackgroundTask
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from meters.displays.display_state import DisplayState, DisplayUpdates, Watcher
from meters.floor_api.change_signal import ChangeSignal
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.roles import Right
from meters.web.errors import StaffRequest, refusals
from meters.web.event_stream import STREAM_HEADERS, frame
from meters.web.security import SESSION, needs, token_of

LOOK_EVERY_S: Final = 5.0
"""Longest time between two checks that the user's session is still valid."""

HEARTBEAT_S: Final = 2.0
"""Time without a change after which the stream sends a ``heartbeat``.

A page that misses two heartbeats shows that its data can be out of date.
"""

_HEARTBEAT: Final = frame(b"heartbeat", b"{}")

_NOTHING_NEW: Final = -1
_OF_NO_LINK: Final = ""
"""A link id that no link has.

The stream follows it, because it needs no display data, but must know when the service stops and
ends all followers.
"""


class ChangeCount(msgspec.Struct, frozen=True):
    """Data of a ``changed`` event: another `count` says that something changed, but not what."""

    count: int


class ChangeStream:
    """The events that one floor page receives, until the user's session ends.

    A ``changed`` event is sent at the start and after each change. The stream does not keep the
    session alive, so the session of an unused page lapses: an act then needs the PIN again. The
    stream of a lapsed session continues.
    """

    def __init__(
        self,
        changes: ChangeSignal,
        user_directory: UserDirectory,
        token: str | None,
        end: DisplayUpdates,
    ) -> None:
        self._changes = changes
        self._user_directory = user_directory
        self._token = token
        self._end = end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = _NOTHING_NEW
        looked_at = -LOOK_EVERY_S
        ended = asyncio.create_task(self._until_displays_close())
        try:
            while not ended.done():
                if time.monotonic() - looked_at >= LOOK_EVERY_S:
                    if not await self._holds():
                        return
                    looked_at = time.monotonic()
                next_look_s = max(0.0, looked_at + LOOK_EVERY_S - time.monotonic())
                change = asyncio.create_task(self._changes.next(seen))
                try:
                    await asyncio.wait(
                        {change, ended},
                        timeout=min(next_look_s, HEARTBEAT_S),
                        return_when="FIRST_COMPLETED",
                    )
                finally:
                    change.cancel()
                if change.done() and not change.cancelled():
                    seen = change.result()
                    yield frame(b"changed", msgspec.json.encode(ChangeCount(seen)))
                elif not ended.done():
                    yield _HEARTBEAT
        finally:
            ended.cancel()

    async def _holds(self) -> bool:
        try:
            person = await self._user_directory.sessions.find(self._token, keep_alive=False)
        except UsersError:
            return False
        return person is not None and person.may(Right.WAITING)

    async def _until_displays_close(self) -> None:
        async for _ in self._end:
            pass


def change_routes(
    changes: ChangeSignal, user_directory: UserDirectory, displays: DisplayState
) -> list[HTTPRouteHandler]:
    @get(
        "/api/v1/floor/stream",
        opt=needs(Right.WAITING), security=SESSION, responses=refusals(401, 403, 429, 503),
        media_type="text/event-stream", sync_to_thread=False,
    )  # fmt: skip
    def stream_changes(request: StaffRequest) -> Stream:
        """Send server-sent events to a floor page until its session ends.

        A `changed` event is sent at the start, and when a claim, a correction request or a link
        changes; a `heartbeat` when nothing has changed for two seconds. The stream does not prolong
        the session.
        """
        watch = displays.follow(_OF_NO_LINK, Watcher(request.user.name, staff=True))
        return Stream(
            ChangeStream(changes, user_directory, token_of(request), watch),
            media_type="text/event-stream",
            headers=STREAM_HEADERS,
            background=BackgroundTask(displays.leave, watch),
        )

    return [stream_changes]
