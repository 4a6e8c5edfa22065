"""What displays show, kept in memory: the current meters, the controllers' beats, the hits.

The board is the end of the way, never the ledger: the service puts on it what it has just
published, and whoever shows meters reads or watches it. A watcher is told what is current, not
everything that was: what it has not yet taken is replaced by what came since, so a slow one costs
no memory and never sees an old amount after a newer one.
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
"""For how many seconds a controller's beat speaks for its link; then nothing there is current."""

LATE_S: Final = 5.0
"""So long what is told with an earlier time may merely be late; after that a clock was set back."""

HITS_MAX: Final = 256
"""How many hits the board holds for a link before it lets the oldest go."""

HIT_NEWS_S: Final = 20.0
"""For how many seconds a hit is news: a display that comes back within them celebrates it."""

VALIDATED_NEWS_S: Final = 60.0
"""For how many seconds displays show that a win was validated."""

WATCHERS_MAX: Final = 1024
"""How many displays watch the board; as many of the staff may besides, whoever else watches."""

WATCHERS_OF_ONE_MAX: Final = 64
"""How many of these are at one address, or one person's."""

MeterState = Literal["open", "pending", "closed", "inoperable"]
LinkState = Literal["operable", "inoperable", "closed"]


class TooManyWatchersError(Exception):
    """As many watch the board as it serves, or as many of one address or person as it allows.

    Attributes:
        of_one: it is one address, or one person, that has too many.
    """

    def __init__(self, *, of_one: bool) -> None:
        super().__init__()
        self.of_one = of_one


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who watches: a display by its address, or somebody of the staff by name."""

    name: str = ""
    staff: bool = False


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all rows share."""


class MeterRow(_Row, frozen=True):
    """A meter as displays read it: `wager` and `amount` in cents, `version` only rises."""

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
        """The row of a meter of the floor file and its current value."""
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
    """The controller of a link as it last spoke; `reason` is empty while it is operable.

    `age_ms` is how long ago it spoke, where a reader is told later than that.
    """

    link: str
    state: LinkState
    reason: str
    beat: int
    at: str
    age_ms: int = 0


class JackpotRow(_Row, frozen=True):
    """A hit, or what became of one (duty D8): which table, what it won; amounts in cents.

    `hand_name` is the hand as people read it. `news_ms` is for how much longer it is news: a hit
    to celebrate, a validation to show; 0 for what waits from before, is rejected or long decided.
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
        """A floorperson has found that the win is one."""
        return self.event in {"validated", "paid"}


@dataclass(frozen=True, slots=True)
class _Held:
    """A row of a hit, and until when it is news by the board's clock."""

    row: JackpotRow
    news_until: float


_Kept = TypeVar("_Kept")

BoardRow = MeterRow | LinkRow | JackpotRow


