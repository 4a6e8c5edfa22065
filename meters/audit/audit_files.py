"""Files about audits: notes about the last audit, archive check and backup, and audit checkpoints.

Metrics, alerts and `pitlink check` use the notes. The note about an audit is in the data directory.
The note about an archive check is next to the archive files, so the services can read it.

The first audit of a service continues from an audit checkpoint. Without the checkpoint, a service
that starts must replay all days in Redis before its links operate. With the checkpoint, it must
replay only the entries after the last audit. Later audits of the service read the older entries
again in small parts. `pitlink audit` always replays all entries.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from bonus.json_input import UNREADABLE
from meters.ledger.checkpoint import Checkpoint, Mark
from meters.ledger.ledger_replay import AuditCheckpoint
from meters.ledger.table_evidence import LedgerReply, OpenedRound
from meters.process.clock import now_text
from meters.process.private_files import replace_private_file
from meters.store.link_store import LinkStore

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

    The audit was `whole` if it began with the first ledger entry that still exists. For each link,
    audits found no problem in the archive up to the gaming day in `through`.
    """

    whole: bool
    through: Mapping[str, str] = {}


class CheckedLink(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the checks of a link's archive.

    `first` is the number of the first ledger entry in the archive. The next check continues after
    `read`, the gaming day of the last file that was read in the order of the days. Every check
    reads the files of `damaged` days again. If the last check found no problem, `through` is the
    last gaming day of its files. `listing` is a digest of the names, sizes and times of the files
    up to `through`: while it is the same, a check opens only the file of `through` and later files.
    """

    first: int = 0
    read: str = ""
    damaged: tuple[str, ...] = ()
    through: str = ""
    listing: str = ""


class ArchiveNote(_Note, frozen=True, kw_only=True):
    """The last check of the archive files. At `read_at`, a check last read files completely."""

    read_at: str
    links: Mapping[str, CheckedLink] = {}

    @property
    def read_s(self) -> float:
        return datetime.fromisoformat(self.read_at).timestamp()


_AnyNote = TypeVar("_AnyNote", AuditNote, ArchiveNote)


def backup_note(data: Path) -> Path:
    """Return the path of the file whose time is that of the last backup.

    The file is in a directory that belongs to root, next to the data directory. So the services'
    system user can read the time, but cannot set it.
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


_CHECKPOINT: Final = "audit-checkpoint.json"


class _Table(msgspec.Struct, frozen=True, array_like=True, tag="table"):
    table: str
    replies: dict[int, LedgerReply]
    round: OpenedRound | None


class _Claim(msgspec.Struct, frozen=True, array_like=True, tag="claim"):
    claim: str
    fields: dict[str, str]


_DECODER: Final = msgspec.json.Decoder(AuditCheckpoint)
_LINES: Final = msgspec.json.Decoder(_Table | _Claim)


class AuditCheckpointFile:
    """The file with the last audit checkpoint of a link, next to the ledger mark of the link.

    Its first line is the `AuditCheckpoint` without the claims, and without the replies and open
    rounds of tables. Each further line has one claim, or the replies and the open round of one
    table.
    """

    def __init__(self, data: Path, link: str) -> None:
        self._path = data / "marks" / f"{link}.{_CHECKPOINT}"
        self._link = link

    async def read(self, store: LinkStore, seen: Mark) -> AuditCheckpoint | None:
        """Return the audit checkpoint if the ledger in Redis continues it, or None.

        An audit without the checkpoint only takes longer. So a file that is missing or damaged, or
        that belongs to another ledger, is no error. A checkpoint after the sealed entry of the
        ledger mark `seen` is not used, because the seal does not confirm it.
        """
        try:
            state = decode_checkpoint(self._path.read_bytes())
        except (OSError, *UNREADABLE):
            return None
        checkpoint = state.checkpoint
        if state.link != self._link or not 0 < checkpoint.entries <= seen.sealed:
            return None
        entries = dict(await store.entries(checkpoint.entries - 1, 1))
        digest = entries.get(checkpoint.entries, {}).get("chain", b"")
        return state if digest == checkpoint.chain.encode() else None

    def write(self, state: AuditCheckpoint) -> None:
        """Write the audit checkpoint in one step.

        A floor of 20,000 tables has a hundred megabytes of replies and open rounds, so they are
        encoded line by line. Until the end of this call, nobody may change `state`.

        Raises:
            OSError: the file cannot be written.
        """
        whole = state.checkpoint
        tables = replace(whole.tables, replies={}, rounds={})
        rest = msgspec.structs.replace(whole, tables=tables, claims={})
        first = msgspec.json.encode(msgspec.structs.replace(state, checkpoint=rest))
        others = (b"\n" + msgspec.json.encode(line) for line in _lines_of(whole))
        replace_private_file(self._path, chain([first], others))


def decode_checkpoint(content: bytes) -> AuditCheckpoint:
    first, *lines = content.split(b"\n")
    state = _DECODER.decode(first)
    tables, claims = state.checkpoint.tables, state.checkpoint.claims
    for each in map(_LINES.decode, lines):
        if isinstance(each, _Claim):
            claims[each.claim] = each.fields
            continue
        tables.replies[each.table] = each.replies
        if each.round:
            tables.rounds[each.table] = each.round
    if tables.replies.keys() != tables.last.keys():
        raise msgspec.DecodeError("the replies of a table are missing")
    return state


def _lines_of(state: Checkpoint) -> Iterator[_Table | _Claim]:
    for claim, fields in state.claims.items():
        yield _Claim(claim, fields)
    # The tables come last. The first line names them all, so a file that was cut off is refused.
    tables = state.tables
    for table in tables.last:
        yield _Table(table, tables.replies.get(table, {}), tables.rounds.get(table))
