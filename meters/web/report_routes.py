"""Routes for the reports of accounting, as JSON and as a spreadsheet (CSV)."""

from typing import Final

from litestar import MediaType, Response, get
from litestar.handlers import HTTPRouteHandler

from meters.floor.roles import Right
from meters.reports.floor_reports import FloorReports, ReportDays, ReportPage
from meters.web.error_answers import answer, refusals
from meters.web.route_parameters import Days, ReportName
from meters.web.security import needs, session_of, staff_read

_SHOWN_WITHIN_S: Final = 6.0
"""How long a request waits for a report. A page waits a little longer, and then asks again."""

_SAVED_WITHIN_S: Final = 60.0
_READS: Final = (400, 401, 403, 404, 503)


def report_routes(reports: FloorReports) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/reports", Right.WINS, 401, 403, 503)
    async def show_report_days() -> ReportDays:
        """Show the first gaming day that this machine can report, and the open gaming day."""
        return await reports.days()

    @get(
        "/api/v1/reports/{report:str}/{days:str}",
        opt=needs(Right.WINS),
        security=session_of(Right.WINS),
        media_type=MediaType.JSON,
        responses={200: answer(ReportPage, "The report."), **refusals(*_READS)},
    )
    async def show_report(report: ReportName, days: Days) -> Response[bytes]:
        """Show the report `day`, `month`, `jackpots` or `table` as `pitlink report` prints it.

        The service makes one report at a time, and keeps it for half a minute. While the service
        makes a report, the error is `busy`: ask again in some seconds. A list has at most 500 rows
        and its sums. If a report needs more than ten minutes or half a gigabyte of memory, the
        error is `report_failed`.
        """
        made = await reports.report(report, days, _SHOWN_WITHIN_S)
        return Response(made.page, media_type=MediaType.JSON)

    @get(
        "/api/v1/reports/{report:str}/{days:str}/rows.csv",
        opt=needs(Right.WINS),
        security=session_of(Right.WINS),
        media_type="text/csv",
        responses=refusals(*_READS),
    )
    async def show_report_csv(report: ReportName, days: Days) -> Response[bytes]:
        """Return a report as the spreadsheet that `pitlink report` writes with `--csv`."""
        sheet = await reports.sheet(report, days, _SAVED_WITHIN_S)
        named = {"Content-Disposition": f'attachment; filename="{report}-{days}.csv"'}
        return Response(sheet, media_type="text/csv", headers=named)

    return [show_report_days, show_report, show_report_csv]
