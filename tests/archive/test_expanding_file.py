"""A small archive file that expands to gigabytes is refused by its name, in little memory (D17)."""

import tracemalloc
from pathlib import Path
from typing import Final, Literal

import msgspec
import pytest
import zstandard

from meters.archive import day_file
from meters.archive.day_file import ArchiveError, DayFile

EXPANDED_BYTES: Final = 1 << 29
MEMORY_MAX_BYTES: Final = 1 << 27
Part = Literal["head", "checkpoints", "entries"]


def expanding(line: bytes = b" ") -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    piece = line * (1 << 20)
    count = EXPANDED_BYTES // len(piece)
    return b"".join(compressor.compress(piece) for _ in range(count)) + compressor.flush()


def forged(path: Path, part: Part, line: bytes) -> DayFile:
    frame, empty = expanding(line), zstandard.compress(b"")
    states = frame if part == "checkpoints" else empty
    entries = frame if part == "entries" else empty
    head = {
        "link": "pit", "day": "2126-11-21", "first": 1, "last": 9, "previous": "", "digest": "",
        "opening": "{}", "closing": "{}", "version": "1", "written": "2126-11-22T06:00:00Z",
        "checkpoints_bytes": len(states), "entries_bytes": len(entries),
    }  # fmt: skip
    first = frame if part == "head" else zstandard.compress(msgspec.json.encode(head) + b"\n")
    path.write_bytes(first + states + entries)
    assert path.stat().st_size < 200_000
    return DayFile(path)


@pytest.mark.duty("D17")
@pytest.mark.parametrize(
    ("part", "line", "reason"),
    [
        ("head", b" ", "its first line is longer than 32 MiB"),
        ("checkpoints", b" ", "one of its parts is longer than 256 MiB"),
        ("entries", b" ", "one of its parts is longer than 9 MiB"),
        ("entries", b"\n", "one of its parts is longer than 9 MiB"),
    ],
)
def test_a_file_that_expands_far_is_refused_by_its_name(
    tmp_path: Path, part: Part, line: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_file, "_CHECKPOINTS_BYTES_MAX", 1 << 28)
    file = forged(tmp_path / "2126-11-21.jsonl.zst", part, line)
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError, match=f"{file.path} cannot be read: {reason}"):
            file.verify() if part == "checkpoints" else [*file.lines()]
        most = MEMORY_MAX_BYTES * (3 if part == "checkpoints" else 1)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
