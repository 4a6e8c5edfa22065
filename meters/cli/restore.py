"""The command by which a technician restores what Redis has lost."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisError

from bonus.errors import UserError, nearest
from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import Floor, Link, read_floor
from meters.logs.options import LogLevel
from meters.logs.setup import log_to_stderr
from meters.restore.floor_restore import RestoreOptions, run_restore

ArchiveOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The archive of closed gaming days; the one under [archive] unless given.",
    ),
]
OutboxesOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR|FILE",
        help="The tables' outboxes, gathered from their machines; may be given again."
        " DATA/tables unless given.",
    ),
]
LinkOption = Annotated[
    str | None, typer.Option(metavar="LINK", help="This link alone; all unless given.")
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE",
        help="Go on without this table's outbox: what it sent beyond the books stays lost."
        " May be given again.",
    ),
]
ByOption = Annotated[
    str, typer.Option("--by", metavar="NAME", help="Who restores it, for the ledger.")
]
ServicesStoppedOption = Annotated[
    bool,
    typer.Option(
        "--services-stopped",
        help="Every service is known to be stopped; for when the broker cannot be asked.",
    ),
]


def restore(
    config: ConfigOption,
    *,
    archive: ArchiveOption = None,
    outboxes: OutboxesOption = None,
    link: LinkOption = None,
    without: WithoutOption = None,
    by: ByOption = "technician",
    services_stopped: ServicesStoppedOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Restore what Redis has lost: from the archive, and from what the tables' outboxes have.

    Stop every service and every agent first, and have Redis run: on an empty directory, or on the
    newest copy of its own that there is. It shows what it found and what it will do, and asks.
    Then it writes the store anew from the archive where Redis has less than that, takes again what
    the outboxes have beyond it, notes in the ledger that it was restored, audits all, and sets the
    mark anew. Interrupted, it is simply run again.

    Every reply is compared with the one that the table got. What comes out otherwise, and the wins
    that wait again, are listed for the floorperson and the accountant.
    deploy/docs/recover/restore.md has the whole way.

    Exit status 1 where nothing was done, something is missing, or the books do not balance.
    """
    floor = read_floor(config)
    links = _links_named(config, floor, link)
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
        raise UserError(f"the store cannot be restored: {error}") from None
    if not done:
        raise typer.Exit(1)


def _links_named(config: Path, floor: Floor, link: str | None) -> Sequence[Link]:
    links = {each.id: each for each in floor.link}
    if link is None:
        return floor.link
    if link not in links:
        raise UserError(f"{config}: there is no link {link}{nearest(link, links)}")
    return (links[link],)


def _check_tables(floor: Floor, tables: Iterable[str]) -> None:
    known = {table.id for each in floor.link for table in each.table}
    for table in tables:
        if table not in known:
            raise UserError(f"--without {table}: there is no such table{nearest(table, known)}")
