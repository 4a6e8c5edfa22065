"""Outbox of one table: each event is on the disk before it is published, and stays there.

The outbox is an SQLite file with a write-ahead log. Only one agent at a time can lock it. An
event for the service is synced to the disk before the writing call returns (``synchronous =
FULL``). Most other changes are not synced (``NORMAL``): if the agent is killed, they remain, but a
power failure can lose the latest changes.
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
    pass


@dataclass(frozen=True, slots=True)
class Sent:
    """An event for the service, as published. `reply` is None until the service replies."""

    seq: int
    payload: bytes
    reply: bytes | None


@dataclass(frozen=True, slots=True)
class SavedTable:
    """A saved table: its state, the last stored device event, and the answer to this event.

    While the table waits for the service's reply, `answer` is None.
    """

    state: bytes | None = None
    line: bytes | None = None
    answer: bytes | None = None


class Outbox:
    """The outbox of a table, already open.

    Calls block until the disk has finished, and must not overlap. If the disk refuses a write, the
    call raises `sqlite3.Error`, and the event must not be published. `last_seq` is the highest
    event number that this table has used, in this outbox or in an earlier one that was lost.
    `pending` is the event to which the service has not replied.
    """

    def __init__(self, connection: sqlite3.Connection, known_seq: int) -> None:
        self._connection = connection
        newest = next(self._events("ORDER BY seq DESC LIMIT 1"), None)
        self.last_seq = max(known_seq, newest.seq if newest else 0)
        self.pending = newest if newest and newest.reply is None else None

    @classmethod
    def open(cls, path: Path, link: str, table: str) -> Self:
        """Open the outbox of a table, or create it.

        Raises:
            OutboxError: another agent has the outbox open, the outbox belongs to another table or
                is damaged, or the directory of the outbox cannot be written.
        """
        connection: sqlite3.Connection | None = None
        try:
            make_private_directory(path.parent)
            # SQLite creates the journal with the same file mode.
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
        row = self._connection.execute("SELECT state, line, answer FROM place").fetchone()
        return SavedTable(*row)

    def write_event(self, seq: int, payload: bytes, state: bytes, line: bytes) -> Sent:
        """Write an event for the service and sync it to the disk, before it is published.

        `line` is the device event that caused the event. `state` is the state of the table while
        the table waits for the reply.

        Raises:
            ValueError: the event's number is not the next number, or another event has no reply.
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
        """Write the service's reply, the new state, and the answer to the device.

        If this fails, a restarted agent sends the event again.

        Raises:
            ValueError: the event with this number does not wait for a reply.
        """
        if self.pending is None or self.pending.seq != seq:
            raise ValueError(f"event {seq} does not wait for a reply")
        with self._writing("NORMAL") as run:
            run.execute("UPDATE event SET reply = ? WHERE seq = ?", (reply, seq))
            run.execute("UPDATE place SET state = ?, answer = ?", (state, answer))
        self.pending = None

    def write_place(self, saved: SavedTable, *, synced: bool = False) -> None:
        """Write the table after a device event that is not sent to the service.

        Without `synced`, a power failure can still lose the write after the call.
        """
        with self._writing("FULL" if synced else "NORMAL") as run:
            run.execute(
                "UPDATE place SET state = ?, line = ?, answer = ?",
                (saved.state, saved.line, saved.answer),
            )

    def go_on_from(self, known_seq: int, saved: SavedTable) -> None:
        """Continue the numbering after `known_seq`, the last number that the service has.

        This is necessary if an earlier outbox of the table was lost. The number and the table are
        written in one transaction: once the number is written, a restarted agent no longer sees
        that the table lacks events.
        """
        with self._writing("FULL") as run:
            run.execute(
                "UPDATE place SET known_seq = ?, state = ?, line = ?, answer = ?",
                (known_seq, saved.state, saved.line, saved.answer),
            )
        self.last_seq = max(self.last_seq, known_seq)

    def history(self, first_seq: int = 1) -> Iterator[Sent]:
        return self._events("WHERE seq >= ? ORDER BY seq", first_seq)

    def close(self) -> None:
        self._connection.close()

    def _events(self, which: str, *values: int) -> Iterator[Sent]:
        query = f"SELECT seq, payload, reply FROM event {which}"  # noqa: S608  (`which` is a constant)
        return (Sent(*row) for row in self._connection.execute(query, values))

    @contextlib.contextmanager
    def _writing(self, synchronous: str) -> Iterator[sqlite3.Connection]:
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
    """Lock and check the file; if it is new, make its SQL tables. Return `known_seq`."""
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
        raise OutboxError("it is not an outbox of this version")
    connection.execute("COMMIT")
    check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if check != "ok":
        raise OutboxError(f"it is damaged: {check}")
    row = connection.execute('SELECT link, "table", known_seq FROM place').fetchone()
    if row is None:
        raise OutboxError("it is damaged: it does not name its table")
    if row[:2] != (link, table):
        raise OutboxError(f"it belongs to table {row[1]} of link {row[0]}")
    return int(row[2])


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return "another agent has it open: a table has one agent at a time"
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"it is damaged: {error}"
    if isinstance(error, OSError):
        return f"it cannot be written: {error.strerror}"
    return str(error)
