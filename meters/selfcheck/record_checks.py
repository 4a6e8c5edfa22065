"""Checks of the records: the last audits and backup, and the archive's files (D17, D19)."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from meters.archive.archive_days import ArchiveFiles
from meters.archive.integrity import check_archive_files
from meters.books.audit_notes import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    CheckedLink,
    backup_note,
    read_note,
)
from meters.books.ledger_mark import marked_links
from meters.books.store import LinkStore
from meters.floor.floor_file import Floor
from meters.redis_client.shards import AnyRedis
from meters.selfcheck.check_result import Check
from meters.wire.clock import now

AUDIT_DUE: Final = timedelta(hours=36)
WHOLE_AUDIT_DUE: Final = timedelta(days=35)
BACKUP_DUE: Final = timedelta(hours=26)
LOOK_DUE: Final = timedelta(hours=50)
"""The ages above which a note is too old. The alerts in `deploy/prometheus` use the same ages."""

_AUDIT: Final = "run `pitlink audit`, and look at its timer"
_BACKUP: Final = "make a backup (deploy/docs/run/backup.md)"
_LOOK: Final = "run `pitlink archive`, and look at its timer"
_NEVER: Final = "none recorded yet"


def note_checks(floor: Floor) -> Iterator[Check]:
    """Yield a result for each note: last audit, last whole audit, backup, archive check.

    Each says when this was done. The note on the archive check is in the archive directory, that on
    the backup next to the data directory, the others in it. A missing audit is no reason for a
    warning before a service has used the data directory, and a missing backup not before an audit
    of the first closed gaming day.
    """
    data = Path(floor.service.data)
    begun = bool(marked_links(data))
    audit = read_note(data / AUDIT_NOTE, AuditNote)
    whole = read_note(data / WHOLE_AUDIT_NOTE, AuditNote)
    look = _last_look(floor)
    yield _noted("last audit", audit, AUDIT_DUE, _AUDIT, begun=begun)
    yield _noted("last whole audit", whole, WHOLE_AUDIT_DUE, _AUDIT)
    new = audit is not None and not audit.through and whole is None
    yield _backup(backup_note(data), begun=begun and not new)
    yield _noted("last check of the archive", look, LOOK_DUE, _LOOK)


async def archive_checks(floor: Floor, redis: AnyRedis) -> AsyncIterator[Check]:
    """Yield for each link whether its archive files match their digests in the ledger.

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
        seen = "; ".join(wrong) or "every file is there, and is the one that was archived"
        yield Check(f"archive of {link.id}", holds=not wrong, seen=seen, warns=True)


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
        return _never(what, act, begun=begun)
    if note.problems:
        seen = f"{note.at}: {'; '.join(note.problems)}"
        return Check(what, holds=False, seen=seen, warns=True)
    return _dated(what, datetime.fromisoformat(note.at), f"{note.at}: all in order", due, act)


def _backup(path: Path, *, begun: bool) -> Check:
    what = "last backup"
    try:
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return _never(what, _BACKUP, begun=begun)
    return _dated(what, at, f"{at:%Y-%m-%dT%H:%M:%SZ}", BACKUP_DUE, _BACKUP)


def _never(what: str, act: str, *, begun: bool) -> Check:
    seen = f"{_NEVER}: {act}" if begun else _NEVER
    return Check(what, holds=not begun, seen=seen, warns=True)


def _dated(what: str, at: datetime, seen: str, due: timedelta, act: str) -> Check:
    """Return the result for something that was done at a time; a warning if it is due again."""
    if now() - at <= due:
        return Check(what, holds=True, seen=seen)
    hours = due // timedelta(hours=1)
    return Check(what, holds=False, seen=f"{seen}, more than {hours} hours ago: {act}", warns=True)
