"""The tables' outboxes: the events that the tables sent, and the replies, as exact bytes.

An outbox is evidence, so it must not change. But if an agent was killed, its outbox file changes as
soon as a program opens it. So the restore reads copies.
"""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bonus.errors import UserError
from bonus.json_input import UNREADABLE
from meters.ledger.script_steps import Status
from meters.wire.messages import REPLY, TABLE_EVENT, Hello, MoneyEvent, Reply

_VERSION: Final = 1
"""The version of an outbox's file format."""
_ENDING: Final = ".sqlite"
_LOCKED: Final = "locked"
_REQUESTED: Final = frozenset({Status.UNCONFIRMED, Status.CORRECTION_REFUSED})
_OF_ANOTHER_EVENT: Final = tuple(
    f'"code":"{code}"'.encode() for code in (Status.SEQ_REUSED, Status.SEQ_PASSED)
)
"""Parts of the reply to an event whose number the service had used for another event."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An event that a table sent, and the service's reply: each is decoded, and in exact bytes."""

    table: str
    seq: int
    payload: bytes
    event: MoneyEvent
    reply_payload: bytes
    reply: Reply

    @property
    def requested(self) -> bool:
        """True for a correction that waited for a floorperson, or that a floorperson refused."""
        return self.reply.error is not None and self.reply.error.code in _REQUESTED


class OutboxCopy:
    """A copy of the outbox of one table.

    `path` is the path of the original file. `answered` is the number of the table's last event that
    the service had answered; 0 if there is no such event. The outbox can lack this event: if an
    outbox was lost, the agent got only the number from the service.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                raise RestoreError(f"{path}: it is not an outbox of this version")
            check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if check != "ok":
                raise RestoreError(f"{path}: it is damaged: {check}")
            row = connection.execute('SELECT link, "table", known_seq FROM place').fetchone()
            (last,) = connection.execute(
                "SELECT ifnull(max(seq), 0) FROM event WHERE reply IS NOT NULL"
            ).fetchone()
        except sqlite3.Error as error:
            raise RestoreError(f"{path}: it is damaged: {error}") from None
        if row is None:
            raise RestoreError(f"{path}: it does not name its table")
        self.link, self.table = str(row[0]), str(row[1])
        if not isinstance(row[2], int) or not isinstance(last, int):
            raise RestoreError(f"{path}: it is damaged: it has other values in place of numbers")
        self.answered = max(int(last), int(row[2]))

    def lacks(self, seq: int) -> bool:
        """Return whether the outbox lacks any answered event after the number `seq`.

        If the service refused an event because the service already had another event with this
        number, the outbox is an older copy, and lacks that other event.
        """
        (count,) = self._connection.execute(
            "SELECT count(*) FROM event WHERE seq > ? AND reply IS NOT NULL"
            " AND NOT instr(reply, ?) AND NOT instr(reply, ?)",
            (seq, *_OF_ANOTHER_EVENT),
        ).fetchone()
        return int(count) < self.answered - seq

    def payload(self, seq: int) -> bytes | None:
        """Return the exact bytes of an event; None if the outbox lacks the event.

        If the service had another event with this number, the outbox lacks the service's event.
        """
        row = self._connection.execute(
            "SELECT payload FROM event WHERE seq = ?"
            " AND NOT instr(ifnull(reply, x''), ?) AND NOT instr(ifnull(reply, x''), ?)",
            (seq, *_OF_ANOTHER_EVENT),
        ).fetchone()
        return None if row is None else bytes(row[0])

    def after(self, seq: int) -> Iterator[Answered]:
        """Yield the answered events after the number `seq`, in order.

        Raises:
            RestoreError: an event cannot be read.
        """
        rows = self._connection.execute(
            "SELECT seq, payload, reply FROM event WHERE seq > ? AND reply IS NOT NULL"
            " ORDER BY seq",
            (seq,),
        )
        for number, payload, answered in rows:
            try:
                event, reply = TABLE_EVENT.decode(payload), REPLY.decode(answered)
            except UNREADABLE as error:
                raise RestoreError(f"{self.path}: event {number} cannot be read: {error}") from None
            if isinstance(event, Hello):
                raise RestoreError(f"{self.path}: event {number} is a hello, which has no number")
            yield Answered(self.table, number, payload, event, answered, reply)


@contextmanager
def read_outboxes(paths: Sequence[Path], link: str) -> Iterator[Mapping[str, OutboxCopy]]:
    """Copy the outboxes of a link's tables, and yield the copies by table.

    Each path is an outbox file, or a directory with outbox files. Outboxes of other links are
    ignored.

    Raises:
        RestoreError: an agent uses an outbox, an outbox is damaged, or a table has two outboxes.
    """
    found: dict[str, OutboxCopy] = {}
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="pitlink-restore-")))
        for number, path in enumerate(_files(paths)):
            outbox = _copied(path, home / f"{number}{_ENDING}", stack)
            if outbox.link != link:
                continue
            if other := found.get(outbox.table):
                raise RestoreError(
                    f"{other.path} and {path} are both of table {outbox.table}: keep only the file"
                    " that the table's agent used last"
                )
            found[outbox.table] = outbox
        yield found


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            for found in sorted(path.glob(f"*{_ENDING}")):
                if not found.is_file():
                    raise RestoreError(f"{found}: it is not a file, so it is no outbox: remove it")
                yield found
        elif path.is_file():
            yield path
        else:
            raise RestoreError(f"{path}: there is no such file or directory")


def _copied(path: Path, copy: Path, stack: ExitStack) -> OutboxCopy:
    if _is_used(path):
        raise RestoreError(
            f"{path}: its agent runs: stop the agent, and start it after the restore"
        )
    try:
        for ending in ("", "-wal"):
            companion = Path(f"{path}{ending}")
            if companion.exists():
                shutil.copyfile(companion, f"{copy}{ending}")
        connection = sqlite3.connect(copy, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise RestoreError(f"{path}: it cannot be copied: {error}") from None
    stack.callback(connection.close)
    return OutboxCopy(path, connection)


def _is_used(path: Path) -> bool:
    """Return whether an agent uses an outbox: a running agent keeps the file locked."""
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
    ) as connection:
        try:
            connection.execute("SELECT 1 FROM place").fetchone()
        except sqlite3.Error as error:
            return _LOCKED in str(error)
    return False


class RestoreError(UserError):
    """A restore that is not possible. The text has the reason, or what is missing."""
