"""The state of displays, in memory: the current meters, the controllers' beats, the wins.

This state is the last stage, never the ledger: the service writes to it what it has just published,
and displays read or follow it. A follower receives the current state, not its whole history. Data
that it has not read yet is replaced by newer data. So a slow follower uses no more memory and never
sees an old amount after a newer one.
"""

import asyncio
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Self, TypeVar

import msgspec

from bonus.display import hand_words
from meters.floor.floor_file import Link, Meter
from meters.wire.messages import ControllerBeat, Jackpot, MeterValue

FRESH_S: Final = 4.0
"""Seconds for which a controller's beat is valid for its link; after that, nothing of the link is
current."""

LATE_S: Final = 5.0
"""Seconds for which a value with an earlier time may merely be late; after that, a clock was set
back."""

HITS_MAX: Final = 256
"""Largest number of a link's wins in the state; the oldest is dropped first."""

HIT_NEWS_S: Final = 20.0
"""Seconds for which a win is news: a display that reconnects within them celebrates it."""

VALIDATED_NEWS_S: Final = 60.0
"""Seconds for which displays show that a win was validated."""

WATCHERS_MAX: Final = 1024
"""Largest number of followers that are displays; the staff have as many more of their own."""

WATCHERS_OF_ONE_MAX: Final = 64
"""Largest number of followers at one address, or of one person."""

MeterState = Literal["open", "pending", "closed", "inoperable"]
LinkState = Literal["operable", "inoperable", "closed"]


class TooManyWatchersError(Exception):
    """Too many followers in total, or of one address or person.

    Attributes:
        of_one: whether one address, or one person, has too many.
    """

    def __init__(self, *, of_one: bool) -> None:
        super().__init__()
        self.of_one = of_one


@dataclass(frozen=True, slots=True)
class Watcher:
    """A follower: a display by its address, or a member of the staff by name."""

    name: str = ""
    staff: bool = False


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings common to all rows."""


class MeterRow(_Row, frozen=True):
    """A meter for displays: `wager` and `amount` in cents; `version` only increases."""

    link: str
    meter: str
    kind: str
    name: str
    wager: int
    amount: int
    version: int
    cycle: int
    state: MeterState
    at: str

    @classmethod
    def of(cls, link: str, meter: Meter, value: MeterValue) -> Self:
        """Return the row of a meter of the floor file with its current value."""
        return cls(
            link=link,
            meter=meter.meter_id,
            kind=meter.kind.value,
            name=meter.title,
            wager=meter.wager,
            amount=value.amount,
            version=value.version,
            cycle=value.cycle,
            state=value.state,
            at=value.at,
        )


class LinkRow(_Row, frozen=True):
    """The last beat of a link's controller; `reason` is empty while it is operable.

    `age_ms` is the age of the beat, for a reader that receives it later.
    """

    link: str
    state: LinkState
    reason: str
    beat: int
    at: str
    age_ms: int = 0


class JackpotRow(_Row, frozen=True):
    """A win, or a decision on one (duty D8), with its table and amount; amounts in cents.

    `hand_name` is the hand in words. `news_ms` is the rest of the time for which it is news: a win
    to celebrate, or a validation to show. It is 0 for a win from before, and for a rejected or long
    decided one.
    """

    link: str
    event: Literal["hit", "validated", "rejected", "paid"]
    claim: str
    meter: str
    table: str
    position: int
    item: str
    hand: str
    hand_name: str
    amount: int
    meter_after: int
    at: str
    news_ms: int = 0

    @property
    def good(self) -> bool:
        """True if a floorperson has validated the win."""
        return self.event in {"validated", "paid"}


@dataclass(frozen=True, slots=True)
class _Held:
    """A row of a win, with the end of its time as news, by the state's clock."""

    row: JackpotRow
    news_until: float


_Kept = TypeVar("_Kept")

BoardRow = MeterRow | LinkRow | JackpotRow


