"""Content of an archive file: JSON lines, compressed with zstd.

The program `zstd` prints such a file as text, and every programming language reads JSON. zstd is
the standard RFC 8878. The file consists of three zstd frames: the head (one line), the decided
wins, and the ledger entries. So pitlink reads the heads of many years without reading the entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar

import msgspec
import zstandard

_LEVEL: Final = 9
"""Level of compression. Higher levels take several times as long, and save a few percent."""
_PIECE_BYTES: Final = 1 << 17
_PACKED_BYTES: Final = 1 << 10
"""Number of compressed bytes that are decompressed at once. A piece of a forged file can expand to
32,000 times its size, which must not fill the memory. The limits below are far above what pitlink
writes."""
_LINE_BYTES_MAX: Final = 1 << 25
_ENTRY_BYTES_MAX: Final = 1 << 20
_CLAIMS_BYTES_MAX: Final = 1 << 28

_Line = TypeVar("_Line")


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Line of one ledger entry, with the texts that Redis had."""

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


class ClaimLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Line of one decided win. `fields` is JSON: the fields that Redis had."""

    claim: str
    fields: str


class HeadLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """First line of the file: the gaming day as in `Day`, with its balances as JSON.

    `digest` is that of the file, `version` the release of pitlink that wrote it. `claims_bytes` and
    `entries_bytes` are the lengths of the frames.
    """

    link: str
    day: date
    first: int
    last: int
    previous: str
    digest: str
    opening: str
    closing: str
    version: str
    written: str
    claims_bytes: int
    entries_bytes: int


_ENCODE: Final = msgspec.json.Encoder().encode
_HEAD: Final = msgspec.json.Decoder(HeadLine)
_CLAIM: Final = msgspec.json.Decoder(ClaimLine)
_ENTRY: Final = msgspec.json.Decoder(EntryLine)


class _Head(NamedTuple):
    line: HeadLine
    frame_bytes: int


@dataclass(frozen=True, slots=True)
class DayLines:
    """Reader of an archive file. Each method opens the file, so no file stays open.

    Every method can raise `OSError`, `zstandard.ZstdError`, or `msgspec.DecodeError` if the content
    is damaged.
    """

    path: Path

    def head(self) -> HeadLine:
        return self._head().line

    def claims(self) -> Iterator[ClaimLine]:
        head, begin = self._head()
        return self._lines(_CLAIM, begin, head.claims_bytes, _CLAIMS_BYTES_MAX)

    def entries(self) -> Iterator[EntryLine]:
        head, begin = self._head()
        bytes_max = (head.last - head.first + 1) * _ENTRY_BYTES_MAX
        return self._lines(_ENTRY, begin + head.claims_bytes, head.entries_bytes, bytes_max)

    def is_whole(self) -> bool:
        head, begin = self._head()
        return self.path.stat().st_size == begin + head.claims_bytes + head.entries_bytes

    def _head(self) -> _Head:
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        text, read = bytearray(), 0
        with self.path.open("rb") as file:
            while not decompressor.eof:
                piece = file.read(_PACKED_BYTES)
                if not piece:
                    raise zstandard.ZstdError("the file ends in its first line")
                read += len(piece)
                text += decompressor.decompress(piece)
                _check_length(len(text), _LINE_BYTES_MAX, "its first line")
        return _Head(_HEAD.decode(text), read - len(decompressor.unused_data))

    def _lines(
        self, decoder: msgspec.json.Decoder[_Line], begin: int, frame_bytes: int, bytes_max: int
    ) -> Iterator[_Line]:
        """Yield the lines of one frame. It has a checksum, which zstd compares."""
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        rest, plain_bytes = b"", 0
        with self.path.open("rb") as file:
            file.seek(begin)
            while frame_bytes > 0:
                piece = file.read(min(_PACKED_BYTES, frame_bytes))
                frame_bytes -= len(piece)
                if not piece:
                    break
                text = decompressor.decompress(piece)
                plain_bytes += len(text)
                _check_length(plain_bytes, bytes_max, "one of its parts")
                lines, _, rest = (rest + text).rpartition(b"\n")
                _check_length(len(rest), _LINE_BYTES_MAX, "a line")
                if lines.startswith(b"\n") or b"\n\n" in lines:
                    raise zstandard.ZstdError("it has an empty line")
                yield from decoder.decode_lines(lines)
                if decompressor.eof:
                    break
        if rest or frame_bytes or not decompressor.eof or decompressor.unused_data:
            raise zstandard.ZstdError("its parts do not have the lengths that its first line says")


def _check_length(length: int, longest: int, what: str) -> None:
    if length > longest:
        raise zstandard.ZstdError(f"{what} is longer than {longest >> 20} MiB")


class LinesWriter:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._compressor = zstandard.ZstdCompressor(_LEVEL, write_checksum=True).compressobj()
        self._lines: list[bytes] = []
        self._waiting_bytes = 0
        self._frame_bytes = 0

    def add(self, line: HeadLine | ClaimLine | EntryLine) -> None:
        text = _ENCODE(line)
        self._lines += (text, b"\n")
        self._waiting_bytes += len(text)
        if self._waiting_bytes > _PIECE_BYTES:
            self._write(self._compressor.compress(b"".join(self._lines)))
            self._lines.clear()
            self._waiting_bytes = 0

    def end(self) -> int:
        """End the frame, and return its length in bytes."""
        self._write(self._compressor.compress(b"".join(self._lines)) + self._compressor.flush())
        return self._frame_bytes

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._frame_bytes += len(data)
