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
    states: list[str]
    entries: list[Line]

    @classmethod
    def read(cls, path: Path) -> "DayContent":
        with path.open("rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            head, opening, closing, *entries = reader.read().decode().splitlines()
        return cls(json.loads(head), [opening, closing], [json.loads(one) for one in entries])

    def write(self, path: Path, more: bytes = b"") -> None:
        """Write the file, with further bytes among those of the entries."""
        states, entries = _frame(self.states), _frame(self.entries) + more
        head = self.head | {"checkpoints_bytes": len(states), "entries_bytes": len(entries)}
        path.chmod(0o644)
        path.write_bytes(_frame([head] if self.head else []) + states + entries)


def edit(change: Callable[[DayContent], object]) -> Callable[[Path], None]:

    def changed(path: Path) -> None:
        content = DayContent.read(path)
        change(content)
        content.write(path)

    return changed


def _frame(lines: Sequence[Line | str]) -> bytes:
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    return zstandard.ZstdCompressor(write_checksum=True).compress(text.encode())
