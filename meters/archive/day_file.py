"""The archive file of one gaming day of one link: its ledger entries, and the link's state.

The file has JSON lines, compressed with zstd (RFC 8878): the program `zstd` prints it as text, and
every programming language reads JSON. The file consists of three zstd frames: the head (one line),
the checkpoints (the link's state at the beginning and at the close of the day, each one line), and
the ledger entries. So pitlink reads the heads of many years without reading the rest. The file is
written under a temporary name, synced to disk, read back completely, and then renamed. Later,
pitlink never writes to it.

The digest of the file covers the digest of the file of the day before, and the two checkpoints. The
closing checkpoint has a digest over the ledger entries. So if somebody changes, omits or inserts a
day, the digests of all later files are wrong (duties D17, D20).
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Self

import msgspec
import zstandard
from msgspec.structs import astuple

from bonus.errors import UserError
from bonus.json_input import UNREADABLE
from meters.ledger.chain import ENTRY_FIELDS, link_and_seal_texts
from meters.ledger.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from meters.process.clock import now_text
from meters.process.private_files import make_private_directory, write_private_file

ENDING: Final = ".jsonl.zst"

_LEVEL: Final = 9
"""Level of compression. Higher levels take several times as long, and save a few percent."""
_PIECE_BYTES: Final = 1 << 17
_PACKED_BYTES: Final = 1 << 10
"""Number of compressed bytes that are decompressed together. A piece of a forged file can expand to
32,000 times its size, and must not fill the memory. The limits below are far above the sizes of
pitlink's files."""
_LINE_BYTES_MAX: Final = 1 << 25
_ENTRY_BYTES_MAX: Final = 1 << 20
_CHECKPOINTS_BYTES_MAX: Final = 1 << 30


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The line of a ledger entry, with the texts that Redis had.

    Attributes:
        kind: what happened.
        at: the time, RFC 3339 in UTC, by the clock of the service's machine.
        by: the person, the table or the program that made the entry.
        table: the table; empty if the entry is about no table.
        round: the round at the table; empty if the entry is about no round.
        seq: for a table's event, its number at the table; for an approval, its number on the link;
            otherwise 0.
        transfers: what moved, as JSON.
        event: the table's event, or the record of the act, as JSON. A table's event has an `at` of
            its own, by the clock of the table's machine.
        reply: the answer to the table's event, as JSON; empty for an act.
        chain: the digest of the entry, which covers the chain of the entry before.
    """

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


class HeadLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of the file.

    Attributes:
        first: the number of the day's first ledger entry.
        last: the number of the day's last ledger entry, the meter reading that closed the day.
        previous: the digest of the file of the day before; empty for the first day.
        digest: the digest of the file.
        opening: the digest of the second line.
        closing: the digest of the third line.
        version: the release of pitlink that wrote the file.
        written: the time at which the file was written, RFC 3339 in UTC.
        checkpoints_bytes: the compressed length of the second and third line.
        entries_bytes: the compressed length of the entries.
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
    checkpoints_bytes: int
    entries_bytes: int


class _Numbered(msgspec.Struct, frozen=True, gc=False):
    number: int


_ENCODE: Final = msgspec.json.Encoder().encode
_HEAD: Final = msgspec.json.Decoder(HeadLine)
_ENTRY: Final = msgspec.json.Decoder(EntryLine)
_NUMBERED: Final = msgspec.json.Decoder(_Numbered)


Entry = tuple[int, Mapping[str, bytes]]
"""The number of a ledger entry, and the fields of the entry in their order."""


class ArchiveError(UserError):
    """An archive that cannot be used or extended. The text has the reason."""


@dataclass(frozen=True, slots=True)
class Day:
    """A gaming day, with the link's state at its beginning and at its close.

    `first` and `last` are the numbers of the first and the last ledger entry of the gaming day; the
    last is the meter reading that closed the day. `previous` is the digest of the file of the day
    before; empty for the first day. `opening` is the checkpoint before the first entry, and
    `closing` is the checkpoint after the last entry.
    """

    link: str
    day: date
    first: int
    last: int
    previous: str
    opening: Checkpoint
    closing: Checkpoint

    @property
    def digest(self) -> str:
        """The SHA-256 over the fields of the day and its two checkpoints.

        It is not the SHA-256 over the bytes of the file.
        """
        whole = hashlib.sha256()
        span = (self.previous, self.link, self.day.isoformat(), str(self.first), str(self.last))
        for data in (*map(str.encode, span), self.opening.text, self.closing.text):
            whole.update(b"%d:%s" % (len(data), data))
        return whole.hexdigest()


class DayFile:
    """An existing archive file of a gaming day, which is opened when its content is needed.

    If the file is damaged, or is not the archive file of a day, a read raises `ArchiveError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def head(self) -> HeadLine:
        return self._head()[0]

    @property
    def day(self) -> Day:
        with self._readable():
            head, begin = self._head()
            pieces = self._pieces(begin, head.checkpoints_bytes, _CHECKPOINTS_BYTES_MAX)
            opening, _, closing = b"".join(pieces).removesuffix(b"\n").partition(b"\n")
            try:
                states = read_checkpoint(opening), read_checkpoint(closing)
            except CheckpointError as error:
                raise ArchiveError(f"{self.path} is damaged: {error}") from None
            if (states[0].text, states[1].text) != (opening, closing):
                raise ArchiveError(f"{self.path} is damaged: pitlink writes no such checkpoint")
            return Day(head.link, head.day, head.first, head.last, head.previous, *states)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the gaming day's ledger entries after entry `after`, in order."""
        for line in self.lines(after=after):
            yield entry_of(line)

    def is_whole(self) -> bool:
        """Check if the file can be read, and has the length that its first line says."""
        try:
            head, begin = self._head()
            with self._readable():
                size = self.path.stat().st_size
            return size == begin + head.checkpoints_bytes + head.entries_bytes
        except ArchiveError:
            return False

    def verify(self) -> None:
        """Read the whole file, and compare its content with the digests in it.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        for _ in self.verified_lines():
            pass

    def lines(self, containing: bytes = b"", *, after: int = 0) -> Iterator[EntryLine]:
        """Yield the lines of the day's ledger entries, in order, without a verification.

        Only lines after the entry `after` and with the text `containing` are yielded.
        """
        with self._readable():
            for block in self.blocks():
                if containing in block.lines and (not after or block.last > after):
                    yield from block.entries(containing, after=after)

    def blocks(self) -> Iterator["LineBlock"]:
        """Yield the lines of the day's ledger entries in blocks, without a verification."""
        with self._readable():
            head, begin = self._head()
            bytes_max = (head.last - head.first + 1) * _ENTRY_BYTES_MAX
            begin, rest = begin + head.checkpoints_bytes, b""
            for text in self._pieces(begin, head.entries_bytes, bytes_max):
                lines, _, rest = (rest + text).rpartition(b"\n")
                _check_length(len(rest), _LINE_BYTES_MAX, "a line")
                if lines.startswith(b"\n") or b"\n\n" in lines:
                    raise zstandard.ZstdError("it has an empty line")
                if lines:
                    yield LineBlock(lines)
            if rest:
                raise zstandard.ZstdError("its last line has no end")

    def verified_lines(self) -> Iterator[EntryLine]:
        """Yield the lines of the gaming day's ledger entries while the file is verified.

        The file is verified after the last line. Until then, the caller must not rely on a line.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        day = self.day
        number, chain, seal = day.opening.entries, day.opening.chain, day.opening.seal
        for line in self.lines():
            at, *texts = astuple(line)
            if at != number + 1:
                raise ArchiveError(f"{self.path} is damaged: entry {at} follows entry {number}")
            number = at
            chain, seal = link_and_seal_texts(chain, seal, at, texts)
            if chain != line.chain:
                raise ArchiveError(f"{self.path} is damaged: entry {at} is not as it was written")
            yield line
        self.verify_after(number, chain, seal)

    def verify_after(self, number: int, chain: str, seal: str) -> None:
        """Compare the rest of the file with its digests, after all its entries were checked.

        `number` and `chain` are the number and the digest of the last entry; `seal` is the seal up
        to this entry.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        day = self.day
        ends = (day.closing.entries, day.closing.chain, day.closing.seal)
        spans = (day.opening.entries + 1, day.closing.entries) == (day.first, day.last)
        if (number, chain, seal) != ends or not spans:
            raise ArchiveError(f"{self.path} is damaged: its entries do not fit its checkpoints")
        if day.digest != self.head.digest or (day.opening.digest, day.closing.digest) != (
            self.head.opening,
            self.head.closing,
        ):
            raise ArchiveError(f"{self.path} is damaged: its digest does not fit its content")
        if not self.is_whole():
            raise ArchiveError(f"{self.path} is damaged: its length has changed")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, zstandard.ZstdError) as error:
            raise ArchiveError(f"{self.path} cannot be read: {error}") from None
        except UNREADABLE as error:
            raise ArchiveError(f"{self.path} is damaged: {error}") from None

    def _head(self) -> tuple[HeadLine, int]:
        """Return the head, and the length of its frame in bytes."""
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        text, read = bytearray(), 0
        with self._readable(), self.path.open("rb") as file:
            while not decompressor.eof:
                piece = file.read(_PACKED_BYTES)
                if not piece:
                    raise zstandard.ZstdError("the file ends in its first line")
                read += len(piece)
                text += decompressor.decompress(piece)
                _check_length(len(text), _LINE_BYTES_MAX, "its first line")
            return _HEAD.decode(text), read - len(decompressor.unused_data)

    def _pieces(self, begin: int, frame_bytes: int, bytes_max: int) -> Iterator[bytes]:
        """Yield the text of a frame in pieces. The zstd library checks the frame's checksum."""
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        plain_bytes = 0
        with self.path.open("rb") as file:
            file.seek(begin)
            while frame_bytes > 0 and not decompressor.eof:
                piece = file.read(min(_PACKED_BYTES, frame_bytes))
                if not piece:
                    break
                frame_bytes -= len(piece)
                text = decompressor.decompress(piece)
                plain_bytes += len(text)
                _check_length(plain_bytes, bytes_max, "one of its parts")
                yield text
        if frame_bytes or not decompressor.eof or decompressor.unused_data:
            raise zstandard.ZstdError("its parts do not have the lengths that its first line says")


def _check_length(length: int, longest: int, what: str) -> None:
    if length > longest:
        raise zstandard.ZstdError(f"{what} is longer than {longest >> 20} MiB")


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Some lines of ledger entries that follow each other; none is decoded yet."""

    lines: bytes

    @property
    def last(self) -> int:
        """The number of the last entry."""
        return _NUMBERED.decode(self.lines[self.lines.rfind(b"\n") + 1 :]).number

    def entries(self, containing: bytes = b"", *, after: int = 0) -> Iterator[EntryLine]:
        """Yield the lines after the entry `after` that have the text `containing`."""
        lines = self.lines
        if containing:
            lines = b"\n".join(one for one in lines.split(b"\n") if containing in one)
        for line in _ENTRY.decode_lines(lines):
            if line.number > after:
                yield line


def entry_of(line: EntryLine) -> Entry:
    number, *texts = astuple(line)
    return number, dict(zip(ENTRY_FIELDS, map(str.encode, texts), strict=True))


class _FrameWriter:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._compressor = zstandard.ZstdCompressor(_LEVEL, write_checksum=True).compressobj()
        self._lines: list[bytes] = []
        self._waiting_bytes = 0
        self._frame_bytes = 0

    def add(self, text: bytes) -> None:
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


class DayWriter:
    """Writer of an archive file, under a temporary name until the file is complete.

    The beginning of the file and its name have the gaming day, which is known only after the last
    entry. So the entries are first written to a file of their own.

    Raises:
        ArchiveError: no file can be written in the directory.
    """

    def __init__(self, temporary: Path) -> None:
        self._temporary = temporary
        self._entries_path = temporary.with_name(f"{temporary.name}-entries")
        try:
            make_private_directory(temporary.parent)
            self._file = write_private_file(self._entries_path)
        except OSError as error:
            raise ArchiveError(f"{temporary.parent} cannot be written: {error}") from None
        self._entries = _FrameWriter(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._entries_path.unlink(missing_ok=True)
        self._temporary.unlink(missing_ok=True)

    def add(self, entry: Entry) -> None:
        """Add the next ledger entry to the file.

        Raises:
            ArchiveError: the entry does not have the fields of a ledger entry, or the disk is full.
        """
        number, fields = entry
        if tuple(fields) != ENTRY_FIELDS:
            raise ArchiveError(
                f"entry {number} cannot be archived: it has the fields {', '.join(fields)}, not"
                f" {', '.join(ENTRY_FIELDS)}"
            )
        try:
            line = EntryLine(number, *(value.decode() for value in fields.values()))
        except ValueError as error:
            raise ArchiveError(f"entry {number} cannot be archived: {error}") from None
        try:
            self._entries.add(_ENCODE(line))
        except OSError as error:
            raise ArchiveError(f"{self._entries_path} cannot be written: {error}") from None

    def finish(self, day: Day, path: Path) -> DayFile:
        """Complete the archive file, read it back completely, and rename it.

        Raises:
            ArchiveError: the file cannot be written, or the content on the disk is wrong.
        """
        try:
            with ExitStack() as stack:
                entries_bytes = self._entries.end()
                self._file.close()
                checkpoints = stack.enter_context(BytesIO())
                checkpoints_bytes = _write(checkpoints, [day.opening.text, day.closing.text])
                head = HeadLine(
                    day.link,
                    day.day,
                    day.first,
                    day.last,
                    day.previous,
                    day.digest,
                    day.opening.digest,
                    day.closing.digest,
                    version("pitlink"),
                    now_text(),
                    checkpoints_bytes,
                    entries_bytes,
                )
                file = stack.enter_context(write_private_file(self._temporary))
                _write(file, [_ENCODE(head)])
                file.write(checkpoints.getvalue())
                shutil.copyfileobj(stack.enter_context(self._entries_path.open("rb")), file)
                file.flush()
                os.fsync(file.fileno())
            DayFile(self._temporary).verify()
            self._temporary.chmod(0o444)
            self._temporary.replace(path)
            _sync(path.parent)
        except OSError as error:
            raise ArchiveError(f"{path} cannot be written: {error}") from None
        return DayFile(path)


def _write(file: BinaryIO, lines: Iterable[bytes]) -> int:
    writer = _FrameWriter(file)
    for line in lines:
        writer.add(line)
    return writer.end()


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
