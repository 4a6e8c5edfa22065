"""Search of rounds: by table and name or time, or by a claim (duty D16).

The rounds of the archived days are in files, which take seconds to read. So one search at a time
reads files, outside the event loop, and gives up after some seconds.
"""

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Final, TypeVar

import msgspec

from bonus.json_input import UNREADABLE
from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ENTRIES_MAX, FloorRow
from meters.acts.ledger_days import FoundRound, LedgerDays
from meters.acts.round_view import (
    ENDS,
    LATER_PARTS,
    READS,
    Entry,
    RoundPage,
    RoundRow,
    RoundView,
    grouped,
    moved_of,
    round_row,
    round_view,
)
from meters.archive.archive_days import day_of
from meters.archive.day_file import ArchiveError, DayFile, LineBlock, entry_of
from meters.archive.day_summaries import read_summary, written_summary
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link
from meters.ledger.accounts import ENVY, claim_account, transfers_in
from meters.ledger.claim_evidence import CLAIM_ACTS, table_of
from meters.ledger.claim_records import record_of
from meters.ledger.day_summary import DaySummary
from meters.ledger.entry_messages import DECIDED
from meters.store.link_reader import LinkReader

READ_WITHIN_S: Final = 6.0
"""The longest time for which a search reads: a page waits a little longer."""

_CANDIDATES_MAX: Final = 20
_OPENING: Final = frozenset({"result", "wagers", "correct_wager"})
"""The kinds of ledger entries that can open claims."""
_DAYS_MAX: Final = 400
_PAGE: Final = 1_000
_NOT_HERE: Final = "neither Redis nor the archive of this machine has"
_BUSY: Final = "the archive is being read for somebody else: try again in a moment"
_T = TypeVar("_T")


class RoundQuery(FloorRow, frozen=True, kw_only=True):
    """What a search for rounds asks for. Without a claim, it needs a table.

    Attributes:
        day: only this gaming day.
        round: the name of a round; without a day, the latest rounds with this name.
        since: a time, RFC 3339: rounds from this time to the end of the gaming day.
        after: the entry of the last round on the previous page, if the earliest round is first.
        before: the entry of the last round on the previous page, if the latest round is first.
    """

    link: str | None = None
    table: str | None = None
    day: date | None = None
    round: str | None = None
    since: datetime | None = None
    claim: str | None = None
    after: int = 0
    before: int = ENTRIES_MAX
    limit: int = 25


@dataclass(frozen=True, slots=True)
class SearchedLink:
    store: LinkReader
    days: LedgerDays


