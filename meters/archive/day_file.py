"""The archive file of one gaming day of one link: ledger entries, balances, decided wins.

The file is an SQLite database. Such a database is one file and needs no server. Programs in any
language can read the format, and people can read it with the program `sqlite3`. Archives use this
format to keep data for decades. The file is written under a temporary name, synced to disk, read
back completely, and then renamed. After this, pitlink never writes to the file.

The digest of a file covers three kinds of data: the digest of the file of the day before; the
checkpoints (balances and claims) at the beginning and the close of the day; and the wins that were
decided on this day. The closing checkpoint has a digest over the ledger entries. So if somebody
changes, omits or inserts a day, the digests of all later files are wrong (duties D17, D20).
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple, Self, TypeVar

import msgspec

from bonus.errors import UserError
from meters.books.chain import CHAIN, link_entry, seal_entry
from meters.books.checkpoint import Checkpoint, CheckpointError, digest_of, read_checkpoint
from meters.process.private_files import make_private_directory, make_private_file
from meters.wire.clock import now_text
from meters.wire.messages import UNREADABLE


class _Row(NamedTuple):
    number: int
    kind: str
    at: str
    by: str
    table: str
    round: str
    seq: str
    transfers: str
    event: str
    reply: str
    chain: str


FIELDS: Final = _Row._fields[1:]
"""The names of the fields of a ledger entry, in the order in which the archive has them."""

Entry = tuple[int, Mapping[str, bytes]]
"""The number of a ledger entry, and the fields of the entry in their order."""

_T = TypeVar("_T")
_PAGE: Final = 1_000
_VERSION: Final = 1
_MAGIC: Final = 0x7069746C  # "pitl": the program `file` and people recognize an archive file by it
_COLUMNS: Final = ", ".join(f'"{name}"' for name in _Row._fields)
_SCHEMA: Final = f"""
PRAGMA journal_mode = OFF;
PRAGMA application_id = {_MAGIC};
PRAGMA user_version = {_VERSION};
CREATE TABLE day (
    link TEXT NOT NULL, day TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    previous TEXT NOT NULL, digest TEXT NOT NULL, opening TEXT NOT NULL, closing TEXT NOT NULL,
    version TEXT NOT NULL, written TEXT NOT NULL
) STRICT;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL,
    "table" TEXT NOT NULL, round TEXT NOT NULL, seq TEXT NOT NULL, transfers TEXT NOT NULL,
    event TEXT NOT NULL, reply TEXT NOT NULL, chain TEXT NOT NULL
) STRICT;
CREATE TABLE claim (claim TEXT PRIMARY KEY, fields TEXT NOT NULL) STRICT;
"""


class ArchiveError(UserError):
    """An archive that cannot be used or extended. The text has the reason."""


@dataclass(frozen=True, slots=True)
class Day:
    """The header of an archive file, with the balances at the beginning and close of its day.

    Attributes:
        link: the id of the link.
        day: the gaming day.
        first: the number of the gaming day's first ledger entry.
        last: the number of the gaming day's last ledger entry, which is the reading that closed the
            day.
        previous: the digest of the file of the day before; empty for the first day.
        opening: the checkpoint (balances and claims) before the first entry.
        closing: the checkpoint after the last entry.
    """

    link: str
    day: date
    first: int
    last: int
    previous: str
    opening: Checkpoint
    closing: Checkpoint

    def digest(self, claims: Iterable[tuple[str, str]]) -> str:
        """Return the digest of a gaming day's file. `claims` are the wins decided on this day."""
        whole = hashlib.sha256()
        span = (self.link, self.day.isoformat(), str(self.first), str(self.last))
        texts = (self.previous, *span, self.opening.text.decode(), self.closing.text.decode())
        for part in (*texts, *(text for claim in sorted(claims) for text in claim)):
            data = part.encode()
            whole.update(b"%d:%s" % (len(data), data))
        return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class DayFileHeader:
    """The header of an archive file, with digests instead of the balances.

    So the headers of all files fit in memory, even after many years.

    Attributes:
        link, day, first, last, previous: as in `Day`.
        opening: the digest of the checkpoint (balances and claims) before the first entry.
        closing: the digest of the checkpoint after the last entry.
    """

    link: str
    day: date
    first: int
    last: int
    previous: str
    opening: str
    closing: str


