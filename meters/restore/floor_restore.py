import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from rich.progress import TaskID

from bonus.errors import UserError
from meters.archive.archive_days import archived_links
from meters.floor.floor_file import Floor, Link
from meters.floor.key_bundle import DISPLAY
from meters.floor.server_addresses import BrokerAddress
from meters.ledger.entry_messages import DECIDED, RESTORING
from meters.mqtt.broker_connect import connect_broker, floor_broker
from meters.mqtt.connection import BrokerConnection, BrokerError
from meters.process.console import PlainConsole, progress_bar
from meters.restore.author import AuthorConfirmation
from meters.restore.copy_reading import Advance, ArchivedLedger
from meters.restore.findings import StoreCondition
from meters.restore.link_restore import LinkRestore
from meters.restore.outboxes import RestoreError, read_outboxes
from meters.restore.output import (
    plain_console,
    print_found,
    print_missing,
    print_plan,
    print_restored,
)
from meters.selfcheck.opened_store import check_opened, check_place
from meters.store.health import redis_problem
from meters.store.hidden_value_seal import HiddenValues
from meters.store.ledger_mark import LedgerMark, marked_links
from meters.store.link_store import LinkStore, TermsError
from meters.store.redis_clients import AnyRedis, every_redis
from meters.store.redis_connect import open_redis
from meters.store.slip_register import SlipRegister
from meters.wire import topics

_TABLES: Final = "tables"
"""Directory in the data directory, with the outboxes of the tables on this machine."""


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """The options of the command `pitlink restore`.

    The default `archive` is the directory in the floor file. The default `outboxes` are in the data
    directory; people can give outbox files, or directories with outbox files. The tables in
    `without` are restored even if some of their events are in no outbox; these events stay lost.
    `by` is the name of the person who restores the data. With `listens`, the command listens at the
    broker for heartbeats, to find services that run. With `asks`, it asks the person before any
    change.
    """

    archive: Path | None
    outboxes: tuple[Path, ...]
    without: frozenset[str]
    by: str | None
    listens: bool
    asks: bool


async def run_restore(floor: Floor, links: Sequence[Link], options: RestoreOptions) -> bool:
    """Restore links, one after the other.

    Return False if a link was not restored because events are missing or the person declined, or if
    an audit after the restore found a problem.

    Raises:
        UserError: the restore did not begin, or did not finish. The message has the reason.
    """
    console = plain_console()
    sources = _has_sources(floor, options)
    if not sources:
        check_place(floor)
    running = await probe_services(floor) if options.listens else set()
    if running:
        raise RestoreError(
            f"a service runs on {', '.join(sorted(running))}: stop every service, and every agent"
        )
    good = True
    async with open_redis(floor) as redis:
        for each, tag in every_redis(redis, [link.id for link in links]).items():
            if problem := await redis_problem(each, tag):
                raise RestoreError(problem)
        if not sources:
            await check_opened(floor, redis)
        author = AuthorConfirmation(redis, floor, options.by)
        for link in links:
            good = await _restore(floor, link, redis, options, console, author=author) and good
        if good:
            await _reserve_removed(floor, redis, options, console)
    return good


async def _reserve_removed(
    floor: Floor, redis: AnyRedis, options: RestoreOptions, console: PlainConsole
) -> None:
    """Reserve the payout slip numbers of links that the floor file no longer names.

    If the reservations were lost, no service makes them again, and a later payment could use a
    number a second time. The numbers are in the archive, and in Redis if it still has the data of
    the link.
    """
    directory, register = options.archive or Path(floor.archive.directory), SlipRegister(redis)
    found = archived_links(directory) | marked_links(Path(floor.service.data))
    for link in sorted(found - {link.id for link in floor.link}):
        paid = dict[str, str]()
        async for _, fields in ArchivedLedger(directory, link).entries():
            if fields.get("kind") in {b"pay", b"correct_slip"}:
                decided = DECIDED.decode(fields["event"])
                if decided.slip:
                    paid[decided.slip] = decided.claim
            elif fields.get("kind") == b"restore":
                paid |= RESTORING.decode(fields["event"]).kept
        if count := await register.reserve_paid(paid) + await register.reserve_all_of(link):
            label = f"{link}, which the floor file no longer names"
            console.print(f"{label}: the numbers of its {count} payout slips are reserved")


