"""Files with notes about the last audit, archive check and backup.

Metrics, alerts and `pitlink check` use the notes. The note about an audit is in the data directory.
The note about an archive check is next to the archive files, so the services can read it.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from meters.process.private_files import replace_private_file
from meters.wire.clock import now_text

AUDIT_NOTE: Final = "last-audit.json"
WHOLE_AUDIT_NOTE: Final = "last-whole-audit.json"
ARCHIVE_NOTE: Final = "last-check.json"
PROBLEMS_NOTED: Final = 20


class _Note(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    problems: tuple[str, ...] = ()

    @property
    def at_s(self) -> float:
        """Seconds since 1970."""
        return datetime.fromisoformat(self.at).timestamp()


class AuditNote(_Note, frozen=True, kw_only=True):
    """The note about the last audit.

    It was `whole` if it began with the first ledger entry that still exists. For each link, audits
    found no problem in the archive up to the gaming day in `through`.
    """

    whole: bool
    through: Mapping[str, str] = {}


class CheckedLink(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the checks of a link's archive.

    `first` is the number of the first ledger entry in the archive. The next check continues after
    `read`, the gaming day of the last file that was read in the order of the days. Every check
    reads the files of `damaged` days again. `through` is the last gaming day of a check of all
    files that found no problem, and `listing` a digest of the names, sizes and times of the files
    up to it: while it is the same, a check opens only the later files.
    """

    first: int = 0
    read: str = ""
    damaged: tuple[str, ...] = ()
    through: str = ""
    listing: str = ""


class ArchiveNote(_Note, frozen=True, kw_only=True):
    """The last check of the archive files. `read_at` is when one last read some completely."""

    read_at: str
    links: Mapping[str, CheckedLink] = {}

    @property
    def read_s(self) -> float:
        """The time `read_at`, in seconds since 1970."""
        return datetime.fromisoformat(self.read_at).timestamp()


_AnyNote = TypeVar("_AnyNote", AuditNote, ArchiveNote)


def backup_note(data: Path) -> Path:
    """Return the path of the file whose time is that of the last backup.

    It is in a directory of root next to the data directory, so that the account of the services can
    read the time, but cannot set it.
    """
    data = data.absolute()
    return data.with_name(f"{data.name}-backup") / "last-backup"


def read_note(path: Path, of: type[_AnyNote]) -> _AnyNote | None:
    """Return the note in a file, or None if there is no note or the file cannot be read."""
    try:
        note = msgspec.json.decode(path.read_bytes(), type=of)
        datetime.fromisoformat(getattr(note, "read_at", note.at))
        datetime.fromisoformat(note.at)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    return note


def write_note(path: Path, note: AuditNote | ArchiveNote) -> None:
    replace_private_file(path, [msgspec.json.encode(note)])


def note_audit(
    data: Path, problems: tuple[str, ...], through: Mapping[str, str], *, whole: bool
) -> None:
    """Write the note about an audit into the data directory, if this directory exists."""
    if not data.is_dir():
        return
    if problems:
        # After a problem, the next audit begins with the last gaming day without a problem.
        before = read_note(data / AUDIT_NOTE, AuditNote)
        through = before.through if before else {}
    note = AuditNote(
        at=now_text(), problems=problems[:PROBLEMS_NOTED], whole=whole, through=through
    )
    write_note(data / AUDIT_NOTE, note)
    if whole:
        write_note(data / WHOLE_AUDIT_NOTE, note)
