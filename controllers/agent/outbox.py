"""The outbox of one table: every event is on disk before it is published, and stays there.

SQLite in its write-ahead log. An event that goes to the service is synced to the disk before the
call returns (synchronous FULL); the table's own state between events is not (NORMAL): it outlives
a killed agent, and after a power cut it may be the one before. The connection holds the file
exclusively, so a second agent on the same outbox is refused.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from bonus.errors import UserError
from meters.process.private_files import make_private_directory, make_private_file

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE event (
    seq INTEGER PRIMARY KEY CHECK (seq >= 1),
    payload BLOB NOT NULL,
    reply BLOB
) STRICT;
CREATE TABLE place (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    link TEXT NOT NULL,
    "table" TEXT NOT NULL,
    known_seq INTEGER NOT NULL,
    state BLOB,
    line BLOB,
    answer BLOB
) STRICT;
"""


class OutboxError(UserError):
    """An outbox that cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An event as it was first published, and the reply, None where it is unanswered."""

    seq: int
    payload: bytes
    reply: bytes | None


@dataclass(frozen=True, slots=True)
class SavedTable:
    """Where the table was: its state, the last device event that was taken, and its answer.

    Each is None where there is none as yet; `answer` also while the service's reply is awaited.
    """

    state: bytes | None = None
    line: bytes | None = None
    answer: bytes | None = None


class Outbox:
    """An open outbox. Its calls block on the disk, and must not overlap.

    Attributes:
        last_seq: the number of the last event, or of the last one that the service knew of before
            this outbox was made.
        pending: the event that is unanswered, or None.
    """

    def __init__(self, connection: sqlite3.Connection, known_seq: int) -> None:
        self._connection = connection
        newest = self._event("ORDER BY seq DESC LIMIT 1")
        self.last_seq = max(known_seq, newest.seq if newest else 0)
        self.pending = newest if newest and newest.reply is None else None

    @classmethod
    def open(cls, path: Path, link: str, table: str) -> Self:
        """Open the outbox of a table, or make it.

        Raises:
            OutboxError: another agent has it, it is another table's, it is damaged, or its
                directory cannot be written.
        """
        connection: sqlite3.Connection | None = None
        try:
            make_private_directory(path.parent)
            # Its journal has the modes of the file.
            make_private_file(path)
            connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            return cls(connection, _prepare(connection, link, table))
        except (sqlite3.Error, OSError, OutboxError) as error:
            if connection is not None:
                connection.close()
            raise OutboxError(f"outbox {path}: {_reason(error)}") from None

    @property
    def place(self) -> SavedTable:
        """Where the table was."""
        row = self._connection.execute("SELECT state, line, answer FROM place").fetchone()
        return SavedTable(*row)

    def write_event(self, seq: int, payload: bytes, state: bytes, line: bytes) -> Sent:
        """Write an event for the service, synced to the disk, before it is published.

        `payload` is published the same however often; `line` is the device event that caused it,
        and `state` the table while the reply is awaited.

        Raises:
            ValueError: the number is not the next one, or an event is unanswered.
            sqlite3.Error: it could not be written: nothing may be published.
        """
        if seq != self.last_seq + 1 or self.pending is not None:
            raise ValueError(f"event {seq} cannot follow {self.last_seq} here")
        with self._writing("FULL") as run:
            run.execute("INSERT INTO event (seq, payload) VALUES (?, ?)", (seq, payload))
            run.execute("UPDATE place SET state = ?, line = ?, answer = NULL", (state, line))
        self.last_seq = seq
        self.pending = Sent(seq, payload, None)
        return self.pending

    def write_reply(self, seq: int, reply: bytes, state: bytes, answer: bytes) -> None:
        """Write the service's reply and what became of the table.

        Raises:
            ValueError: that event does not wait for a reply.
            sqlite3.Error: it could not be written: the event will be repeated.
        """
        if self.pending is None or self.pending.seq != seq:
            raise ValueError(f"event {seq} does not wait for a reply")
        with self._writing("NORMAL") as run:
            run.execute("UPDATE event SET reply = ? WHERE seq = ?", (reply, seq))
            run.execute("UPDATE place SET state = ?, answer = ?", (state, answer))
        self.pending = None

    def write_place(self, saved: SavedTable, *, synced: bool = False) -> None:
        """Write where the table is, after a device event that sent nothing.

        With `synced` it is on the disk afterwards, and not only with the system.

        Raises:
            sqlite3.Error: it could not be written.
        """
        with self._writing("FULL" if synced else "NORMAL") as run:
            run.execute(
                "UPDATE place SET state = ?, line = ?, answer = ?",
                (saved.state, saved.line, saved.answer),
            )

    def go_on_from(self, known_seq: int) -> None:
        """Number the events after one that the service knows and this outbox does not.

        Raises:
            sqlite3.Error: it could not be written.
        """
        with self._writing("FULL") as run:
            run.execute("UPDATE place SET known_seq = ?", (known_seq,))
        self.last_seq = max(self.last_seq, known_seq)

    def history(self, first_seq: int = 1) -> Iterator[Sent]:
        """Every event from a number on, with its reply, in order."""
        rows = self._connection.execute(
            "SELECT seq, payload, reply FROM event WHERE seq >= ? ORDER BY seq", (first_seq,)
        )
        for row in rows:
            yield Sent(*row)

    def close(self) -> None:
        """Close it; the next agent may open it."""
        self._connection.close()

    def _event(self, which: str) -> Sent | None:
        row = self._connection.execute(f"SELECT seq, payload, reply FROM event {which}").fetchone()  # noqa: S608  (`which` is ours)
        return None if row is None else Sent(*row)

    @contextlib.contextmanager
    def _writing(self, synchronous: str) -> Iterator[sqlite3.Connection]:
        """One transaction, as durable as said when the block has ended."""
        self._connection.execute(f"PRAGMA synchronous = {synchronous}")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _prepare(connection: sqlite3.Connection, link: str, table: str) -> int:
    """Lock and check the file, and make its tables; returns the `seq` known from the service."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN EXCLUSIVE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(
            'INSERT INTO place (id, link, "table", known_seq) VALUES (1, ?, ?, 0)', (link, table)
        )
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    elif version != _VERSION:
        raise OutboxError("it is no outbox of this version")
    connection.execute("COMMIT")
    check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if check != "ok":
        raise OutboxError(f"it is damaged: {check}")
    row = connection.execute('SELECT link, "table", known_seq FROM place').fetchone()
    if row is None:
        raise OutboxError("it is damaged: it does not say whose it is")
    if row[:2] != (link, table):
        raise OutboxError(f"it belongs to table {row[1]} of link {row[0]}")
    return int(row[2])


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return "another agent has it open: a table has one agent at a time"
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"it is damaged: {error}"
    if isinstance(error, OSError):
        return f"cannot be written: {error.strerror}"
    return str(error)
