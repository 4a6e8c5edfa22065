"""Public routes for the meters: their current values, and a stream of their changes."""

from litestar import get
from litestar.background_tasks import BackgroundTask
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromQuery
from litestar.response import Stream

from meters.displays.display_state import DisplayState, MeterRow, Watcher
from meters.floor.floor_file import Floor
from meters.http.strict_requests import WebRequest
from meters.users.sign_in_attempts import site
from meters.web.errors import refusals
from meters.web.event_stream import STREAM_HEADERS, EventStream
from meters.web.security import client_of, for_anybody


def meter_routes(floor: Floor, displays: DisplayState, page_version: str) -> list[HTTPRouteHandler]:
    links = frozenset(link.id for link in floor.link)

    @get("/api/v1/meters", opt=for_anybody(), sync_to_thread=False)
    def list_meters() -> list[MeterRow]:
        """List the current value of every meter, in cents. Reserves are not shown (reading T21)."""
        return displays.rows()

    @get(
        "/api/v1/meters/stream",
        opt=for_anybody(), media_type="text/event-stream", responses=refusals(400, 404, 429, 503),
        sync_to_thread=False,
    )  # fmt: skip
    def stream_meters(request: WebRequest, link: FromQuery[str | None] = None) -> Stream:
        """Send the current state of the meters, links and jackpots, then each change of this state.

        They are server-sent events: `meter`, `controller` and `jackpot`, of one link if `link` is
        given. A `controller` event is sent every second while the service operates the link; if
        these stop, the meters of the link can be out of date.
        """
        if link is not None and link not in links:
            raise NotFoundException(f"there is no link {link}")
        watch = displays.follow(link, Watcher(site(client_of(request))))
        return Stream(
            EventStream(watch, page_version),
            media_type="text/event-stream",
            headers=STREAM_HEADERS,
            background=BackgroundTask(displays.leave, watch),
        )

    return [list_meters, stream_meters]