class RoundSearch:
    def __init__(
        self, floor: Floor, links: Mapping[str, SearchedLink], in_force: Callable[[Link], Link]
    ) -> None:
        self._floor = floor
        self._links = links
        self._in_force = in_force
        self._days = GamingDays.of_facility(floor.facility)
        self._turn = asyncio.Lock()

    async def page(self, query: RoundQuery) -> RoundPage:
        """Return the rounds that a query asks for.

        Raises:
            ActError: ``unknown_link``, ``unknown_table``, ``unknown_round``, ``bad_value``,
                ``busy``, ``archive_failed``.
        """
        if query.claim:
            return await self._of_claim(query.claim)
        link, table = self._table(query)
        days = await self._ready(link)
        if query.round:
            return await self._named(link, table, query.round, query.day)
        day = query.day or (self._days.of(query.since) if query.since else None)
        if day is None:
            found = days.index.before(table, query.before, query.limit)
            rows = await self._rows(link, found)
            more = rows[-1].entry if len(found) == query.limit else None
            return RoundPage(rounds=tuple(rows), latest_first=True, next=more, day=None)
        since = query.since or self._days.bounds(day)[0]
        if (file := days.file_of(day)) is not None:
            return await self._archived_page(link, table, file, since, query)
        ends_s = int(self._days.bounds(day)[1].timestamp())
        since_s = int(since.timestamp())
        found = days.index.since(table, since_s, query.after, query.limit)
        found = [one for one in found if one.at_s < ends_s]
        if not found and day not in {*days.closed, await self._store(link).open_day()}:
            raise ActError("unknown_round", f"{_NOT_HERE} the gaming day {day}")
        rows = await self._rows(link, found)
        more = rows[-1].entry if len(found) == query.limit else None
        return RoundPage(rounds=tuple(rows), latest_first=False, next=more, day=day)

    async def view(self, link_id: str, entry: int) -> RoundView:
        """Return the round to which a ledger entry belongs.

        Raises:
            ActError: ``unknown_link``, ``unknown_round``, ``busy``, ``archive_failed``.
        """
        link, days = self._link(link_id), await self._ready(self._link(link_id))
        if entry <= days.begins_after:
            return await self._archived_view(link, entry)
        fields = dict(await self._store(link).entries_at([entry])).get(entry)
        if fields is None:
            raise _unknown(f"round with entry {entry}")
        table, name = fields["table"].decode(), fields["round"].decode()
        found = days.index.around(table, entry)
        if found is None:  # for an act, take the last earlier round of this name
            rounds = days.index.named(table, name)
            found = next((one for one in rounds if one.entries[0] < entry), None)
        if found is None and fields["kind"] in CLAIM_ACTS:  # a decision on a win of an archived day
            (held,) = await self._store(link).claims([DECIDED.decode(fields["event"]).claim])
            return await self.view(link_id, int(held.get("entry", 0)))
        if found is None:
            raise _unknown(f"round with entry {entry}")
        if found.entries[0] <= days.begins_after:
            return await self._archived_view(link, found.entries[0])
        numbers = [*found.entries, *days.index.acts_on(table, name, found.entries[0])]
        entries = await self._store(link).entries_at(numbers)
        ends = {numbers[0], found.entries[-1]}
        befores = {at: await self._meters_before(link, at) for at in ends}
        return _read(partial(round_view, link, entries, befores))

    def last_of(self, link_id: str, table: str) -> tuple[int, str]:
        return self._links[link_id].days.index.last_of(table)

    async def _of_claim(self, claim: str) -> RoundPage:
        link, table = self._link(claim.partition(".")[0]), table_of(claim)
        days = await self._ready(link)
        (fields,) = await self._store(link).claims([claim])
        if fields:
            # A part of a community share is in the round whose hand brings it.
            entry, record = int(fields["entry"]), record_of(fields)
            name = record.hand_round or record.round
            if entry > days.begins_after:
                found = days.index.around(table, entry)
                rows = await self._rows(link, [found] if found else [])
            else:
                file = await self._aside(lambda: days.archived(entry))
                rows = await self._archived_rows(link, table, name, [file] if file else [])
            searched = ""
        else:
            files = _NewestFirst(days)
            rows = await self._of_forgotten(link, table, claim, files)
            searched = f" among the wins in Redis, nor {files.words}"
        if not rows:
            raise _unknown(f"round of claim {claim}{searched}")
        return RoundPage(rounds=tuple(rows[:1]), latest_first=True, next=None, day=None)

    async def _of_forgotten(
        self, link: Link, table: str, claim: str, files: "_NewestFirst"
    ) -> list[RoundRow]:
        try:
            seq = int(claim.rsplit("-", 2)[1])
        except (IndexError, ValueError):
            raise ActError("bad_value", "a claim is a name such as main.TCP-01-42-1") from None

        def search() -> list[list[Entry]]:
            for file in files:
                summary = written_summary(file)
                first, last = summary.seqs.get(table, (0, 0)) if summary else (0, seq)
                if first <= seq <= last:
                    result = next(
                        (
                            line
                            for line in file.lines(b'"seq":"%d"' % seq)
                            if line.table == table and line.kind in _OPENING
                        ),
                        None,
                    )
                    if result:
                        named = _named_in(files.days, file, _text_of(table, result.round))
                        return [group for group in named if result.number in dict(group)]
            return []

        return await self._with_acts(link, await self._aside(search))

    async def _named(self, link: Link, table: str, name: str, day: date | None) -> RoundPage:
        days = self._links[link.id].days
        rows: list[RoundRow] = []
        file = days.file_of(day) if day else None
        if file is None:
            found = days.index.named(table, name)[:_CANDIDATES_MAX]
            rows = [row for row in await self._rows(link, found) if row.round == name]
            if day is not None:
                begins, ends = (int(one.timestamp()) for one in self._days.bounds(day))
                at_s = {one.entries[0]: one.at_s for one in found}
                rows = [row for row in rows if begins <= at_s.get(row.entry, 0) < ends]
        searched = f"on the gaming day {day}"
        if not rows and file:
            rows = await self._archived_rows(link, table, name, [file])
        elif not rows and day is None:
            files = _NewestFirst(days)
            rows = await self._archived_rows(link, table, name, files)
            searched = f"since the last archived day, nor {files.words}"
        elif day and day not in {*days.closed, await self._store(link).open_day()}:
            searched += f": {_NOT_HERE} this day"
        if not rows:
            raise _unknown(f"round {name} of table {table} {searched}")
        return RoundPage(rounds=tuple(rows), latest_first=True, next=None, day=day)

    async def _archived_rows(
        self, link: Link, table: str, name: str, files: Iterable[DayFile]
    ) -> list[RoundRow]:
        days, text = self._links[link.id].days, _text_of(table, name)

        def search() -> list[list[Entry]]:
            return next((found for file in files if (found := _named_in(days, file, text))), [])

        return (await self._with_acts(link, await self._aside(search)))[::-1]

    async def _archived_page(
        self, link: Link, table: str, file: DayFile, since: datetime, query: RoundQuery
    ) -> RoundPage:
        begins = since.astimezone(UTC).isoformat(timespec="milliseconds").encode()[:23]
        days = self._links[link.id].days

        def search() -> list[list[Entry]]:
            found: list[Entry] = []
            begun = 0
            won = False
            for number, fields in _lines(file, _text("table", table), query.after):
                begun += fields["kind"] == b"wagers" and fields["at"] >= begins
                if begun > query.limit:
                    if not won:
                        break
                    if fields["kind"] in CLAIM_ACTS:  # perhaps on a win of the page
                        found.append((number, fields))
                elif begun:
                    found.append((number, fields))
                    won = won or b'"claim"' in fields["reply"]
            groups = [group for group in grouped(found) if group[0][1]["kind"] == b"wagers"]
            _complete(days, file, groups)
            return groups

        rows = await self._with_acts(link, await self._aside(search))
        more = rows[-1].entry if len(rows) == query.limit else None
        return RoundPage(rounds=tuple(rows), latest_first=False, next=more, day=file.head.day)

    async def _archived_view(self, link: Link, entry: int) -> RoundView:
        days = self._links[link.id].days
        entries, befores = await self._aside(partial(_archived_round, days, entry))
        if not entries:
            raise _unknown(f"round with entry {entry}")
        later = await self._store(link).entries_at(_later(days, entries))
        for number, fields in later:
            if fields["kind"] in ENDS:  # the round was open at the close of its day
                befores[number] = await self._meters_before(link, number)
        entries = [*entries, *later]
        return _read(partial(round_view, link, entries, befores))

    async def _rows(self, link: Link, found: Sequence[FoundRound]) -> list[RoundRow]:
        numbers = sorted({number for one in found for number in one.entries})
        read = dict(await self._store(link).entries_at(numbers))
        groups: list[list[Entry]] = [
            [(at, read[at]) for at in one.entries if at in read] for one in found
        ]
        days = self._links[link.id].days
        for at, one in enumerate(found):
            if one.entries[0] <= days.begins_after:  # its wagers are of an archived day
                begun, _ = await self._aside(partial(_archived_round, days, one.entries[0]))
                groups[at] = begun or groups[at]
        return await self._with_acts(link, [group for group in groups if group])

    async def _with_acts(self, link: Link, groups: Sequence[Sequence[Entry]]) -> list[RoundRow]:
        """Return the rows of rounds, with the rounds' later entries in Redis."""
        acts = [_later(self._links[link.id].days, group) for group in groups]
        numbers = sorted({number for each in acts for number in each})
        read = dict(await self._store(link).entries_at(numbers)) if numbers else {}
        return [
            _read(
                partial(round_row, link, [*group, *((at, read[at]) for at in each if at in read)])
            )
            for group, each in zip(groups, acts, strict=True)
        ]

    async def _meters_before(self, link: Link, entry: int) -> dict[str, int]:
        days = self._links[link.id].days
        summaries = [*days.closed.values(), days.today]
        summary = next(one for one in summaries if one.after < entry <= one.last)
        after, meters = _known_before(summary, entry)
        while after < entry - 1:
            page = await self._store(link).entries(after, min(_PAGE, entry - 1 - after))
            if not page:
                break
            for number, fields in page:
                _move(meters, fields)
                after = number
            await asyncio.sleep(0)
        return meters

    async def _aside(self, work: Callable[[], _T]) -> _T:
        """Read archive files in a thread, one search after the other."""
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                await self._turn.acquire()
        except TimeoutError:
            raise ActError("busy", _BUSY) from None
        try:
            return await asyncio.to_thread(work)
        except (ArchiveError, *UNREADABLE) as error:
            raise ActError("archive_failed", str(error)) from None
        finally:
            self._turn.release()

    async def _ready(self, link: Link) -> LedgerDays:
        days = self._links[link.id].days
        if not await days.caught_up(READ_WITHIN_S):
            share = days.read * 100 // max(1, days.entries)
            raise ActError("busy", f"the ledger is still being read, {share}%: try again soon")
        return days

    def _store(self, link: Link) -> LinkReader:
        return self._links[link.id].store

    def _link(self, link_id: str) -> Link:
        for link in self._floor.link:
            if link.id == link_id:
                return self._in_force(link)
        raise ActError("unknown_link", f"there is no link {link_id}")

    def _table(self, query: RoundQuery) -> tuple[Link, str]:
        table = query.table
        if not table:
            raise ActError("bad_value", "give a table or a claim")
        if query.link:
            return self._link(query.link), table
        for link in self._floor.link:
            for one in link.table:
                if one.id.casefold() == table.casefold():
                    return self._in_force(link), one.id
        raise ActError("unknown_table", f"there is no table {table}")