class DisplayState:
    """The current state of every display, and its followers.

    Args:
        clock: a clock in seconds that only increases, for the age of beats.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._meters: dict[tuple[str, str], MeterRow] = {}
        self._links: dict[str, LinkRow] = {}
        self._heard: dict[str, float] = {}
        self._put_at: dict[tuple[str, str], float] = {}
        self._hits: dict[str, dict[str, _Held]] = {}
        self._decided: dict[str, dict[str, None]] = {}
        self._watches: weakref.WeakSet[DisplayUpdates] = weakref.WeakSet()
        self._closed = False
        self._terms: dict[str, Link] = {}

    def put_terms(self, link: Link) -> None:
        """Show a link's paytables from now on."""
        self._terms[link.id] = link

    def in_force(self, approved: Link) -> Link:
        """Return a link with its current parameters, or as in the floor file if it has none yet."""
        return self._terms.get(approved.id, approved)

    def put_meter(self, row: MeterRow) -> bool:
        """Show a meter's value, unless a later one is shown; return whether it is shown now.

        A lower version is never shown. The same version is shown again only with another state, and
        with a time no earlier than the shown one: a link that lost its store reports that without a
        new version. If a value has been shown for long, a new one counts as later, whatever the
        clocks say.
        """
        key = (row.link, row.meter)
        shown = self._meters.get(key)
        now = self._clock()
        if shown is not None and not _supersedes(row, shown, now - self._put_at[key]):
            return False
        self._meters[key] = row
        self._put_at[key] = now
        for watch in self._watching(row.link):
            watch.put_meter(row)
        return True

    def put_controller(self, link: str, beat: ControllerBeat) -> None:
        """Show a controller's state; call it every second, as its absence counts as a failure."""
        row = LinkRow(link=link, state=beat.state, reason=beat.reason, beat=beat.beat, at=beat.at)
        self._links[link] = row
        self._heard[link] = self._clock()
        for watch in self._watching(link):
            watch.put_link(row)

    def put_jackpot(self, link: str, jackpot: Jackpot, *, news: bool = True) -> None:
        """Show a win until it is decided, and for a time that it is validated (D8).

        A decided win is never shown as open again, even if the decision arrives before the win. A
        repeated decision is not news.

        `news` says that it has just happened; it is false for a win that has waited since before
        the service began.
        """
        hits = self._hits.setdefault(link, {})
        decided = self._decided.setdefault(link, {})
        was = hits.get(jackpot.claim)
        if jackpot.event == "hit":
            if jackpot.claim in decided or was is not None:
                return
            held = self._held(link, jackpot, HIT_NEWS_S if news else 0.0)
            _keep(hits, jackpot.claim, held)
        else:
            hits.pop(jackpot.claim, None)
            held = self._decision(link, jackpot, was)
            if held.news_until > self._clock():
                _keep(hits, jackpot.claim, held)
            _keep(decided, jackpot.claim, None)
        for watch in self._watching(link):
            watch.put_jackpot(self._told(held))

    def _held(self, link: str, jackpot: Jackpot, news_s: float) -> _Held:
        fields = msgspec.structs.asdict(jackpot)
        row = JackpotRow(link=link, hand_name=hand_words(jackpot.hand), **fields)
        return _Held(row, self._clock() + news_s)

    def _decision(self, link: str, jackpot: Jackpot, was: _Held | None) -> _Held:
        """Return a decision; it is news if it is good and its win was open or good before."""
        held = self._held(link, jackpot, 0.0)
        if was is None or not held.row.good:
            return held
        since_before = was.news_until if was.row.good else self._clock() + VALIDATED_NEWS_S
        return _Held(held.row, since_before)

    def _told(self, held: _Held) -> JackpotRow:
        """Return a row with the time left as news at this moment."""
        left_s = max(0.0, held.news_until - self._clock())
        return msgspec.structs.replace(held.row, news_ms=round(left_s * 1000))

    def rows(self, link: str | None = None) -> list[MeterRow]:
        """Return the meters of one link or of all, in the order in which they first came."""
        return [row for row in self._meters.values() if link in {None, row.link}]

    def links(self, link: str | None = None) -> list[LinkRow]:
        """Return the controllers that are heard, without those whose beat has stopped."""
        now = self._clock()
        return [
            msgspec.structs.replace(row, age_ms=round((now - self._heard[row.link]) * 1000))
            for row in self._links.values()
            if link in {None, row.link} and now - self._heard[row.link] <= FRESH_S
        ]

    def pending_jackpots(self, link: str | None = None) -> list[JackpotRow]:
        """Return the wins that are not decided yet, oldest first."""
        return [row for row in self._pending_of(link) if row.event == "hit"]

    def validated(self, link: str | None = None) -> list[JackpotRow]:
        """Return the wins that were validated recently, oldest first."""
        return [row for row in self._pending_of(link) if row.good and row.news_ms]

    def _pending_of(self, link: str | None) -> Iterator[JackpotRow]:
        for of, rows in self._hits.items():
            if link in {None, of}:
                yield from map(self._told, rows.values())

    def follow(self, link: str | None = None, by: Watcher | None = None) -> "DisplayUpdates":
        """Follow one link, or all: the current state first, then the changes.

        Displays and staff have separate limits, so many strangers cannot exclude a floorperson.
        Without a link, all are followed; without a watcher, it counts as a display of unknown
        address.

        Raises:
            TooManyWatchersError: there are too many followers, or too many of this one.
        """
        by = by or Watcher()
        alike = [watch.by for watch in self._watches if watch.by.staff == by.staff]
        if alike.count(by) >= WATCHERS_OF_ONE_MAX:
            raise TooManyWatchersError(of_one=True)
        if len(alike) >= WATCHERS_MAX:
            raise TooManyWatchersError(of_one=False)
        watch = DisplayUpdates(link, self, by)
        if self._closed:
            watch.close()
        self._watches.add(watch)
        return watch

    async def leave(self, watch: "DisplayUpdates") -> None:
        """Remove a follower; a coroutine, because the end of a response needs one."""
        watch.close()
        self._watches.discard(watch)

    def close(self) -> None:
        """End every follower, including future ones."""
        self._closed = True
        for watch in list(self._watches):
            watch.close()

    def watchers(self, *, staff: bool) -> int:
        """Return the number of followers that are displays, or staff."""
        return sum(watch.by.staff == staff for watch in self._watches)

    def _watching(self, link: str) -> "list[DisplayUpdates]":
        return [watch for watch in self._watches if watch.link in {None, link}]


