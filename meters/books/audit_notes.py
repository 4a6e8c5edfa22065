"""Notes of the last audit, archive check and backup, for metrics, alerts and `check`.

The note of an audit is in the data directory. The note of an archive check is next to the archive's
files, where the services read it too.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from meters.process.private_files import write_private_file
from meters.wire.clock import now_text

AUDIT_NOTE: Final = "last-audit.json"
WHOLE_AUDIT_NOTE: Final = "last-whole-audit.json"
ARCHIVE_NOTE: Final = "last-check.json"
BACKUP_NOTE: Final = "last-backup"
"""A file in the data directory. A person or job that makes a backup touches it afterward."""
PROBLEMS_NOTED: Final = 20


class _Note(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that all notes have: the time in UTC, and the problems that were found."""

    at: str
    problems: tuple[str, ...] = ()

    @property
    def at_s(self) -> float:
        """The time of the note, in seconds since the epoch."""
        return datetime.fromisoformat(self.at).timestamp()


class AuditNote(_Note, frozen=True, kw_only=True):
    """The note of the last audit.

    Attributes:
        whole: whether it began with the first entry that there is.
        through: for each link, the last archived gaming day up to which audits found no problem.
    """

    whole: bool
    through: Mapping[str, str] = {}


class CheckedLink(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a link's archive.

    Attributes:
        first: the number of the first entry in it.
        read: the last gaming day whose file was read completely. The days are read in turn.
        damaged: the days whose files were read and have changed. They are read again each time.
    """

    first: int = 0
    read: str = ""
    damaged: tuple[str, ...] = ()


class ArchiveNote(_Note, frozen=True, kw_only=True):
    """The note of the last check of the archive's files.

    Attributes:
        read_at: the time when files were last read completely.
        links: the state of each link's archive.
    """

    read_at: str
    links: Mapping[str, CheckedLink] = {}

    @property
    def read_s(self) -> float:
        """The time when files were last read completely, in seconds since the epoch."""
        return datetime.fromisoformat(self.read_at).timestamp()


_AnyNote = TypeVar("_AnyNote", AuditNote, ArchiveNote)


def read_note(path: Path, of: type[_AnyNote]) -> _AnyNote | None:
    """Read a note. Return None if there is none or it cannot be read."""
    try:
        note = msgspec.json.decode(path.read_bytes(), type=of)
        datetime.fromisoformat(getattr(note, "read_at", note.at))
        datetime.fromisoformat(note.at)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    return note


def write_note(path: Path, note: AuditNote | ArchiveNote) -> None:
    """Replace the note before. The owner of the directory becomes the owner of the note.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}.new")
    with write_private_file(temporary) as file:
        file.write(msgspec.json.encode(note))
    owner = path.parent.stat()
    if os.geteuid() == 0:
        # An operator may run a command as root, and the services must be able to read its note.
        os.chown(temporary, owner.st_uid, owner.st_gid)
    temporary.replace(path)


def note_audit(
    data: Path, problems: tuple[str, ...], through: Mapping[str, str], *, whole: bool
) -> None:
    """Note an audit in the data directory, if that directory exists.

    Raises:
        OSError: it cannot be written.
    """
    if not data.is_dir():
        return
    if problems:
        # After a problem, the next audit begins with the last day that had none.
        before = read_note(data / AUDIT_NOTE, AuditNote)
        through = before.through if before else {}
    note = AuditNote(
        at=now_text(), problems=problems[:PROBLEMS_NOTED], whole=whole, through=through
    )
    write_note(data / AUDIT_NOTE, note)
    if whole:
        write_note(data / WHOLE_AUDIT_NOTE, note)
