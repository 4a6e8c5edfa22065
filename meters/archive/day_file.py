"""The archive file of one gaming day of one link: ledger entries, balances, decided wins.

The file is written under a temporary name, synced to disk, read back completely, and then renamed.
After this, pitlink never writes to it. `day_lines.py` has its format.

Its digest covers the digest of the file of the day before; the checkpoints (balances and claims) at
the beginning and the close of the day, of which the closing one has a digest over the ledger
entries; and the wins that were decided on this day. So if somebody changes, omits or inserts a day,
the digests of all later files are wrong (duties D17, D20).
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
from meters.archive.day_lines import ClaimLine, DayLines, EntryLine, HeadLine, LinesWriter
from meters.ledger.chain import link_and_seal_texts
from meters.ledger.checkpoint import Checkpoint, CheckpointError, digest_of, read_checkpoint
from meters.process.private_files import make_private_directory, write_private_file
from meters.wire.clock import now_text
from meters.wire.messages import UNREADABLE

ENDING: Final = ".jsonl.zst"

FIELDS: Final = EntryLine.__struct_fields__[1:]
"""The names of the fields of a ledger entry, in the order in which the archive has them."""

Entry = tuple[int, Mapping[str, bytes]]
"""The number of a ledger entry, and the fields of the entry in their order."""


class ArchiveError(UserError):
    """An archive that cannot be used or extended. The text has the reason."""


@dataclass(frozen=True, slots=True)
class Day:
    """The header of an archive file, with the balances at the beginning and close of its day.

    `first` and `last` are the numbers of the gaming day's ledger entries; the last is the reading
    that closed the day. `previous` is the digest of the file of the day before, empty for the first
    day. `opening` is the checkpoint (balances and claims) before the first entry, `closing` that
    after the last.
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
    """The header of an archive file, as `Day`, but with the digests of its two checkpoints.

    So the headers of all files fit in memory, even after many years.
    """

    link: str
    day: date
    first: int
    last: int
    previous: str
    opening: str
    closing: str


class DayFile:
    """An existing archive file of one gaming day, opened when its content is needed.

    Reading it raises an `ArchiveError` if it is damaged, or is not the archive file of a day.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._content = DayLines(path)

    @cached_property
    def _header(self) -> tuple[DayFileHeader, str]:
        with self._readable():
            head = self._content.head()
        books = digest_of(head.opening.encode()), digest_of(head.closing.encode())
        header = DayFileHeader(head.link, head.day, head.first, head.last, head.previous, *books)
        return header, head.digest

    @property
    def head(self) -> DayFileHeader:
        """The header of the file, without the balances."""
        return self._header[0]

    @property
    def digest(self) -> str:
        return self._header[1]

    @property
    def day(self) -> Day:
        """The header of the file, with the balances."""
        with self._readable():
            head = self._content.head()
        try:
            books = read_checkpoint(head.opening.encode()), read_checkpoint(head.closing.encode())
        except CheckpointError as error:
            raise ArchiveError(f"{self.path} is damaged: {error}") from None
        return Day(head.link, head.day, head.first, head.last, head.previous, *books)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the gaming day's ledger entries after entry `after`, in order."""
        for line in self.lines():
            if line.number > after:
                yield entry_of(line)

    def claims(self) -> Mapping[str, Mapping[str, str]]:
        """Return the wins finally decided on this day, with the fields that Redis had."""
        with self._readable():
            return {
                one.claim: msgspec.json.decode(one.fields, type=dict[str, str])
                for one in self.claim_lines()
            }

    def claim_lines(self) -> Iterator[ClaimLine]:
        """Yield the lines of the wins that were finally decided on this day."""
        with self._readable():
            yield from self._content.claims()

    def is_whole(self) -> bool:
        """Check if the file can be read and has the length that its beginning says."""
        try:
            with self._readable():
                return self._content.is_whole()
        except ArchiveError:
            return False

    def verify(self) -> None:
        """Read the whole file, and compare its content with the digests in it.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        for _ in self.verified_lines():
            pass

    def lines(self) -> Iterator[EntryLine]:
        """Yield the lines of the day's ledger entries, in order, without a verification."""
        with self._readable():
            yield from self._content.entries()

    def verified_lines(self) -> Iterator[EntryLine]:
        """Yield the lines of the gaming day's ledger entries while the file is verified.

        Until the last line, after which it is verified, the caller must not rely on a line.

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
        """Compare the rest of the file with the digests in it, after all its entries were checked.

        `number` and `chain` are the number and the digest of the last entry; `seal` is of the
        ledger up to it.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        day = self.day
        ends = (day.closing.entries, day.closing.chain, day.closing.seal)
        spans = (day.opening.entries + 1, day.closing.entries) == (day.first, day.last)
        if (number, chain, seal) != ends or not spans:
            raise ArchiveError(f"{self.path} is damaged: its entries are not those of its balances")
        with self._readable():
            claims = [(one.claim, one.fields) for one in self.claim_lines()]
        if day.digest(claims) != self.digest:
            raise ArchiveError(f"{self.path} is damaged: its digest is not that of its content")
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


def entry_of(line: EntryLine) -> Entry:
    number, *texts = astuple(line)
    return number, dict(zip(FIELDS, map(str.encode, texts), strict=True))


class DayWriter:
    """Writer of one archive file, under a temporary name until the file is complete.

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
        self._entries = LinesWriter(self._file)

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
        if tuple(fields) != FIELDS:
            raise ArchiveError(f"entry {number} has the fields {', '.join(fields)}")
        try:
            line = EntryLine(number, *(value.decode() for value in fields.values()))
        except ValueError as error:
            raise ArchiveError(f"entry {number} cannot be archived: {error}") from None
        try:
            self._entries.add(line)
        except OSError as error:
            raise ArchiveError(f"{self._entries_path} cannot be written: {error}") from None

    def finish(self, day: Day, claims: Mapping[str, Mapping[str, str]], path: Path) -> DayFile:
        """Complete the archive file, read it back completely, and rename it.

        Raises:
            ArchiveError: the file cannot be written, or the content on the disk is wrong.
        """
        lines = [
            ClaimLine(claim, msgspec.json.encode(fields, order="deterministic").decode())
            for claim, fields in sorted(claims.items())
        ]
        try:
            with ExitStack() as stack:
                entries_bytes = self._entries.end()
                self._file.close()
                claims_file = stack.enter_context(BytesIO())
                claims_bytes = _write(claims_file, lines)
                head = HeadLine(
                    day.link, day.day, day.first, day.last, day.previous,
                    day.digest((one.claim, one.fields) for one in lines),
                    day.opening.text.decode(), day.closing.text.decode(),
                    version("pitlink"), now_text(), claims_bytes, entries_bytes,
                )  # fmt: skip
                file = stack.enter_context(write_private_file(self._temporary))
                _write(file, [head])
                file.write(claims_file.getvalue())
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


def _write(file: BinaryIO, lines: Iterable[HeadLine | ClaimLine]) -> int:
    writer = LinesWriter(file)
    for line in lines:
        writer.add(line)
    return writer.end()


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
