"""Reading of a copy of a link's ledger, and of the data for Redis that follows from it (duty D11).

Gaming days that Redis no longer needs are read fast: their files are verified, but not replayed.
From the close of the last of these days on, the rebuild replays every entry.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from meters.archive.archive_days import ArchiveFiles, Verification
from meters.archive.day_file import DayFile, entry_of
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.link_rows import LinkRows
from meters.restore.outboxes import RestoreError
from meters.restore.rebuild import Rebuild, RebuildError

Advance = Callable[[str, int, int], None]
"""Shows progress: the name of the work, the number of finished units (such as ledger entries), and
the number of all units.
"""

_PROGRESS_EVERY: Final = 1_000


Entry = tuple[int, Mapping[str, bytes]]


class ArchivedLedger:
    """The copy of a link's ledger in the archive.

    Raises:
        ArchiveError: a file cannot be read, or is missing between two other files.
    """

    def __init__(self, directory: Path, link: str) -> None:
        self.days = ArchiveFiles(directory, link).files()
        self.last = self.days[-1].head.last if self.days else 0

    @property
    def opening(self) -> Checkpoint:
        """The state before the first entry of the archive. Each use reads the file again."""
        return self.days[0].day.opening if self.days else Checkpoint()

    async def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the archive after entry `after`, in order.

        Raises:
            ArchiveError: somebody has changed a file of the archive.
        """
        for file in self.days:
            if file.head.last > after:
                for line in file.verified_lines():
                    if line.number > after:
                        yield entry_of(line)


@dataclass(frozen=True, slots=True)
class TrimmedDay:
    """The last gaming day whose entries are not written into Redis.

    `by` is the number of the ledger entry that records the archiving of the day.
    """

    closing: Checkpoint
    by: int


@dataclass(frozen=True, slots=True)
class LinkCopy:
    """The data of a link that a copy of its ledger describes.

    `rows` has the data without the ledger. `trimmed` is None if all entries are written into Redis.
    `chain` is the digest of the last entry that is both in the copy and in Redis.
    """

    rows: LinkRows
    trimmed: TrimmedDay | None
    chain: str


class CopyReader:
    """Reader of a copy of a link's ledger. `common` is the last entry that Redis also has."""

    def __init__(
        self, floor: Floor, link: Link, copy: ArchivedLedger, common: int, advance: Advance
    ) -> None:
        self._live_days = floor.archive.live_days
        self._days = GamingDays.of_facility(floor.facility)
        self._link = link
        self._copy = copy
        self._common = common
        self._chain = ""
        self._advance = advance
        self._work = "reading the archive"

    async def read(self) -> LinkCopy:
        """Verify the copy, and return the data of the link that it describes.

        Raises:
            ArchiveError: somebody has changed a file of the archive.
            RebuildError: an entry is wrong, or cannot be read.
            RestoreError: the archive begins with entries after which the ledger cannot continue.
        """
        sealed = self._sealed_days()
        rebuild = await self._read_after(sealed)
        trimmed = self._trimmed_day(rebuild)
        if sealed and (trimmed is None or trimmed.closing.entries < sealed[-1].head.last):
            # No entry says that these days were archived, so all their entries must be in Redis.
            self._work = "reading the archive again, entry by entry"
            rebuild = await self._read_after(())
            trimmed = self._trimmed_day(rebuild)
        return LinkCopy(rebuild.rows(), trimmed, self._chain)

    def _sealed_days(self) -> Sequence[DayFile]:
        days = self._copy.days
        if not days:
            return ()
        # The open gaming day is the day after the last file, or a later day.
        newest = days[-1].head.day - timedelta(days=self._live_days)
        return [file for file in days if file.head.day <= newest]

    async def _read_after(self, sealed: Sequence[DayFile]) -> Rebuild:
        copy = self._copy
        rebuild = Rebuild(self._link, self._days, copy.opening)
        with Verification(sealed) as verification:
            for file in sealed:
                for line in verification.lines(file):
                    rebuild.pass_entry(*entry_of(line))
                    self._pass(line.number, line.chain)
        if sealed:
            rebuild.go_on_after(sealed[-1].day.closing)
        ends = {file.head.last: file for file in copy.days}
        async for number, fields in copy.entries(rebuild.replay.entries):
            rebuild.apply_entry(number, fields)
            if number in ends:
                # If a file is not the archived one, later files would look wrong.
                self._hold_against_notes(rebuild)
                _hold_against_close(ends[number], rebuild)
            self._pass(number, rebuild.replay.chain)
        self._hold_against_notes(rebuild)
        return rebuild

    def _pass(self, number: int, chain_digest: str) -> None:
        if number == self._common:
            self._chain = chain_digest
        if number % _PROGRESS_EVERY == 0 or number == self._copy.last:
            self._advance(self._work, number, self._copy.last)

    def _hold_against_notes(self, rebuild: Rebuild) -> None:
        for file in self._copy.days:
            if one := rebuild.noted.get(file.head.last):
                archived = one.archived
                if (archived.digest, archived.books) != (file.head.digest, file.head.closing):
                    raise RebuildError(
                        f"{file.path} is not the file that was archived: ledger entry {one.entry}"
                        f" records the digest {archived.digest}"
                    )

    def _trimmed_day(self, rebuild: Rebuild) -> TrimmedDay | None:
        """Find the last gaming day whose entries are not written into Redis.

        Entries of older gaming days stay only in the archive, as after `pitlink archive`.
        """
        days, opening, noted = self._copy.days, self._copy.opening, rebuild.noted
        newest = rebuild.open_day - timedelta(days=1 + self._live_days)
        for file in (file for file in reversed(days) if file.head.day <= newest):
            if one := noted.get(file.head.last):
                return TrimmedDay(file.day.closing, one.entry)
        if not opening.entries:
            return None
        # The entries before the archive cannot be written into Redis. If no entry says that the day
        # before the archive's first day was archived, a later day is trimmed.
        if one := noted.get(opening.entries):
            return TrimmedDay(opening, one.entry)
        for file in (file for file in days if file.head.day > newest):
            if one := noted.get(file.head.last):
                return TrimmedDay(file.day.closing, one.entry)
        raise RestoreError(
            f"{self._link.id}: the archive begins with entry {opening.entries + 1}, and none of its"
            " entries says that a day was archived: no ledger can continue from this archive"
        )


def _hold_against_close(file: DayFile, rebuild: Rebuild) -> None:
    """Compare the closing state in a day's file with the state after the entries of the file.

    The next `pitlink archive` continues from the state in the last file. No ledger entry in the
    archive has the digest of this last file.
    """
    if file.head.closing != rebuild.replay.closing_digest:
        raise RebuildError(f"{file.path}: the state at its close differs from its entries")