class DisplayUpdates:
    """One follower of the state: an async iterator of the changes since its last read.

    It ends when the state closes, or if the reader missed more wins than the limit: a new follower
    then receives everything again. A reader that stops must call `DisplayState.leave`.
    """

    def __init__(self, link: str | None, displays: DisplayState, by: Watcher) -> None:
        self.link = link
        self.by = by
        self._meters = {(row.link, row.meter): row for row in displays.rows(link)}
        self._links = {row.link: row for row in displays.links(link)}
        self._hits = {
            row.claim: row for row in (*displays.pending_jackpots(link), *displays.validated(link))
        }
        self._hits_max = len(self._hits) + HITS_MAX
        self._ready = asyncio.Event()
        self._ready.set()
        self._open = True

    def put_meter(self, row: MeterRow) -> None:
        """Replace this meter's unread value."""
        self._meters[row.link, row.meter] = row
        self._ready.set()

    def put_link(self, row: LinkRow) -> None:
        """Replace this link's unread controller state."""
        self._links[row.link] = row
        self._ready.set()

    def put_jackpot(self, row: JackpotRow) -> None:
        """Replace this claim's unread state."""
        self._hits[row.claim] = row
        if len(self._hits) > self._hits_max:
            self.close()
        self._ready.set()

    def close(self) -> None:
        """End the iteration immediately."""
        self._open = False
        self._ready.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[BoardRow, ...]:
        await self._ready.wait()
        if not self._open:
            raise StopAsyncIteration
        self._ready.clear()
        rows: tuple[BoardRow, ...] = (
            *self._meters.values(),
            *self._links.values(),
            *self._hits.values(),
        )
        self._meters.clear()
        self._links.clear()
        self._hits.clear()
        return rows


def _supersedes(row: MeterRow, shown: MeterRow, shown_for_s: float) -> bool:
    if row.version != shown.version:
        return row.version > shown.version
    if row.state == shown.state:
        return False
    if shown_for_s >= LATE_S:
        return True
    return datetime.fromisoformat(row.at) >= datetime.fromisoformat(shown.at)


def _keep(values: dict[str, _Kept], claim: str, value: _Kept) -> None:
    """Add the newest value and remove the oldest ones beyond the limit."""
    values[claim] = value
    while len(values) > HITS_MAX:
        del values[next(iter(values))]
