"""Checks of the records: the last audits and backup, and the archive's files (D17, D19)."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

from meters.archive.archive_days import ArchiveFiles
from meters.archive.integrity import check_archive_files
from meters.books.audit_notes import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    BACKUP_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    CheckedLink,
    read_note,
)
from meters.books.store import LinkStore
from meters.floor.floor_file import Floor
from meters.redis_client.shards import AnyRedis
from meters.selfcheck.check_result import Check

_NEVER = "never noted here"


def note_checks(floor: Floor) -> Iterator[Check]:
    """Yield a result for each note: last audit, last whole audit, backup, archive check.

    Each note says when this was done. The note on the archive check is in the archive directory,
    the other notes are in the data directory.
    """
    data = Path(floor.service.data)
    yield _noted("last audit", read_note(data / AUDIT_NOTE, AuditNote))
    yield _noted("last whole audit", read_note(data / WHOLE_AUDIT_NOTE, AuditNote))
    yield _backup(data / BACKUP_NOTE)
    yield _noted("last look at the archive", _last_look(floor))


async def archive_checks(floor: Floor, redis: AnyRedis) -> AsyncIterator[Check]:
    """Yield for each link whether its archive files match their digests in the ledger.

    Raises:
        RedisError: the store failed.
        ValueError: the data in Redis is damaged.
    """
    archive, looked = Path(floor.archive.directory), _last_look(floor)
    for link in floor.link:
        before = looked.links.get(link.id, CheckedLink()) if looked else CheckedLink()
        store = LinkStore(redis, link)
        _, wrong = await check_archive_files(
            store, ArchiveFiles(archive, link.id), before, lambda _done, _of: None, reads=0
        )
        seen = "; ".join(wrong) or "every file is there, and is the one that was archived"
        yield Check(f"archive of {link.id}", holds=not wrong, seen=seen, warns=True)


def _last_look(floor: Floor) -> ArchiveNote | None:
    return read_note(Path(floor.archive.directory) / ARCHIVE_NOTE, ArchiveNote)


def _noted(what: str, note: AuditNote | ArchiveNote | None) -> Check:
    if note is None:
        return Check(what, holds=True, seen=_NEVER)
    found = "; ".join(note.problems) or "all in order"
    return Check(what, holds=not note.problems, seen=f"{note.at}: {found}", warns=True)


def _backup(path: Path) -> Check:
    try:
        at_s = path.stat().st_mtime
    except OSError:
        return Check("last backup", holds=True, seen=_NEVER)
    return Check(
        "last backup",
        holds=True,
        seen=datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds"),
    )
