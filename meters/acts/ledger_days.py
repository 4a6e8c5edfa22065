"""The gaming days of a link for the floor page: archived days, and the later entries in Redis.

The entries after the last archived day are read once; later, only new entries are read. So an
answer about today, or about a month, does not read the ledger again.
"""

import asyncio
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final
from zlib import crc32

from bonus.json_input import UNREADABLE
from meters.acts.claim_types import ENTRIES_MAX
from meters.archive.archive_days import ArchiveFiles, day_of
from meters.archive.day_file import ArchiveError, DayFile
from meters.archive.day_summaries import read_summary, written_summary
from meters.ledger.chain import CHAIN
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.claim_evidence import CLAIM_ACTS
from meters.ledger.day_summary import DayFold, DaySummary, seconds_of
from meters.ledger.entry_messages import READING
from meters.ledger.table_corrections import ASK_ACTS
from meters.process.owned_tasks import OwnedTasks
from meters.store.link_reader import LinkReader

_DAY: Final = timedelta(days=1)
_PAGE: Final = 500
"""Count of entries that are read at once. The work for them takes some milliseconds."""
_SUMMARIES_MAX: Final = 64
_DECIDED_WITHIN: Final = timedelta(days=30)
"""How long after a day to search for rejections of the day's wins."""
_OF_ROUNDS: Final = CLAIM_ACTS | ASK_ACTS


@dataclass(slots=True)
class _Rounds:
    """The rounds of a table. `begins` and `ends` have entries; the end of an open round is 0.

    `names` are checksums of the rounds' names. `corrected` has the entries that corrected wagers,
    by the entry with which the round begins.
    """

    begins: "array[int]" = field(default_factory=lambda: array("Q"))
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    at_s: "array[int]" = field(default_factory=lambda: array("Q"))
    names: "array[int]" = field(default_factory=lambda: array("I"))
    corrected: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    last: str = ""


@dataclass(frozen=True, slots=True)
class FoundRound:
    """The numbers of a round's ledger entries, in order: its wagers, corrections and end."""

    table: str
    at_s: int
    entries: tuple[int, ...]


