"""The `audit` command."""

import asyncio
from datetime import datetime
from typing import Annotated

import typer

from meters.cli.audit_output import LAST, run_audit
from meters.cli.daily import audited_since_close, note_daily_audit
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import read_floor
from meters.terminal.printing import print_text


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
