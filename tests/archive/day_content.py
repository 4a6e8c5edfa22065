"""Archive files read and written without the product's code, as a person with zstd could."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

Line = dict[str, Any]


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


def edit(change: Callable[[DayContent], object]) -> Callable[[Path], None]:

    def changed(path: Path) -> None:
        content = DayContent.read(path)
        change(content)
        content.write(path)

    return changed


def _frame(lines: Sequence[Line]) -> bytes:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return zstandard.ZstdCompressor(write_checksum=True).compress(text.encode())