class RoundIndex:
    """The rounds in a part of the ledger, by table, and the acts on each round."""

    def __init__(self) -> None:
        self._tables: defaultdict[str, _Rounds] = defaultdict(_Rounds)
        self._acts: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    def begin(self, table: str, round_id: str, entry: int, at_s: int) -> None:
        rounds = self._tables[table]
        rounds.begins.append(entry)
        rounds.ends.append(0)
        rounds.at_s.append(at_s)
        rounds.names.append(crc32(round_id.encode()))
        rounds.last = round_id

    def add(self, number: int, fields: Mapping[str, bytes]) -> None:
        kind, table = fields["kind"], fields["table"].decode()
        if kind == b"wagers":
            self.begin(table, fields["round"].decode(), number, seconds_of(fields["at"]))
        elif kind in {b"result", b"void", b"correct_wager"}:
            rounds = self._tables[table]
            if not rounds.begins or rounds.ends[-1]:
                return
            if kind == b"correct_wager":
                rounds.corrected[rounds.begins[-1]].append(number)
            else:
                rounds.ends[-1] = number
        elif kind in _OF_ROUNDS:
            self._acts[table, fields["round"].decode()].append(number)

    def last_of(self, table: str) -> tuple[int, str]:
        """Return the first entry and the name of a table's last round; 0 if the table has none."""
        rounds = self._tables.get(table)
        return (rounds.begins[-1], rounds.last) if rounds and rounds.begins else (0, "")

    def named(self, table: str, round_id: str) -> list[FoundRound]:
        """Return the rounds with a name, the latest first.

        A few of these rounds can have another name with the same checksum.
        """
        rounds, name = self._tables.get(table, _Rounds()), crc32(round_id.encode())
        places = [at for at, each in enumerate(rounds.names) if each == name]
        return [self._found(table, rounds, at) for at in reversed(places)]

    def around(self, table: str, entry: int) -> FoundRound | None:
        """Return the round of which an entry is the beginning, a correction or the end."""
        rounds = self._tables.get(table, _Rounds())
        at = bisect_right(rounds.begins, entry) - 1
        found = self._found(table, rounds, at) if at >= 0 else None
        return found if found and entry in found.entries else None

    def since(self, table: str, at_s: int, after: int, count: int) -> list[FoundRound]:
        """Return rounds that began at a time or later, and after an entry, the earliest first."""
        rounds = self._tables.get(table, _Rounds())
        place = bisect_right(rounds.begins, after)
        found: list[FoundRound] = []
        while place < len(rounds.begins) and len(found) < count:
            if rounds.at_s[place] >= at_s:
                found.append(self._found(table, rounds, place))
            place += 1
        return found

    def before(self, table: str, entry: int, count: int) -> list[FoundRound]:
        """Return the last rounds that began before an entry, the latest first."""
        rounds = self._tables.get(table, _Rounds())
        end = bisect_left(rounds.begins, entry)
        return [self._found(table, rounds, at) for at in reversed(range(max(0, end - count), end))]

    def acts_on(self, table: str, round_id: str, after: int) -> Sequence[int]:
        """Return the acts on a round after an entry, until the next round with this name."""
        if (table, round_id) not in self._acts:
            return ()
        begins = (found.entries[0] for found in self.named(table, round_id))
        ends = min((entry for entry in begins if entry > after), default=ENTRIES_MAX)
        return [act for act in self._acts.get((table, round_id), ()) if after < act < ends]

    def _found(self, table: str, rounds: _Rounds, at: int) -> FoundRound:
        begin, end = rounds.begins[at], rounds.ends[at]
        entries = (begin, *rounds.corrected.get(begin, ()), *([end] if end else ()))
        return FoundRound(table, rounds.at_s[at], entries)


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Summaries of gaming days, in their order.

    `unread` is the number of days that are still being read: ask again for them. `missing` are the
    gaps, each by its first and last day: neither Redis nor the archive of this machine has these
    days. `rejected` has the wins that were rejected on these days or later: for each claim, the
    ledger entry of the result and the amount in cents.
    """

    days: Sequence[tuple[date, DaySummary]]
    unread: int = 0
    missing: Sequence[tuple[date, date]] = ()
    rejected: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class LedgerDays:
    """The gaming days of a link. A read that a request cannot wait for continues in `tasks`.

    If Redis fails, every asynchronous method raises a `RedisError`, OSError or ValueError.
    """

    def __init__(
        self, store: LinkReader, link: str, archive: ArchiveFiles, tasks: OwnedTasks
    ) -> None:
        self._store = store
        self._link = link
        self._archive = archive
        self._tasks = tasks
        self._fold = DayFold(link, 0, "", {})
        self._begun = False
        self._open_day: date | None = None
        """The gaming day of `today`; None until all entries were read."""
        self._closed: dict[date, DaySummary] = {}
        self._known: dict[Path, DaySummary] = {}
        self._reading: asyncio.Task[None] | None = None
        self._making: asyncio.Task[None] | None = None
        self.index = RoundIndex()
        self.begins_after = 0
        """The last archived entry. The index has the later entries."""
        self.entries = 0
        """The last entry of the ledger when it was last read."""

    @property
    def read(self) -> int:
        """The last entry that was read."""
        return self._fold.last

    @property
    def minutes(self) -> Mapping[int, Mapping[str, int]]:
        return self._fold.minutes

    def amounts(self, meter: str) -> list[tuple[int, int]]:
        """Of the last hour, return each minute in which the meter changed.

        A minute has its beginning in seconds since 1970, and the meter's micros at its end.
        """
        minutes = self._fold.amounts.items()
        return [(minute_s, held[meter]) for minute_s, held in minutes if meter in held]

    @property
    def today(self) -> DaySummary:
        """The summary of the open day, as far as the day was read."""
        return self._fold.summary()

    @property
    def closed(self) -> Mapping[date, DaySummary]:
        """The closed days without an archive file on this machine."""
        return self._closed

    async def caught_up(self, within_s: float) -> bool:
        """Read new entries. If this takes longer than `within_s`, return False and read on."""
        if self._reading is None or self._reading.done():
            self._reading = self._tasks.start(self._read_on(), f"ledger of {self._link}")
        await asyncio.wait({self._reading}, timeout=within_s)
        if not self._reading.done():
            return False
        self._reading.result()
        return True

    async def _read_on(self) -> None:
        newest = await asyncio.to_thread(self._archive.newest_day)
        if not await self._continues() or (newest and newest in self._closed):
            await self._begin(newest)
        self.entries = int(await self._store.redis.hget(self._store.keys.meters, "entries") or 0)
        opened = await self._store.open_day()
        while page := await self._store.entries(self._fold.last, _PAGE):
            for number, fields in page:
                self._add(number, fields)
            self.entries = max(self.entries, self._fold.last)
            await asyncio.sleep(0)
        # If the open day was closed during the loop, its close is in the entries that were read, or
        # is read at the next call.
        self._open_day = opened if opened not in self._closed else None

    async def _continues(self) -> bool:
        """Return whether the ledger still has the last entry that was read.

        After a restore, the ledger can have another entry with this number.
        """
        if not self._begun:
            return False
        if self._fold.last == self.begins_after:
            return True
        found = await self._store.entries_at([self._fold.last])
        return bool(found) and found[0][1].get(CHAIN, b"").decode() == self._fold.chain

    async def _begin(self, newest: date | None) -> None:
        """Begin after the last archived day, or else with the first entry in Redis."""
        held = await self._store.checkpoint()
        state = await asyncio.to_thread(self._closing_of, newest) if newest else None
        if state is None or state.entries < held.entries:
            state = held
        self._begun = True
        self._open_day = None
        self.begins_after = state.entries
        self.index = RoundIndex()
        for table, opened in state.tables.rounds.items():
            self.index.begin(table, opened.round, opened.entry, 0)
        self._closed = {}
        self._fold = DayFold.after(self._link, state)

    def _closing_of(self, newest: date) -> Checkpoint | None:
        try:
            return DayFile(self._archive.path(newest.isoformat())).day.closing
        except ArchiveError:
            return None

    def _add(self, number: int, fields: Mapping[str, bytes]) -> None:
        self._fold.add(number, fields)
        try:
            self.index.add(number, fields)
            if fields["kind"] == b"reading":
                self._closed[READING.decode(fields["event"]).day] = self._fold.summary()
                self._fold = self._fold.next_day()
                self._open_day = None
        except (KeyError, ValueError, *UNREADABLE):
            return  # a damaged entry, which the audit reports

    async def span(self, first: date, last: date, within_s: float) -> DaySpan:
        """Return the summaries of gaming days.

        Summaries that are missing are made in the background, one after the other.
        """
        until = last + _DECIDED_WITHIN
        files, before = await asyncio.to_thread(self._files, first, until)
        found, lacking = await asyncio.to_thread(self._written, files)
        if lacking and (self._making is None or self._making.done()):
            self._making = self._tasks.start(self._make(lacking), f"summaries of {self._link}")
            await asyncio.wait({self._making}, timeout=within_s)
            more, lacking = await asyncio.to_thread(self._written, files)
            found |= more
        for day, summary in self._closed.items():
            if first <= day <= until:
                found.setdefault(day, summary)
        open_day = await self._store.open_day()
        is_read = open_day == self._open_day and self._fold.last >= self.entries
        if open_day and is_read and first <= open_day <= until:
            found[open_day] = self.today
        days = [(day, summary) for day, summary in sorted(found.items()) if day <= last]
        rejected = {claim: of for one in found.values() for claim, of in one.rejected.items()}
        unread = len(lacking) + (not is_read)
        return DaySpan(days, unread, () if lacking else _gaps(days, first, before), rejected)

    def _files(self, first: date, last: date) -> tuple[list[DayFile], int]:
        """Return the archive files of days, and the last entry archived before them, or 0."""
        paths, after = self._archive.paths(), 0
        earlier = [path for path in paths if day_of(path) < first.isoformat()]
        with suppress(ArchiveError):
            after = DayFile(earlier[-1]).head.last if earlier else 0
        days = [path for path in paths[len(earlier) :] if day_of(path) <= last.isoformat()]
        return [DayFile(path) for path in days], after

    def _written(self, files: Iterable[DayFile]) -> tuple[dict[date, DaySummary], list[DayFile]]:
        found, lacking = dict[date, DaySummary](), list[DayFile]()
        for file in files:
            try:
                summary = self._known.get(file.path) or written_summary(file)
            except ArchiveError:
                continue  # the nightly check of the archive reports it
            if summary is None:
                lacking.append(file)
            else:
                self._keep(file, summary)
                found[date.fromisoformat(day_of(file.path))] = summary
        return found, lacking

    def _keep(self, file: DayFile, summary: DaySummary) -> None:
        self._known[file.path] = summary
        while len(self._known) > _SUMMARIES_MAX:
            del self._known[next(iter(self._known))]

    async def _make(self, files: Sequence[DayFile]) -> None:
        ended = threading.Event()
        try:
            for file in files:
                with suppress(ArchiveError):  # the nightly check of the archive reports it
                    self._keep(file, await asyncio.to_thread(read_summary, file, ended.is_set))
        finally:
            ended.set()

    def archived(self, entry: int) -> DayFile | None:
        """Return the archive file with an entry, or None. Call this in a thread: it opens files.

        Raises:
            ArchiveError: a file cannot be read.
        """
        paths = self._archive.paths()
        at = bisect_right(paths, entry, key=lambda path: DayFile(path).head.first) - 1
        file = DayFile(paths[at]) if at >= 0 else None
        return file if file and file.head.last >= entry else None

    def newest_first(self, count: int) -> Iterator[DayFile]:
        """Yield the archive files of the last days, the last one first."""
        yield from map(DayFile, reversed(self._archive.paths()[-count:]))

    def file_of(self, day: date) -> DayFile | None:
        path = self._archive.path(day.isoformat())
        return DayFile(path) if path.exists() else None


def _gaps(
    days: Sequence[tuple[date, DaySummary]], first: date, before: int
) -> list[tuple[date, date]]:
    """Return the first and last day of each gap between summaries, or before the first summary.

    `before` is the last entry of the last archived day before `first`; 0 if it is not known.
    """
    gaps: list[tuple[date, date]] = []
    if days and days[0][1].after not in {0, before} and days[0][0] > first:
        gaps.append((first, days[0][0] - _DAY))
    for (day, summary), (later, following) in pairwise(days):
        if following.after != summary.last:
            gaps.append((day + _DAY, later - _DAY))
    return gaps
