"""The `audit` command, which checks each link's ledger against the balances."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from meters.cli.audit_output import LAST, run_audit
from meters.floor.facility import Facility, GamingDays
from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.process.printing import print_text
from meters.process.private_files import make_private_directory, write_private_file

DAILY_AUDIT_NOTE: Final = "last-daily-audit"
"""In the data directory; its last change is the end of the last `pitlink audit --daily`."""

_AHEAD: Final = timedelta(minutes=1)


def audit(
    config: ConfigOption,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DAY",
            help="Begin with the archived opening balances of this gaming day: for a daily audit if"
            " the whole archive needs hours.",
        ),
    ] = None,
    daily: Annotated[
        bool,
        typer.Option(
            "--daily",
            help="Do nothing if such an audit has ended since the last gaming day closed: for a"
            " timer that runs every half hour, in any time zone of the machine.",
        ),
    ] = False,
    since_last: Annotated[
        bool,
        typer.Option(
            "--since-last",
            help="Begin with the last archived day that an audit found correct: for every night."
            " Audit everything once a month.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Replay every link's ledger, and check every balance exactly, to the micro.

    The audit reads the archive and the operators' log from their beginning. With --since or
    --since-last, it does not read the files of the days before, and it continues the audit of the
    operators' log that a service has made. The command writes the result to the data directory, for
    `pitlink check` and the alerts.

    The exit status is 1 if there is any problem. The output names the problem and the amount of
    each difference.
    """
    if since and since_last:
        raise typer.BadParameter("--since and --since-last are two ways to begin: give one")
    floor = read_own_floor(config)
    if daily and audited_since_close(floor):
        print_text("audited since the last gaming day closed: nothing to do")
        return
    begin = LAST if since_last else since.date() if since else None
    balanced = asyncio.run(run_audit(floor, as_json=as_json, since=begin))
    if daily:
        note_daily_audit(floor)
    if not balanced:
        raise typer.Exit(1)


def done_since_close(facility: Facility, done: datetime | None, now: datetime) -> bool:
    """Check if `done`, the time of a daily task, is later than the close of the last gaming day.

    A time in the future does not count: the clock was wrong when the task was done.
    """
    days = GamingDays.of_facility(facility)
    closed, _ = days.bounds(days.of(now))
    return done is not None and closed <= done <= now + _AHEAD


def audited_since_close(floor: Floor) -> bool:
    """Check if a `pitlink audit --daily` has ended since the last gaming day closed."""
    try:
        modified_s = (Path(floor.service.data) / DAILY_AUDIT_NOTE).stat().st_mtime
    except OSError:
        return False
    return done_since_close(
        floor.facility, datetime.fromtimestamp(modified_s, UTC), datetime.now(UTC)
    )


def note_daily_audit(floor: Floor) -> None:
    """Note the end of a `pitlink audit --daily`, with or without problems; may raise `OSError`."""
    data = Path(floor.service.data)
    make_private_directory(data)
    write_private_file(data / DAILY_AUDIT_NOTE).close()
