"""Notes of the last audit, archive check and backup, for metrics, alerts and `check`.

An audit's is in the data directory, an archive's with
its files, where the services read it too.
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
"""A file under the data directory: whoever makes a backup touches it afterwards."""
PROBLEMS_NOTED: Final = 20


class _Note(msgspec.Struct, frozen=True, kw_only=True):
    """What notes share: when it was, in UTC, and what did not hold."""

    at: str
    problems: tuple[str, ...] = ()

    @property
    def at_s(self) -> float:
        """When it was, in seconds since the epoch."""
        return datetime.fromisoformat(self.at).timestamp()


class AuditNote(_Note, frozen=True, kw_only=True):
    """The last audit.

    Attributes:
        whole: whether it began with the first entry that there is.
        through: of each link, the last archived gaming day up to which audits found it in order.
    """

    whole: bool
    through: Mapping[str, str] = {}


class CheckedLink(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a link's archive.

    Attributes:
        first: the number of the first entry in it.
        read: the last gaming day whose file was read whole, in turn.
        damaged: the days whose files were read and are not as they were: read again each time.
    """

    first: int = 0
    read: str = ""
    damaged: tuple[str, ...] = ()


class ArchiveNote(_Note, frozen=True, kw_only=True):
    """The last look at the archive's files.

    Attributes:
        read_at: when files were last read whole.
        links: what was seen of each link's.
    """

    read_at: str
    links: Mapping[str, CheckedLink] = {}

    @property
    def read_s(self) -> float:
        """When files were last read whole, in seconds since the epoch."""
        return datetime.fromisoformat(self.read_at).timestamp()


_AnyNote = TypeVar("_AnyNote", AuditNote, ArchiveNote)


def read_note(path: Path, of: type[_AnyNote]) -> _AnyNote | None:
    """Read a note; None where there is none, or none that can be read."""
    try:
        note = msgspec.json.decode(path.read_bytes(), type=of)
        datetime.fromisoformat(getattr(note, "read_at", note.at))
        datetime.fromisoformat(note.at)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    return note


def write_note(path: Path, note: AuditNote | ArchiveNote) -> None:
    """Put a note in place of the one before, as the owner of its directory.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}.new")
    with write_private_file(temporary) as file:
        file.write(msgspec.json.encode(note))
    owner = path.parent.stat()
    if os.geteuid() == 0:
        # So that the services read what an operator left who ran a command as root.
        os.chown(temporary, owner.st_uid, owner.st_gid)
    temporary.replace(path)


def note_audit(
    data: Path, problems: tuple[str, ...], through: Mapping[str, str], *, whole: bool
) -> None:
    """Note an audit, in the data directory where there is one.

    Raises:
        OSError: it cannot be written.
    """
    if not data.is_dir():
        return
    if problems:
        # What comes next begins where all was still in order.
        before = read_note(data / AUDIT_NOTE, AuditNote)
        through = before.through if before else {}
    note = AuditNote(
        at=now_text(), problems=problems[:PROBLEMS_NOTED], whole=whole, through=through
    )
    write_note(data / AUDIT_NOTE, note)
    if whole:
        write_note(data / WHOLE_AUDIT_NOTE, note)
