"""Measurement of starts and commands on the data of a house."""

import asyncio
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import msgspec

from bonus.errors import UserError
from meters.books.audit_notes import ARCHIVE_NOTE, ArchiveNote, read_note, write_note
from meters.books.store import LinkStore
from meters.users.store import UserStore
from meters.wire.clock import now, text_of
from tests.age.house import Age
from tests.age.making import opened_house
from tests.approving import approve_first
from tests.bench.sizing.memory import all_of, bytes_of
from tests.bench.sizing.parts import Seconds, running_service, timed
from tests.bench.sizing.place import Place

CHECKPOINTED: Final = 5_000
"""Number of entries of a ledger or a log from which a service writes a checkpoint."""

_ARCHIVE: Final = "pitlink-archive"
_CHECKPOINTS: Final = ("*.audit-checkpoint.json", "*.log-checkpoint.json")
_WRITTEN_WITHIN_S: Final = 600.0
_LOOK_EVERY_S: Final = 0.2
_OLD_DAY: Final = timedelta(days=30)

ReportStep = Callable[[str], None]


class Rate(Seconds, frozen=True, kw_only=True):
    """Duration of a command that reads the whole ledger, and entries a second."""

    entries_per_s: int


class HouseFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Size of a house, and what its age costs.

    Attributes:
        days: number of closed gaming days.
        tables: number of tables, on two links.
        ledger_entries: number of ledger entries of both links.
        log_entries: number of entries of the operators' log.
        payout_slips: number of payout slips.
        archive_files: number of archive files.
        archive_bytes: bytes of the archive files.
        redis_bytes: memory of the data in Redis.
        log_bytes: memory of the operators' log in Redis.
        first_start: first start of a service on the machine; it closes a gaming day.
        start: later start of a service.
        archive_day: `pitlink archive` of the closed day, with the nightly reading of files.
        archive_nothing: `pitlink archive` without a new day, as it runs every half hour.
        nightly_audit: `pitlink audit --since-last`.
        day_report: `pitlink report day` of the last closed day.
        old_wins: `pitlink report jackpots` of a day soon after the opening of the house.
        whole_audit: `pitlink audit`.
        restore: `pitlink restore` into an empty Redis, without outboxes.
    """

    days: int
    tables: int
    ledger_entries: int
    log_entries: int
    payout_slips: int
    archive_files: int
    archive_bytes: int
    redis_bytes: int
    log_bytes: int
    first_start: Seconds
    start: Seconds
    archive_day: Seconds
    archive_nothing: Seconds
    nightly_audit: Seconds
    day_report: Seconds
    old_wins: Seconds
    whole_audit: Rate
    restore: Rate


async def measure_house(place: Place, age: Age, report_step: ReportStep) -> HouseFigures:
    """Measure the starts and the commands on a house, and then its restore.

    Raises:
        UserError: a command failed.
    """
    config = str(place.config)

    async def command(*words: str) -> Seconds:
        report_step(" ".join(words))
        return await timed(place.home / words[0], *words, "--config", config)

    report_step("first start")
    place.forget_services()
    first_start = await _start(place, until_checkpoints=True)
    report_step("start")
    start = await _start(place)
    a_day_later(place.home / _ARCHIVE)
    archive_day, archive_nothing = await command("archive"), await command("archive")
    stores = [LinkStore(place.redis, link) for link in place.floor.link]
    entries = sum([await store.last_entry() for store in stores])
    whole_audit = _rate(await command("audit"), entries)
    nightly_audit = await command("audit", "--since-last")
    day_report = await command("report", "day", age.last_day.isoformat())
    old_day = (age.first_day + min(_OLD_DAY, timedelta(days=age.days // 2))).isoformat()
    old_wins = await command("report", "jackpots", "--from", old_day, "--to", old_day)
    report_step("restore")
    files = [*(place.home / _ARCHIVE).glob("*/*.zst")]
    users = UserStore(place.redis).keys
    (log_entries,) = cast("list[bytes]", await place.redis.hmget(users.log_head, ["entries"]))
    return HouseFigures(
        days=age.days,
        tables=age.tables,
        ledger_entries=entries,
        log_entries=int(log_entries),
        payout_slips=sum([len((await one.snapshot(indexes=True)).slips) for one in stores]),
        archive_files=len(files),
        archive_bytes=sum(file.stat().st_size for file in files),
        redis_bytes=await all_of(place.redis),
        log_bytes=await bytes_of(place.redis, [users.log]),
        first_start=first_start,
        start=start,
        archive_day=archive_day,
        archive_nothing=archive_nothing,
        nightly_audit=nightly_audit,
        day_report=day_report,
        old_wins=old_wins,
        whole_audit=whole_audit,
        restore=_rate(await _restore(place, age), entries),
    )


async def _start(place: Place, *, until_checkpoints: bool = False) -> Seconds:
    home = place.home / "service"
    async with running_service(place.config, place.parts.http, home) as (_, start):
        if until_checkpoints:
            await _checkpoints(place)
    return start


async def _checkpoints(place: Place) -> None:
    """Wait until the service has written the checkpoints of its audits.

    Raises:
        UserError: it wrote none in time.
    """
    stores = [LinkStore(place.redis, link) for link in place.floor.link]
    links = sum([await store.last_entry() >= CHECKPOINTED for store in stores])
    marks, end_s = Path(place.parts.data) / "marks", time.monotonic() + _WRITTEN_WITHIN_S
    while len([*marks.glob(_CHECKPOINTS[0])]) < links or not [*marks.glob(_CHECKPOINTS[1])]:
        if time.monotonic() > end_s:
            raise UserError(f"the service wrote no checkpoint in {marks}")
        await asyncio.sleep(_LOOK_EVERY_S)


def a_day_later(archive: Path) -> None:
    """Let the next `pitlink archive` read files completely, as it does once a night."""
    note = read_note(archive / ARCHIVE_NOTE, ArchiveNote)
    if note is None:
        raise UserError(f"{archive} was never checked")
    yesterday = text_of(now() - timedelta(days=1))
    write_note(archive / ARCHIVE_NOTE, msgspec.structs.replace(note, read_at=yesterday))


async def _restore(place: Place, age: Age) -> Seconds:
    """Restore the house from its archive into an empty Redis."""
    home = place.home.with_name(f"{place.home.name}-restored")
    shutil.rmtree(home, ignore_errors=True)
    try:
        async with opened_house(home, age) as empty:
            shutil.copytree(place.home / _ARCHIVE, home / _ARCHIVE)
            await approve_first(empty.floor, empty.redis)
            tables = [table.id for link in empty.floor.link for table in link.table]
            without = [word for table in tables for word in ("--without", table)]
            words = ("restore", "--yes", "--services-stopped", *without)
            return await timed(home / "restore", *words, "--config", str(empty.config))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _rate(found: Seconds, entries: int) -> Rate:
    return Rate(
        elapsed_s=found.elapsed_s,
        cpu_s=found.cpu_s,
        entries_per_s=round(entries / found.elapsed_s),
    )
