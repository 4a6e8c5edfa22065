"""Content of an archive file that an earlier release wrote: an SQLite database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from meters.archive.day_lines import ClaimLine, EntryLine, HeadLine

_HEADER_BYTES: Final = 100
_ROWS_AT_ONCE: Final = 1_000
_MODEL = TypeVar("_MODEL", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class DayDatabase:
    """Reader of an archive file in the format of earlier releases.

    Every method can raise `OSError`, `sqlite3.Error`, `UnicodeDecodeError`, or
    `msgspec.ValidationError` if the content is damaged.
    """

    path: Path

    def head(self) -> HeadLine:
        """Return the gaming day, with its balances and its digests."""
        heads = [*self._rows(HeadLine, "SELECT *, 0 AS claims_bytes, 0 AS entries_bytes FROM day")]
        if len(heads) != 1:
            raise msgspec.ValidationError("it is not an archived gaming day")
        return heads[0]

    def claims(self) -> Iterator[ClaimLine]:
        """Yield the decided wins."""
        return self._rows(ClaimLine, "SELECT * FROM claim ORDER BY claim")

    def entries(self) -> Iterator[EntryLine]:
        """Yield the ledger entries."""
        return self._rows(EntryLine, "SELECT * FROM entry ORDER BY number")

    def is_whole(self) -> bool:
        """Check if the file has the length that its SQLite header says."""
        with self.path.open("rb") as opened:
            header = opened.read(_HEADER_BYTES)
        page_bytes = int.from_bytes(header[16:18], "big")
        pages = int.from_bytes(header[28:32], "big")
        return self.path.stat().st_size == (65_536 if page_bytes == 1 else page_bytes) * pages

    def _rows(self, model: type[_MODEL], query: str) -> Iterator[_MODEL]:
        # Nobody writes to the file, so no lock is needed. This also works on read-only media.
        uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as file:
            cursor = file.execute(query)
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                for row in rows:
                    yield msgspec.convert(dict(zip(names, row, strict=True)), model)
