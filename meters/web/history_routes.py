"""Routes for the past: pictures of meters, the floor's activity, tables, and single rounds."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ENTRIES_MAX
from meters.acts.floor_history import FloorHistory
from meters.acts.history_sheet import history_csv
from meters.acts.meter_history import FloorDay, MeterHistory, MeterSpark
from meters.acts.round_search import RoundQuery
from meters.acts.round_view import RoundPage, RoundView
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor
from meters.floor.roles import Right
from meters.web.display_state import DisplayState
from meters.web.error_answers import refusals
from meters.web.route_parameters import (
    AskedClaim,
    AskedDay,
    AskedLink,
    AskedSince,
    AskedTable,
    EntryNumber,
    LinkId,
    MeterId,
)
from meters.web.security import needs, session_of, staff_read
from meters.web.table_states import FloorTables, TableStates

ROUNDS_MAX: Final = 50
_READS: Final = (400, 401, 403, 404, 503)


def _entry(description: str) -> QueryParameter:
    return QueryParameter(ge=0, le=ENTRIES_MAX, description=description)


_After = Annotated[int, _entry("Only entries with a higher number.")]
_Before = Annotated[int, _entry("Only entries with a lower number.")]
_Count = Annotated[
    int, _entry("The `count` of an earlier answer. Only tables that changed later are listed.")
]


def history_routes(
    floor: Floor, history: FloorHistory, tables: TableStates, displays: DisplayState
) -> list[HTTPRouteHandler]:
    return [
        *_picture_routes(history, GamingDays.of_facility(floor.facility)),
        *_round_routes(history),
        _table_route(floor, history, tables, displays),
    ]


def _picture_routes(history: FloorHistory, days: GamingDays) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/links/{link:str}/meters/{meter:str}/history", Right.WINS, *_READS)
    async def show_meter_history(
        link: LinkId, meter: MeterId, day: AskedDay = None
    ) -> MeterHistory:
        """Show the last 24 hours and the last 30 gaming days of a meter.

        With `day`, show this gaming day, and the 30 days that end with it. If `unread` of a picture
        is not 0, the service is still reading past days: ask again in some seconds.
        """
        return await history.meter(link, meter, _day(day))

    @get(
        "/api/v1/links/{link:str}/meters/{meter:str}/history.csv",
        opt=needs(Right.WINS),
        security=session_of(Right.WINS),
        responses=refusals(*_READS),
        media_type="text/csv",
    )
    async def show_meter_history_csv(
        link: LinkId, meter: MeterId, day: AskedDay = None
    ) -> Response[bytes]:
        """Return the history of a meter as a spreadsheet, with dollars and local times.

        The spreadsheet has all wins; the history itself has only the last 400. `picture` is `day`
        or `month`. `figure` is `meter` (the amount at a time), `contributions` (of an hour or a
        gaming day), `won`, or `missing` (a time that this machine cannot read). While the service
        still reads past days, the request is refused with `busy`.
        """
        found = await history.meter(link, meter, _day(day), whole=True)
        name = "-".join(filter(None, (link, meter, day)))
        named = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
        # A byte order mark makes Excel read UTF-8.
        text = history_csv(found, days).encode("utf-8-sig")
        return Response(text, media_type="text/csv", headers=named)

    @staff_read("/api/v1/meters/sparks", Right.WINS, *_READS)
    async def list_sparks() -> Sequence[MeterSpark]:
        """List a few amounts of the last 24 hours of every meter, for a small picture of each."""
        return await history.sparks()

    @staff_read("/api/v1/floor/day", Right.WINS, *_READS)
    async def show_floor_day(day: AskedDay = None) -> FloorDay:
        """Show the wagers, waits, wins and payments of the open gaming day, or of a past one.

        The answer has the wagers of each of the last 60 minutes, or of each ten minutes of a past
        day, and how long wins waited. For each third of the gaming day, it has the wins that wait
        or were validated.
        """
        return await history.floor_day(_day(day))

    return [show_meter_history, show_meter_history_csv, list_sparks, show_floor_day]


def _round_routes(history: FloorHistory) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/rounds", Right.WINS, *_READS)
    async def list_rounds(
        *,
        link: AskedLink = None,
        table: AskedTable = None,
        day: AskedDay = None,
        name: Annotated[
            str | None,
            QueryParameter(name="round", max_length=64, description="The name of a round."),
        ] = None,
        since: AskedSince = None,
        claim: AskedClaim = None,
        after: _After = 0,
        before: _Before = ENTRIES_MAX,
        limit: Annotated[
            int, QueryParameter(ge=1, le=ROUNDS_MAX, description="The most rows.")
        ] = 25,
    ) -> RoundPage:
        """List the rounds of a table with progressive wagers, whether they won or not (D16).

        `round` finds the round with this name, and `claim` finds the round of a win. `day` finds
        the rounds of this gaming day. `since` finds the rounds from this time to the end of the
        gaming day. Without these parameters, the last rounds are listed. Archived days are read,
        one search at a time, if the service's machine has their files. A file with a million
        entries takes some seconds.
        """
        return await history.rounds(
            RoundQuery(
                link=link,
                table=table,
                day=_day(day),
                round=name,
                since=_moment(since),
                claim=claim,
                after=after,
                before=before,
                limit=limit,
            )
        )

    @staff_read("/api/v1/links/{link:str}/rounds/{entry:int}", Right.WINS, *_READS)
    async def show_round(link: LinkId, entry: EntryNumber) -> RoundView:
        """Show one round: its wagers, cards, settlement, meters and decisions (D16, D17)."""
        if not 0 < entry <= ENTRIES_MAX:
            raise ActError("unknown_round", f"there is no entry {entry}")
        return await history.round(link, entry)

    return [list_rounds, show_round]


def _table_route(
    floor: Floor, history: FloorHistory, tables: TableStates, displays: DisplayState
) -> HTTPRouteHandler:
    @staff_read("/api/v1/floor/tables", Right.WINS, 400, 401, 403, 503)
    async def list_tables(since: _Count = 0) -> FloorTables:
        """List the states of all tables, or of those that changed since an earlier answer.

        The event stream of the floor page sends `tables` when a state has changed.
        """
        states = {row.link: row.state for row in displays.links()}
        return FloorTables(
            count=tables.count,
            tables=tuple(tables.rows(since, history.last_round)),
            links={link.id: states.get(link.id, "inoperable") for link in floor.link},
        )

    return list_tables


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ActError("bad_value", "write a day as in 2026-11-20") from None


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ActError(
            "bad_value", "write `since` as a time such as 2026-11-20T02:14:07Z"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
