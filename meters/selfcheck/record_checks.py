"""Checks of the records and their disks: audits, backup, and the archive's files (D17, D19)."""

import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from rich.filesize import decimal

from meters.archive.archive_days import ArchiveFiles
from meters.audit.archive_audit import check_archive_files
from meters.audit.audit_files import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    CheckedLink,
    backup_note,
    read_note,
)
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor
from meters.process.clock import now
from meters.selfcheck.check_result import Check, judged, passed, warning
from meters.store.ledger_mark import marked_links
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis

AUDIT_DUE: Final = timedelta(hours=36)
WHOLE_AUDIT_DUE: Final = timedelta(days=35)
BACKUP_DUE: Final = timedelta(hours=26)
LOOK_DUE: Final = timedelta(hours=50)
"""Largest ages of the notes about audits, backups and the archive, as in the alerts of
`deploy/prometheus`."""

_AUDIT: Final = "run `pitlink audit`, and look at its timer"
_BACKUP: Final = "make a backup (deploy/docs/run/backup.md)"
_LOOK: Final = "run `pitlink archive`, and look at its timer"
_NEVER: Final = "none recorded yet"

_FILLS: Final = 0.15
_FULL: Final = 0.03
"""Shares of a disk that must be free, as for the alerts PitlinkDiskFills and PitlinkDiskFull."""
_BEHIND_MAX: Final = 1
"""This many closed gaming days can lack a file: `pitlink archive` runs some time after a close."""
_FIRST_WITHIN: Final = timedelta(hours=1)
"""The first gaming day gets a file within this time after its close: a timer runs `pitlink archive`
every half hour."""
_NAMED_MAX: Final = 4


def note_checks(floor: Floor) -> Iterator[Check]:
    """Yield the times of the last audit, whole audit, backup and check of the archive.

    A missing audit or backup is a warning only after a service has used the data directory. While
    the audits of a new floor have checked neither an archived day nor the whole ledger, a missing
    backup is no warning.
    """
    data = Path(floor.service.data)
    begun = bool(marked_links(data))
    audit = read_note(data / AUDIT_NOTE, AuditNote)
    whole = read_note(data / WHOLE_AUDIT_NOTE, AuditNote)
    yield _noted("last audit", audit, AUDIT_DUE, _AUDIT, begun=begun)
    yield _noted("last whole audit", whole, WHOLE_AUDIT_DUE, _AUDIT)
    new = audit is not None and not audit.through and whole is None
    try:
        backup: datetime | None = datetime.fromtimestamp(backup_note(data).stat().st_mtime, UTC)
    except OSError:
        backup = None
    seen = f"{backup:%Y-%m-%dT%H:%M:%SZ}" if backup else ""
    yield _dated("last backup", backup, seen, BACKUP_DUE, _BACKUP, begun=begun and not new)
    yield _noted("last check of the archive", _last_look(floor), LOOK_DUE, _LOOK)


async def archive_checks(floor: Floor, redis: AnyRedis) -> AsyncIterator[Check]:
    """Yield for each link whether its archive files are there, as the ledger recorded them.

    Only the head and the length of a file are checked, and the whole file if it was damaged at the
    last check.

    Raises:
        ValueError: the data in Redis is damaged.
    """
    archive, looked = Path(floor.archive.directory), _last_look(floor)
    for link in floor.link:
        before = looked.links.get(link.id, CheckedLink()) if looked else CheckedLink()
        store = LinkStore(redis, link)
        _, wrong = await check_archive_files(
            store, ArchiveFiles(archive, link.id), before, lambda _done, _of: None, reads=0
        )
        good = "every file is there, and is the one that was archived"
        yield judged(f"archive of {link.id}", "; ".join(wrong), good, warns=True)


def _last_look(floor: Floor) -> ArchiveNote | None:
    return read_note(Path(floor.archive.directory) / ARCHIVE_NOTE, ArchiveNote)


def _noted(
    what: str,
    note: AuditNote | ArchiveNote | None,
    due: timedelta,
    act: str,
    *,
    begun: bool = False,
) -> Check:
    if note is None:
        return _dated(what, None, "", due, act, begun=begun)
    if note.problems:
        return warning(what, f"{note.at}: {'; '.join(note.problems)}")
    at = datetime.fromisoformat(note.at)
    return _dated(what, at, f"{note.at}: all in order", due, act, begun=begun)


def _dated(
    what: str, at: datetime | None, seen: str, due: timedelta, act: str, *, begun: bool
) -> Check:
    if at is None:
        seen = f"{_NEVER}: {act}" if begun else _NEVER
        return Check(what, holds=not begun, seen=seen, warns=True)
    if now() - at <= due:
        return passed(what, seen)
    hours = due // timedelta(hours=1)
    return warning(what, f"{seen}, more than {hours} hours ago: {act}")


def check_archived_days(floor: Floor, closed: Mapping[str, str]) -> Check:
    """Check that each link's newest archive file is of its last closed day, or the day before.

    `closed` has each link's last closed day. Soon after its first close, a link needs no file.
    """
    what, directory = "archived days", Path(floor.archive.directory)
    try:
        last = {link: ArchiveFiles(directory, link).newest_day() for link in closed}
    except OSError as error:
        return unreadable(what, directory, error)
    behind, days_of = [], GamingDays.of_facility(floor.facility)
    for link, day in closed.items():
        newest = last[link]
        if newest is None:
            _, closed_at = days_of.bounds(date.fromisoformat(day))
            if now() - closed_at > _FIRST_WITHIN:
                behind.append(f"{link} has no file, and {day} is closed")
        elif (days := (date.fromisoformat(day) - newest).days) > _BEHIND_MAX:
            behind.append(f"{link} is {days} days behind, its last file is {newest}")
    if behind:
        more = [f"and {len(behind) - _NAMED_MAX} more links"] * (len(behind) > _NAMED_MAX)
        seen = "; ".join([*behind[:_NAMED_MAX], *more, "run `pitlink archive`"])
        return warning(what, seen)
    days_held = sorted({day for day in last.values() if day is not None})
    seen = f"up to {days_held[0]}" if days_held else "none yet"
    waiting = [link for link, day in closed.items() if str(last[link]) != day]
    return passed(what, seen + "; one closed day waits" * bool(waiting))


def disk_checks(floor: Floor) -> Iterator[Check]:
    places = {"data": Path(floor.service.data), "archive": Path(floor.archive.directory)}
    disks: dict[int, list[str]] = {}
    for name, place in places.items():
        try:
            disks.setdefault(nearest_existing(place).stat().st_dev, []).append(name)
        except OSError as error:
            yield unreadable(f"disk of {name}", place, error)
    for names in disks.values():
        what, place = f"disk of {' and '.join(names)}", nearest_existing(places[names[0]])
        try:
            disk = shutil.disk_usage(place)
        except OSError as error:
            yield unreadable(what, place, error)
            continue
        free = disk.free / disk.total
        seen = f"{decimal(disk.free)} of {decimal(disk.total)} free, {free:.0%}"
        yield Check(what, holds=free >= _FILLS, seen=seen, warns=free >= _FULL)


def unreadable(what: str, place: Path | None, error: OSError) -> Check:
    return warning(what, f"{place} cannot be read: {error.strerror or error}")


def nearest_existing(path: Path) -> Path:
    """Return a path, or its nearest parent that exists; if none exists, the path itself."""
    return next((each for each in (path, *path.absolute().parents) if each.exists()), path)
