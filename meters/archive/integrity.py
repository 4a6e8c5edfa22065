"""Integrity check of archive files: new and changed files are opened, some are read completely.

A check compares the names, sizes and times of the files with those of the last check. If an earlier
file has changed, every file is opened, otherwise only the later files. A file that is opened is
compared with the files before and after it, and with the ledger in Redis.

Each night, the last file and a few others are also read completely, and the next night continues
after these. So the work of one night does not grow with the archive, and even a long archive is
read completely within months. `pitlink audit` reads all files in one run.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Final, cast

import msgspec

from meters.archive.archive_days import ArchiveFiles, day_of
from meters.archive.day_file import ArchiveError, DayFile
from meters.audit.audit_notes import ARCHIVE_NOTE, CheckedLink
from meters.ledger.entry_messages import ARCHIVED, EXPIRED, Archived
from meters.store.link_store import LinkStore

READ_A_NIGHT: Final = 7
"""Number of archive files of a link that one night reads completely, in addition to the last
file."""

_PUT_BACK: Final = (
    "if another machine has the archive, run this there; if not, put a copy back"
    " (deploy/docs/run/archive.md, When files are lost)"
)

Advance = Callable[[int, int], None]


async def check_archive_files(
    store: LinkStore, archive: ArchiveFiles, before: CheckedLink, advance: Advance, *, reads: int
) -> tuple[CheckedLink, list[str]]:
    """Check the archive files of a link. Return the new results, and texts about the problems.

    `before` are the results of the last check. `reads` is the number of files to read completely;
    if it is not 0, the last file is read completely too. Files that were damaged at the last check
    are always read completely. `advance` receives the count of finished files and of all files.
    """
    try:
        paths = archive.paths()
        through = day_of(paths[-1]) if paths else ""
        listing, since = archive.listing(through), _unchanged_through(archive, before)
        files = archive.files(since)
    except (OSError, ArchiveError) as error:
        return _in_doubt(before), [f"{error}: {_PUT_BACK}"]
    (noted_to,) = cast(
        "list[bytes | None]", await store.redis.hmget(store.keys.meters, ["archived"])
    )
    archived = int(noted_to or 0)
    if not files:
        lost = (
            f"{archive.directory} has no file, and the ledger was archived up to entry {archived}"
        )
        return _in_doubt(before), [f"{lost}: {_PUT_BACK}"] if archived else []
    problems = []
    noted, expired_to = await _noted(store)
    if files[-1].head.last < archived:
        recorded = noted.get(archived)
        missing = (
            archive.path(recorded.day.isoformat())
            if recorded
            else f"the file after {files[-1].path}"
        )
        problems.append(
            f"{missing} is missing: the ledger was archived up to entry {archived}: {_PUT_BACK},"
            " or run `pitlink archive --lost`"
        )
    first = files[0].head.first if since is None else before.first
    if before.first and first > max(before.first, expired_to + 1):
        problems.append(
            f"the files in {archive.directory} began with entry {before.first} and now begin with"
            f" {files[0].head.day}, entry {first}, and the ledger does not say that any were"
            f" deleted: {_PUT_BACK}, or, to continue without them, remove the note of the last"
            f" check, {archive.directory.parent / ARCHIVE_NOTE}"
        )
    for file in files:
        recorded = noted.get(file.head.last)
        if recorded is not None and recorded.digest != file.digest:
            problems.append(f"{file.path} is not the file that was archived: {_PUT_BACK}")
        elif not file.is_whole():
            problems.append(f"{file.path} is damaged: its length has changed: {_PUT_BACK}")
    read, damaged = _read(paths, before, reads, advance)
    checked = CheckedLink(
        first=min(before.first or first, first) if problems else first,
        read=read,
        damaged=tuple(damaged),
        through=through,
        listing=listing,
    )
    wrong = [*problems, *damaged.values()]
    return _in_doubt(checked) if wrong else checked, wrong


def _unchanged_through(archive: ArchiveFiles, before: CheckedLink) -> date | None:
    """Return the day up to which files are as in the last check; None to open all files."""
    if not before.listing or archive.listing(before.through) != before.listing:
        return None
    return date.fromisoformat(before.through)


def _in_doubt(checked: CheckedLink) -> CheckedLink:
    """Return the results of a check after which the next check opens every file."""
    return msgspec.structs.replace(checked, through="", listing="")


def _read(
    paths: Sequence[Path], before: CheckedLink, reads: int, advance: Advance
) -> tuple[str, Mapping[str, str]]:
    """Read some files completely: the next `reads` files, the last file, and damaged files.

    If `reads` is 0, only read damaged files. Return the last gaming day of the next `reads` files,
    and the problems by gaming day.
    """
    by_day = {day_of(path): path for path in paths}
    turn = sorted(by_day, key=lambda day: (day <= before.read, day))[:reads]
    due = [*dict.fromkeys([*turn, *(list(by_day)[-1:] if reads else []), *before.damaged])]
    problems = {}
    for number, day in enumerate(due):
        if day in by_day:
            try:
                DayFile(by_day[day]).verify()
            except ArchiveError as error:
                problems[day] = f"{error}: {_PUT_BACK}"
        advance(number + 1, len(due))
    return turn[-1] if turn else before.read, problems


async def _noted(store: LinkStore) -> tuple[Mapping[int, Archived], int]:
    """Return what the ledger entries in Redis record about the archive.

    Returns:
        The archived days, by the number of the day's last entry; and the number of the last entry
            whose file was deleted at the end of its retention, or 0.
    """
    archived: dict[int, Archived] = {}
    expired_to = 0
    async for kind, event in _acts(store):
        if kind == "archive":
            noted = ARCHIVED.decode(event)
            archived[noted.last] = noted
        elif kind == "expire":
            expired_to = max(expired_to, EXPIRED.decode(event).last)
    return archived, expired_to


async def _acts(store: LinkStore) -> AsyncIterator[tuple[str, str]]:
    async for _, fields in store.every_act():
        yield fields["kind"], fields["event"]


def last_day(archive: ArchiveFiles) -> date | None:
    """Return the last archived gaming day. None if no day is archived, or a file cannot be read."""
    try:
        files = archive.files(date.max)
    except ArchiveError:
        return None
    return files[-1].head.day if files else None