async def _restore(
    floor: Floor,
    link: Link,
    redis: AnyRedis,
    options: RestoreOptions,
    console: PlainConsole,
    *,
    author: AuthorConfirmation,
) -> bool:
    say = console.print
    mark = LedgerMark(Path(floor.service.data), link.id)
    paths = options.outboxes or _own_outboxes(floor)
    with read_outboxes(paths, link.id) as outboxes:
        restoring = LinkRestore(
            floor,
            LinkStore(redis, link, HiddenValues.of(floor)),
            mark,
            _copy_of(floor, options.archive, link),
            outboxes,
            without=options.without,
        )
        with _bar() as advance:
            found = await restoring.inspect(advance)
        print_found(say, link.id, found)
        if not restoring.is_due(found):
            say("  Nothing is lost, so nothing was restored.")
            return True
        if print_missing(say, found, options.without):
            return False
        await restoring.check_approved(found)
        print_plan(say, found, options.without)
        if not await author.possible():
            say(f"  {author.unconfirmed}")
        if options.asks and not await _agreed():
            say("  Nothing was done.")
            return False
        by = await author.confirm(all_lost=found.held.standing is not StoreCondition.THERE)
        try:
            with _bar() as advance:
                restored = await restoring.carry_out(
                    found, by.name, advance, confirmed=by.confirmed
                )
        except TermsError as error:
            raise UserError(f"{link.id}: {error}") from None
    print_restored(say, link.id, restored)
    return restored.finding.balanced


def _copy_of(floor: Floor, archive: Path | None, link: Link) -> ArchivedLedger | None:
    directory = archive or Path(floor.archive.directory)
    if not directory.is_dir():
        if archive:
            raise RestoreError(f"{archive}: there is no such directory")
        return None
    return ArchivedLedger(directory, link.id)


def _has_sources(floor: Floor, options: RestoreOptions) -> bool:
    """Return whether there is an archive or an outbox. An empty archive is ignored."""
    archive = Path(floor.archive.directory)
    given = options.archive or options.outboxes or _own_outboxes(floor)
    return bool(given) or (archive.is_dir() and any(archive.iterdir()))


def _own_outboxes(floor: Floor) -> Sequence[Path]:
    directory = Path(floor.service.data) / _TABLES
    return (directory,) if directory.is_dir() else ()


async def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise RestoreError("standard input is not a terminal, so nobody can be asked: add --yes")
    return await asyncio.to_thread(typer.confirm, "Restore?", default=False)


@contextmanager
def _bar() -> Iterator[Advance]:
    with progress_bar() as progress:
        tasks: dict[str, TaskID] = {}

        def advance(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=None)
            progress.update(tasks[what], completed=done, total=of)

        yield advance


HEARD_WITHIN_S: Final = 3.0
"""How long to wait for a heartbeat. A service sends three heartbeats in this time, so one of them
can be late."""
_CONNECTED_WITHIN_S: Final = 10.0
_STOPPED: Final = "--services-stopped"


async def probe_services(floor: Floor) -> set[str]:
    """Return the links on which a service runs now, even if the link is inoperable.

    Raises:
        RestoreError: the broker cannot be reached, or refuses the connection.
    """
    found: set[str] = set()
    by_topic = {topics.controller(link.id): link.id for link in floor.link}
    try:
        async with (
            floor_broker(floor.service, contextlib.nullcontext(DISPLAY)) as address,
            _connected(address()) as broker,
        ):
            for topic in by_topic:
                await broker.subscribe(topic)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARD_WITHIN_S):
                    while True:
                        for message in await broker.batch(len(by_topic)):
                            # The broker can have kept a heartbeat of a service that no longer runs.
                            if not message.retain:
                                found.add(by_topic[message.topic])
    except (BrokerError, TimeoutError, UserError) as error:
        raise RestoreError(
            f"the broker cannot be asked whether a service runs: {error}. If you know that every"
            f" service is stopped, add {_STOPPED}."
        ) from None
    return found


@asynccontextmanager
async def _connected(address: BrokerAddress) -> AsyncIterator[BrokerConnection]:
    async with contextlib.AsyncExitStack() as stack:
        async with asyncio.timeout(_CONNECTED_WITHIN_S):
            connection = await stack.enter_async_context(connect_broker(address, "pitlink-restore"))
        yield connection