class DisplayState:
    """The current state of every display, and those who watch it.

    Args:
        clock: seconds that only rise, by which a beat grows old.
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
        """Show a link's paytables as they are from now on."""
        self._terms[link.id] = link

    def in_force(self, approved: Link) -> Link:
        """A link with the parameters under which it operates, or as filed until it has."""
        return self._terms.get(approved.id, approved)

    def put_meter(self, row: MeterRow) -> bool:
        """Show a meter's value, unless a later one is shown already; whether it is shown now.

        A lower version is never shown. The same version is shown again only in another state and
        no earlier than the one shown: a link that lost its store says so without a new version.
        What has been shown for long is no later than what comes now, whatever the clocks say.
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
        """Show a controller's state; call it every second, since silence is taken for failure."""
        row = LinkRow(link=link, state=beat.state, reason=beat.reason, beat=beat.beat, at=beat.at)
        self._links[link] = row
        self._heard[link] = self._clock()
        for watch in self._watching(link):
            watch.put_link(row)

    def put_jackpot(self, link: str, jackpot: Jackpot, *, news: bool = True) -> None:
        """Show a hit until a floorperson has decided it, and for a while that it is validated (D8).

        What is decided is never shown as open again, even where the decision arrives before the
        hit; and a decision that is told once more is no news.

        `news` says that it has just happened; not so for a hit that waits since before the service
        began.
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
        """A decision, which is news where it is good and of a hit that was open or good itself."""
        held = self._held(link, jackpot, 0.0)
        if was is None or not held.row.good:
            return held
        since_before = was.news_until if was.row.good else self._clock() + VALIDATED_NEWS_S
        return _Held(held.row, since_before)

    def _told(self, held: _Held) -> JackpotRow:
        """A row as a reader is told it at this moment."""
        left_s = max(0.0, held.news_until - self._clock())
        return msgspec.structs.replace(held.row, news_ms=round(left_s * 1000))

    def rows(self, link: str | None = None) -> list[MeterRow]:
        """The meters of one link or of all, in the order in which they first came."""
        return [row for row in self._meters.values() if link in {None, row.link}]

    def links(self, link: str | None = None) -> list[LinkRow]:
        """The controllers that are heard: one whose beat has stopped is not among them."""
        now = self._clock()
        return [
            msgspec.structs.replace(row, age_ms=round((now - self._heard[row.link]) * 1000))
            for row in self._links.values()
            if link in {None, row.link} and now - self._heard[row.link] <= FRESH_S
        ]

    def pending_jackpots(self, link: str | None = None) -> list[JackpotRow]:
        """The hits that no floorperson has decided yet, oldest first."""
        return [row for row in self._pending_of(link) if row.event == "hit"]

    def validated(self, link: str | None = None) -> list[JackpotRow]:
        """The wins that were validated a short while ago, oldest first."""
        return [row for row in self._pending_of(link) if row.good and row.news_ms]

    def _pending_of(self, link: str | None) -> Iterator[JackpotRow]:
        for of, rows in self._hits.items():
            if link in {None, of}:
                yield from map(self._told, rows.values())

    def follow(self, link: str | None = None, by: Watcher | None = None) -> "DisplayUpdates":
        """Follow one link, or all: first all that is current, then what changes.

        Displays and staff have places of their own: no crowd of strangers shuts out a floorperson.

        Without a link it is all of them; without a watcher, a display of no known address.

        Raises:
            TooManyWatchersError: as many as the board serves are watching, or too many of one's.
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
        """Forget one who watched; a coroutine, as what ends a response is."""
        watch.close()
        self._watches.discard(watch)

    def close(self) -> None:
        """End every watch, those to come included."""
        self._closed = True
        for watch in list(self._watches):
            watch.close()

    def watchers(self, *, staff: bool) -> int:
        """How many displays watch, or how many of the staff."""
        return sum(watch.by.staff == staff for watch in self._watches)

    def _watching(self, link: str) -> "list[DisplayUpdates]":
        return [watch for watch in self._watches if watch.link in {None, link}]


class DisplayUpdates:
    """One reader of the board: an async iterator of what changed since it last asked.

    It ends when the board closes, and where the reader missed more hits than the board holds: a
    new watch then tells everything afresh. Whoever stops watching leaves the board.
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
        """Replace what the reader has not taken of this meter."""
        self._meters[row.link, row.meter] = row
        self._ready.set()

    def put_link(self, row: LinkRow) -> None:
        """Replace what the reader has not taken of this link's controller."""
        self._links[row.link] = row
        self._ready.set()

    def put_jackpot(self, row: JackpotRow) -> None:
        """Replace what the reader has not taken of this claim."""
        self._hits[row.claim] = row
        if len(self._hits) > self._hits_max:
            self.close()
        self._ready.set()

    def close(self) -> None:
        """End the iteration at once."""
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
    """Add the newest and let go of the oldest beyond what the board holds."""
    values[claim] = value
    while len(values) > HITS_MAX:
        del values[next(iter(values))]
