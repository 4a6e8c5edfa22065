"""The command by which a technician restores what Redis has lost."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError, nearest
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import read_floor
from meters.logs.options import LogLevel
from meters.logs.setup import log_to_stderr
from meters.restore.floor_restore import RestoreOptions, run_restore


def restore(
    config: ConfigOption,
    *,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The archive of closed gaming days; the one under [archive] unless given.",
        ),
    ] = None,
    outboxes: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR|FILE",
            help="The tables' outboxes, gathered from their machines; may be given again."
            " DATA/tables unless given.",
        ),
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="LINK", help="This link alone; all unless given.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Go on without this table's outbox: what it sent beyond the books stays lost."
            " May be given again.",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who restores it, for the ledger.")
    ] = "technician",
    services_stopped: Annotated[
        bool,
        typer.Option(
            "--services-stopped",
            help="Every service is known to be stopped; for when the broker cannot be asked.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Restore what Redis has lost: from the archive, and from what the tables' outboxes have.

    Stop every service and every agent first, and have Redis run: on an empty directory, or on the
    newest copy of its own that there is. It shows what it found and what it will do, and asks.
    Then it writes the store anew from the archive where Redis has less than that, takes again what
    the outboxes have beyond it, notes in the ledger that it was restored, audits all, and sets the
    mark anew. Interrupted, it is simply run again.

    Every reply is compared with the one that the table got. What comes out otherwise, and the wins
    that wait again, are listed for the floorperson and the accountant. deploy/RESTORE.md has the
    whole way.

    Exit status 1 where nothing was done, something is missing, or the books do not balance.
    """
    # Here, so that other commands start without it.
    floor = read_floor(config)
    known = {table.id for each in floor.link for table in each.table}
    for table in without or ():
        if table not in known:
            raise UserError(f"--without {table}: there is no such table{nearest(table, known)}")
    links = {each.id: each for each in floor.link}
    if link is not None and link not in links:
        raise UserError(f"{config}: there is no link {link}{nearest(link, links)}")
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
        done = asyncio.run(
            run_restore(floor, floor.link if link is None else (links[link],), options)
        )
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the store cannot be restored: {error}") from None
    if not done:
        raise typer.Exit(1)
