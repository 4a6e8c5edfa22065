"""The service's commands: serve, audit and check."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from msgspec.structs import replace

from meters.floor.address_checks import is_listening_address
from meters.floor.floor_file import Floor, read_floor
from meters.logs.options import LogLevel, LogLevelOption, LogOption
from meters.terminal.printing import print_text

ConfigOption = Annotated[
    Path, typer.Option("--config", help="The floor file, a TOML text.", metavar="FLOOR.toml")
]


def serve(
    config: ConfigOption,
    *,
    auto_floor: Annotated[
        bool,
        typer.Option(
            "--auto-floor",
            help="A simulated floorperson validates and pays what waits: for replays and"
            " demonstrations only.",
        ),
    ] = False,
    auto_floor_after: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="How long a win waits for that floorperson."),
    ] = 0.0,
    demo_people: Annotated[
        bool,
        typer.Option(
            "--demo-people",
            help="Let a demonstration's people sign in, whose PIN everybody knows, and adopt a"
            " changed floor file unasked; only where the floor file says that it is a"
            " demonstration.",
        ),
    ] = False,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the pages are, in place of the floor file's `http`: several services of"
            " one machine need a port each.",
        ),
    ] = None,
    log: LogOption = None,
    log_level: LogLevelOption = LogLevel.INFO,
) -> None:
    """Run the meter service: intake, meters, ledger, claims and pages.

    It works until Ctrl-C or SIGTERM. Tables find it by the broker that the floor file names. It
    logs to standard error.
    """
    from meters.logs.setup import log_to_stderr
    from meters.service.process import serve as run
    from meters.service.service import ServeOptions

    floor = read_floor(config)
    if http is not None:
        floor = _with_pages_at(floor, http)
    if demo_people and not floor.facility.demonstration:
        raise typer.BadParameter(f"--demo-people: {config} does not say that it is a demonstration")
    log_to_stderr(log, log_level)
    uvloop.run(run(floor, ServeOptions(auto_floor, auto_floor_after, demo_people)))


def audit(
    config: ConfigOption,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DAY",
            help="Begin with the archived books that this gaming day opens with: for every day,"
            " where the whole archive takes hours.",
        ),
    ] = None,
    daily: Annotated[
        bool,
        typer.Option(
            "--daily",
            help="Do nothing where such an audit has ended since the last gaming day closed: for a"
            " timer that runs every half hour, whatever the machine's time zone is.",
        ),
    ] = False,
    since_last: Annotated[
        bool,
        typer.Option(
            "--since-last",
            help="Begin with the last archived day that an audit has found in order: for every"
            " night. Once a month, audit the whole.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Replay every link's ledger and compare each balance to the micro.

    The archive is read from its first file on, unless --since says otherwise: what is before that
    day is then held together by its digests, and not replayed. The data directory keeps a note of
    the audit, which `pitlink check` and the alerts go by.

    Exit status 1 where anything does not hold; it says what, and by how much.
    """
    from meters.cli.audit_output import LAST, run_audit
    from meters.cli.daily import audited_since_close, note_daily_audit

    if since and since_last:
        raise typer.BadParameter("--since and --since-last are two ways to begin: give one")
    floor = read_floor(config)
    if daily and audited_since_close(floor):
        print_text("audited since the last gaming day closed: nothing to do")
        return
    begin = LAST if since_last else since.date() if since else None
    balanced = asyncio.run(run_audit(floor, as_json=as_json, since=begin))
    if daily:
        note_daily_audit(floor)
    if not balanced:
        raise typer.Exit(1)


def check(config: ConfigOption) -> None:
    """Check the programs, the floor file and the parts that it names, one line each.

    The programs are held against the digests that the wheel recorded, the floor file against what
    was approved last, the ledger against the balances. `pitlink serve` checks the same before a
    link operates.

    Exit status 1 where something must be mended before the floor can operate.
    """
    from meters.cli.check_output import run_check

    if not asyncio.run(run_check(config)):
        raise typer.Exit(1)


def _with_pages_at(floor: Floor, http: str) -> Floor:
    """The floor with its pages elsewhere than its file says."""
    if not is_listening_address(http):
        raise typer.BadParameter(
            f'--http {http}: it is an address and a port, such as "127.0.0.1:8081"'
        )
    return replace(floor, service=replace(floor.service, http=http))