def _unknown(what: str) -> ActError:
    return ActError("unknown_round", f"the ledger here has no {what}")


def _read(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except READS as error:
        message = f"an entry of the round is damaged: {error!r}"
        raise ActError("archive_failed", message) from None


def _text(name: str, value: str) -> bytes:
    return b'"%s":%s' % (name.encode(), msgspec.json.encode(value))


def _text_of(table: str, name: str) -> bytes:
    return _text("table", table) + b"," + _text("round", name)


def _lines(file: DayFile, containing: bytes, after: int = 0) -> Iterator[Entry]:
    return map(entry_of, file.lines(containing, after=after))


class _NewestFirst:
    """The archive files of a link, the last day first, until the time for a search is over."""

    def __init__(self, days: LedgerDays) -> None:
        self.days = days
        self._until_s = time.monotonic() + READ_WITHIN_S
        self._read: list[str] = []
        self._left_out = False

    def __iter__(self) -> Iterator[DayFile]:
        for file in self.days.newest_first(_DAYS_MAX):
            if time.monotonic() > self._until_s:
                self._left_out = True
                return
            self._read.append(day_of(file.path))
            yield file

    @property
    def words(self) -> str:
        if not self._read:
            return "in an archive: this machine has none"
        days = " to ".join(dict.fromkeys((self._read[-1], self._read[0])))
        rest = ". Earlier days were not read: give the gaming day" if self._left_out else ""
        return f"in the archive of {days}{rest}"


def _known_before(summary: DaySummary, entry: int) -> tuple[int, dict[str, int]]:
    """Return the last entry before `entry` at which a summary has the meters, and their micros."""
    place = bisect_left(summary.entries, entry)
    if place == 0:
        return summary.after, {meter: day.opening for meter, day in summary.meters.items()}
    meters = {meter: day.amounts[place - 1] for meter, day in summary.meters.items()}
    return summary.entries[place - 1], meters


def _move(meters: dict[str, int], fields: Mapping[str, bytes]) -> None:
    for meter, micros in moved_of(transfers_in(fields["transfers"])).items():
        meters[meter] = meters.get(meter, 0) + micros


_Round = tuple[list[Entry], dict[int, dict[str, int]]]
"""The entries of a round, and the micros of the meters before its first and its ending entry."""


def _later(days: LedgerDays, group: Sequence[Entry]) -> Sequence[int]:
    """Return the numbers of a round's entries in Redis that come after the entries in `group`."""
    (_, first), last = group[0], group[-1][0]
    table, name = first["table"].decode(), first["round"].decode()
    found = (days.index.around(table, number) for number, _ in group)
    own = next((one.entries for one in found if one), ())
    return sorted({*days.index.acts_on(table, name, last), *(at for at in own if at > last)})


def _begun_before(file: DayFile, group: Sequence[Entry]) -> int:
    """Return an entry of the earlier day on which the round of `group` began, or 0."""
    _, first = group[0]
    if first["kind"] == b"wagers":
        return 0
    opening = file.day.opening
    opened = opening.tables.rounds.get(first["table"].decode())
    if opened and opened.round == first["round"].decode():
        return opened.entry
    claim = DECIDED.decode(first["event"]).claim if first["kind"] in CLAIM_ACTS else ""
    return int(opening.claims.get(claim, {}).get("entry", 0))


def _goes_on(file: DayFile, groups: Sequence[list[Entry]]) -> list[list[Entry]]:
    """Return the rounds that are open at the close of a day, or have a win that waits."""
    ended = [next((one for _, one in group if one["kind"] in ENDS), None) for group in groups]
    claims = [
        {claim for _, one in group if end for claim in _claims_of(one["transfers"])}
        for group, end in zip(groups, ended, strict=True)
    ]
    if all(ended) and not any(claims):
        return []
    closing = file.day.closing
    opened = {one.entry for one in closing.tables.rounds.values()}
    return [
        group
        for group, end, owed in zip(groups, ended, claims, strict=True)
        if (owed & closing.books.waiting if end else opened & dict(group).keys())
    ]


def _claims_of(transfers: bytes) -> set[str]:
    accounts, targets = (claim_account(""), ENVY), [one.target for one in transfers_in(transfers)]
    return {one.partition(":")[2] for one in targets if one.startswith(accounts)}


def _complete(days: LedgerDays, file: DayFile | None, groups: Sequence[list[Entry]]) -> None:
    """Add to the rounds of a table their entries from the files of later days.

    An Envy Bonus can be owed for months. So this reads for some seconds only, and then leaves out
    the entries of even later days.
    """
    until_s = time.monotonic() + READ_WITHIN_S
    while file and time.monotonic() < until_s and (later := _goes_on(file, groups)):
        file = days.archived(file.head.last + 1)
        by_name = {group[0][1]["round"]: group for group in later}
        text = _text("table", later[0][0][1]["table"].decode())
        for number, fields in _lines(file, text) if file else ():
            if fields["kind"] == b"wagers":
                by_name.pop(fields["round"], None)  # the next round with this name
            elif fields["kind"] in LATER_PARTS and fields["round"] in by_name:
                by_name[fields["round"]].append((number, fields))


def _named_in(days: LedgerDays, file: DayFile, text: bytes) -> list[list[Entry]]:
    """Return the rounds with lines that contain `text` in an archive file.

    The entries of these rounds in other files are added.
    """
    groups = grouped(_lines(file, text))
    begun = _begun_before(file, groups[0]) if groups else 0
    if begun and (before := days.archived(begun)):
        whole = [group for group in _named_in(days, before, text) if begun in dict(group)]
        groups[:1] = whole or groups[:1]
    _complete(days, file, [group for group in groups if group[0][0] >= file.head.first])
    return groups


def _archived_round(days: LedgerDays, entry: int) -> _Round:
    """Return the round of an entry of an archived day, from all files with parts of the round."""
    file = days.archived(entry)
    if file is None:
        return [], {}
    entries, befores = _round_in(file, entry)
    if entries and (begun := _begun_before(file, entries)):
        whole = _archived_round(days, begun)
        return whole if whole[0] else (entries, befores)
    _complete(days, file, [entries] if entries else [])
    for number, fields in entries:
        if number > file.head.last and fields["kind"] in ENDS and (end := days.archived(number)):
            befores |= _round_in(end, number)[1]
    return entries, befores


def _round_in(file: DayFile, entry: int) -> _Round:
    """Return the part of an entry's round that is in the file of an archived day.

    The file of a large floor takes a second to read. It is read again only if the round began
    more than ten minutes before `entry`.
    """
    summary = read_summary(file)
    hits = (hit for meter in summary.meters.values() for hit in meter.hits if hit.entry == entry)
    text = next((_text_of(hit.table, hit.round) for hit in hits), b"")
    found = _round_with(file, summary, entry, text)
    if not text and found[0] and found[0][0][1]["kind"] != b"wagers":
        first = found[0][0][1]
        text = _text_of(first["table"].decode(), first["round"].decode())
        return _round_with(file, summary, entry, text)
    return found


def _round_with(file: DayFile, summary: DaySummary, entry: int, text: bytes) -> _Round:
    """Return the round of an entry. `text` finds the lines of the round; empty if not known yet.

    The blocks of the last ten to twenty minutes are kept: they have the entries from which the
    meters before the round are calculated, and the beginning of the round if `entry` is its end.
    """
    begin = b'{"number":%d,' % entry
    kept: deque[tuple[int, LineBlock]] = deque()
    found: list[Entry] = []
    befores: dict[int, dict[str, int]] = {}
    for block in file.blocks():
        kept.append((block.last, block))
        step = bisect_left(summary.entries, kept[-1][0])
        while kept[0][0] <= (summary.entries[step - 2] if step > 1 else summary.after):
            kept.popleft()
        looked = [block]
        if not text and begin in block.lines:
            line = next(block.entries(begin))
            if not line.round:
                break
            text = _text_of(line.table, line.round)
            looked = [each for _, each in kept]
        elif not text or text not in block.lines:
            continue
        for line in (line for each in looked for line in each.entries(text)):
            found.append(entry_of(line))
            if line.kind in {"wagers", "result", "void"}:
                befores[line.number] = _meters_before(summary, kept, line.number)
    group = next((one for one in grouped(found) if entry in dict(one)), [])
    return group, {number: befores[number] for number, _ in group if number in befores}


def _meters_before(
    summary: DaySummary, kept: Iterable[tuple[int, LineBlock]], entry: int
) -> dict[str, int]:
    after, meters = _known_before(summary, entry)
    for last, block in kept:
        for line in block.entries(after=after) if last > after else ():
            if line.number >= entry:
                return meters
            _move(meters, {"transfers": line.transfers.encode()})
    return meters
