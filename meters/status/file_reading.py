"""Audits, archive, backup, disks and keys, read from files on this machine."""

import shutil
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from rich.filesize import decimal

from meters.archive.archive_days import ArchiveFiles
from meters.floor.credentials import keys_directory
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor
from meters.keys.key_expiry import check_keys
from meters.selfcheck.check_result import Check
from meters.selfcheck.record_checks import note_checks
from meters.wire.clock import now

_FILLS: Final = 0.15
_FULL: Final = 0.03
"""Parts of a disk that must be free, as in the alerts PitlinkDiskFills and PitlinkDiskFull."""
_BEHIND_MAX: Final = 1
"""Closed gaming days that can be without a file: `pitlink archive` runs some time after a close."""
_FIRST_WITHIN: Final = timedelta(hours=1)
"""Time after its close by which the first gaming day has a file: the timer runs every half hour."""
_NAMED_MAX: Final = 4


def read_files(floor: Floor) -> Iterator[Check]:
    """Yield a check for each kind of file. A file that cannot be read is a failed check."""
    yield from note_checks(floor)
    yield from _check_disks(floor)
    keys = keys_directory(floor.service)
    try:
        for seen in check_keys(keys) if keys else ():
            yield Check(*seen)
    except OSError as error:
        yield _unreadable("keys", keys, error)


def check_archived_days(floor: Floor, closed: Mapping[str, str]) -> Check:
    """Check if each closed gaming day has a file in the archive.

    `closed` has the last closed gaming day by link.
    """
    what, directory = "archived days", Path(floor.archive.directory)
    try:
        last = {link: ArchiveFiles(directory, link).newest_day() for link in closed}
    except OSError as error:
        return _unreadable(what, directory, error)
    behind, days_of = [], GamingDays.of_facility(floor.facility)
    for link, day in closed.items():
        newest = last[link]
        if newest is None:
            _, closed_at = days_of.bounds(date.fromisoformat(day))
            if now() - closed_at > _FIRST_WITHIN:
                behind.append(f"{link} has none, and {day} is closed")
        elif (days := (date.fromisoformat(day) - newest).days) > _BEHIND_MAX:
            behind.append(f"{link} is {days} days behind, its last file is {newest}")
    if behind:
        more = [f"and {len(behind) - _NAMED_MAX} links more"] * (len(behind) > _NAMED_MAX)
        seen = "; ".join([*behind[:_NAMED_MAX], *more, "run `pitlink archive`"])
        return Check(what, holds=False, seen=seen, warns=True)
    days_held = sorted({day for day in last.values() if day is not None})
    seen = f"up to {days_held[0]}" if days_held else "none yet"
    waiting = [link for link, day in closed.items() if str(last[link]) != day]
    return Check(what, holds=True, seen=seen + "; one closed day waits" * bool(waiting))


def _check_disks(floor: Floor) -> Iterator[Check]:
    """Yield a check of the free space for data and archive; one if both are on the same disk."""
    places = {"data": Path(floor.service.data), "archive": Path(floor.archive.directory)}
    disks: dict[int, list[str]] = {}
    for name, place in places.items():
        try:
            disks.setdefault(_existing(place).stat().st_dev, []).append(name)
        except OSError as error:
            yield _unreadable(f"disk of {name}", place, error)
    for names in disks.values():
        yield _check_disk(f"disk of {' and '.join(names)}", _existing(places[names[0]]))


def _check_disk(what: str, place: Path) -> Check:
    try:
        disk = shutil.disk_usage(place)
    except OSError as error:
        return _unreadable(what, place, error)
    free = disk.free / disk.total
    seen = f"{decimal(disk.free)} of {decimal(disk.total)} free, {free:.0%}"
    return Check(what, holds=free >= _FILLS, seen=seen, warns=free >= _FULL)


def _existing(place: Path) -> Path:
    """Return a directory, or its nearest parent that exists."""
    return next((each for each in (place, *place.absolute().parents) if each.exists()), place)


def _unreadable(what: str, place: Path | None, error: OSError) -> Check:
    seen = f"{place} cannot be read: {error.strerror or error}"
    return Check(what, holds=False, seen=seen, warns=True)
