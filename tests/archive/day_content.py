"""Archive files read and written without the product's code, as a person with zstd could."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import zstandard

Line = dict[str, Any]

_DATABASE: Final = """
PRAGMA application_id = 1885959276;
PRAGMA user_version = 1;
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


@dataclass
class DayContent:
    head: Line
    claims: list[Line]
    entries: list[Line]

    @classmethod
    def read(cls, path: Path) -> "DayContent":
        with path.open("rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            head, *lines = map(json.loads, reader.read().decode().splitlines())
        claims = [line for line in lines if "claim" in line]
        return cls(head, claims, [line for line in lines if "number" in line])

    def write(self, path: Path, more: bytes = b"") -> None:
        """Write the file, with further bytes among those of the entries."""
        claims, entries = _frame(self.claims), _frame(self.entries) + more
        head = self.head | {"claims_bytes": len(claims), "entries_bytes": len(entries)}
        path.chmod(0o644)
        path.write_bytes(_frame([head] if self.head else []) + claims + entries)

    def write_database(self, path: Path) -> None:
        """Write the file as releases before schema version 4 wrote it, instead of `path`."""
        database = path.with_name(path.name.replace(".jsonl.zst", ".sqlite"))
        head = {name: self.head[name] for name in self.head if not name.endswith("_bytes")}
        with closing(sqlite3.connect(database)) as file, file:
            file.executescript(_DATABASE)
            tables = {"day": [head], "claim": self.claims, "entry": self.entries}
            for table, lines in tables.items():
                places = ", ".join(f":{name}" for name in lines[0]) if lines else ""
                file.executemany(f"INSERT INTO {table} VALUES ({places})", lines)  # noqa: S608
        path.unlink()


def edit(change: Callable[[DayContent], object]) -> Callable[[Path], None]:

    def changed(path: Path) -> None:
        content = DayContent.read(path)
        change(content)
        content.write(path)

    return changed


def _frame(lines: Sequence[Line]) -> bytes:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return zstandard.ZstdCompressor(write_checksum=True).compress(text.encode())
