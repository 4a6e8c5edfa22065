"""The `restore` command: a technician restores data that Redis has lost."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError, nearest
from meters.floor.floor_file import ConfigOption, Floor, links_named, read_own_floor
from meters.process.logs import LogLevel, log_to_stderr
from meters.restore.floor_restore import RestoreOptions, run_restore


def restore(
    config: ConfigOption,
    *,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The archive of closed gaming days; by default the directory under [archive].",
        ),
    ] = None,
    outboxes: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR|FILE",
            help="The tables' outboxes, collected from their machines; may be given several times."
            " By default DATA/tables.",
        ),
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="LINK", help="Only this link; by default all.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Continue without this table's outbox. Events that only the outbox has stay lost."
            " May be given several times.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="NAME",
            help="The person who restores the data, for the ledger. If Redis still has users, this"
            " person must be a supervisor or an administrator, and enter their PIN.",
        ),
    ] = None,
    services_stopped: Annotated[
        bool,
        typer.Option(
            "--services-stopped",
            help="If the broker cannot be reached: confirm that you have stopped every service.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Restore lost data from the archive and the tables' outboxes.

    First stop every service and every agent. Start Redis on an empty directory, or on the newest
    copy of its own data. The command shows what it found and what it will do, and asks you to
    confirm. Then it takes these steps:

    - If Redis has less data than the archive, restore Redis from the archive.
    - From the outboxes, apply again each event that is newer than the data in Redis. Note the
    restore in the ledger.
    - Audit everything. Then write each ledger mark again: a file outside Redis with the number and
    digest of a ledger's last entry.

    If Redis still has users, the command asks for the PIN of the person who restores the data. If
    standard input is not a terminal, its first line is the PIN. If Redis has no users, nobody can
    confirm the name: the output and the ledger say so.

    Example: **pitlink restore --by "Ada Lane" --outboxes /mnt/outboxes --config floor.toml**

    If the command is interrupted, run it again.

    For the floorperson and the accountant, the command lists replies that differ from those that
    the tables received, and wins that wait again. deploy/docs/recover/restore.md has the whole
    procedure.

    The exit status is 1 if nothing was restored, if data is missing, or if an audit found an error.
    """
    floor = read_own_floor(config)
    links = links_named(config, floor, link)
    _check_tables(floor, without or ())
    log_to_stderr(None, LogLevel.WARNING)
    options = RestoreOptions(
        archive=archive,
        outboxes=tuple(outboxes or ()),
        without=frozenset(without or ()),
        by=by,
        listens=not services_stopped,
        asks=not yes,
    )
    try:
        done = asyncio.run(run_restore(floor, links, options))
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the data cannot be restored: {error}") from None
    if not done:
        raise typer.Exit(1)


def _check_tables(floor: Floor, tables: Iterable[str]) -> None:
    known = {table.id for each in floor.link for table in each.table}
    for table in tables:
        if table not in known:
            raise UserError(f"--without {table}: there is no such table{nearest(table, known)}")