class DayFile:
    """An existing archive file of one gaming day.

    Attributes:
        path: the path of the file.
        head: the header of the file, without the balances.
        digest: the digest that is stored in the file.

    Raises:
        ArchiveError: the file cannot be read, or is not the archive file of a day.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        link, day, first, last, previous, opening, close, self.digest = self._row(
            tuple[str, date, int, int, str, str, str, str],
            "SELECT link, day, first, last, previous, opening, closing, digest FROM day",
        )
        books = digest_of(opening.encode()), digest_of(close.encode())
        self.head = DayFileHeader(link, day, first, last, previous, *books)

    @property
    def day(self) -> Day:
        """The header of the file, with the balances.

        Raises:
            ArchiveError: the balances in the file cannot be read.
        """
        opening, close = self._row(tuple[str, str], "SELECT opening, closing FROM day")
        try:
            books = read_checkpoint(opening.encode()), read_checkpoint(close.encode())
        except CheckpointError as error:
            raise ArchiveError(f"{self.path} is damaged: {error}") from None
        head = self.head
        return Day(head.link, head.day, head.first, head.last, head.previous, *books)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the gaming day's ledger entries after entry `after`, in order.

        Raises:
            ArchiveError: the file cannot be read.
        """
        query = f"SELECT {_COLUMNS} FROM entry WHERE number > ? ORDER BY number LIMIT {_PAGE}"  # noqa: S608
        while page := self._rows(_Row, query, after):
            for row in page:
                after, fields = row.number, zip(FIELDS, row[1:], strict=True)
                yield after, {name: str(value).encode() for name, value in fields}

    def claims(self) -> Mapping[str, Mapping[str, str]]:
        """Return the wins that were finally decided on this day, with the fields that Redis had.

        Raises:
            ArchiveError: the file cannot be read.
        """
        try:
            return {
                claim: msgspec.json.decode(fields, type=dict[str, str])
                for claim, fields in self._claims()
            }
        except UNREADABLE as error:
            raise ArchiveError(f"{self.path} is damaged: {error}") from None

    def verify(self) -> None:
        """Read the whole file, and compare its content with the digests in it.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        day = self.day
        (sound,) = self._row(tuple[str], "PRAGMA integrity_check(1)")
        number, chain, seal = day.opening.entries, day.opening.chain, day.opening.seal
        for at, fields in self.entries():
            if at != number + 1:
                raise ArchiveError(f"{self.path} is damaged: entry {at} follows entry {number}")
            content = [(name.encode(), value) for name, value in fields.items() if name != CHAIN]
            number, chain = at, link_entry(chain, f"{at}-0", content)
            seal = seal_entry(seal, f"{at}-0", content)
            if chain.encode() != fields[CHAIN]:
                raise ArchiveError(f"{self.path} is damaged: entry {at} is not as it was written")
        ends = (day.closing.entries, day.closing.chain, day.closing.seal)
        spans = (day.opening.entries + 1, day.closing.entries) == (day.first, day.last)
        if (sound, number, chain, seal) != ("ok", *ends) or not spans:
            raise ArchiveError(f"{self.path} is damaged: its entries are not those of its balances")
        if day.digest(self._claims()) != self.digest:
            raise ArchiveError(f"{self.path} is damaged: its digest is not that of its content")

    def _claims(self) -> Sequence[tuple[str, str]]:
        return self._rows(tuple[str, str], "SELECT claim, fields FROM claim ORDER BY claim")

    def _row(self, of: type[_T], query: str) -> _T:
        rows = self._rows(of, query)
        if len(rows) != 1:
            raise ArchiveError(f"{self.path} is not an archived gaming day")
        return rows[0]

    def _rows(self, of: type[_T], query: str, *given: int) -> Sequence[_T]:
        try:
            with closing(_opened(self.path)) as file:
                return [msgspec.convert(row, of) for row in file.execute(query, given)]
        except sqlite3.Error as error:
            raise ArchiveError(f"{self.path} cannot be read: {error}") from None
        except (UnicodeDecodeError, msgspec.ValidationError) as error:
            raise ArchiveError(f"{self.path} is damaged: {error}") from None


class DayWriter:
    """Writer of one archive file. The file has a temporary name until it is complete.

    The name of the file has the gaming day, which is known only after the last entry.

    Args:
        temporary: the path of the file until the file is complete.

    Raises:
        ArchiveError: no file can be written in the directory.
    """

    def __init__(self, temporary: Path) -> None:
        self._beside = temporary
        try:
            make_private_directory(temporary.parent)
            self._beside.unlink(missing_ok=True)
            make_private_file(self._beside)
            self._file = sqlite3.connect(self._beside, isolation_level=None)
            self._file.executescript(_SCHEMA)
            self._file.execute("BEGIN")
        except (OSError, sqlite3.Error) as error:
            raise ArchiveError(f"{temporary.parent} cannot be written: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._beside.unlink(missing_ok=True)

    def add(self, entry: Entry) -> None:
        """Add the next ledger entry to the file.

        Raises:
            ArchiveError: the entry does not have the fields of a ledger entry, or the disk is full.
        """
        number, fields = entry
        if tuple(fields) != FIELDS:
            raise ArchiveError(f"entry {number} has the fields {', '.join(fields)}")
        try:
            values = [value.decode() for value in fields.values()]
            placeholders = ", ".join("?" * (1 + len(FIELDS)))
            self._file.execute(f"INSERT INTO entry VALUES ({placeholders})", (number, *values))  # noqa: S608
        except ValueError as error:
            raise ArchiveError(f"entry {number} cannot be archived: {error}") from None
        except sqlite3.Error as error:
            raise ArchiveError(f"{self._beside} cannot be written: {error}") from None

    def finish(self, day: Day, claims: Mapping[str, Mapping[str, str]], path: Path) -> DayFile:
        """Complete the archive file, read it back completely, and rename it.

        Raises:
            ArchiveError: the file cannot be written, or the content on the disk is wrong.
        """
        rows = [
            (claim, msgspec.json.encode(fields, order="deterministic").decode())
            for claim, fields in claims.items()
        ]
        head = (
            day.link, day.day.isoformat(), day.first, day.last, day.previous, day.digest(rows),
            day.opening.text.decode(), day.closing.text.decode(), version("pitlink"), now_text(),
        )  # fmt: skip
        try:
            self._file.executemany("INSERT INTO claim VALUES (?, ?)", rows)
            self._file.execute("INSERT INTO day VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", head)
            self._file.execute("COMMIT")
            self._file.close()
            _sync(self._beside)
            DayFile(self._beside).verify()
            self._beside.chmod(0o444)
            self._beside.replace(path)
            _sync(path.parent)
        except (OSError, sqlite3.Error) as error:
            raise ArchiveError(f"{path} cannot be written: {error}") from None
        return DayFile(path)


def _opened(path: Path) -> sqlite3.Connection:
    # Nobody writes to a finished file, so no lock is needed. This also works on read-only media.
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
