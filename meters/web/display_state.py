"""The data that displays show, in memory: meters, heartbeats of the links, wins, and today's wins.

Accounting never uses this data: it is only what the service has just published. A display reads the
data once, or follows the data. A follower receives the current data, and then each change. If a
value changes twice before a follower reads the value, only the new value arrives. So a slow
follower needs no more memory, and never sees an old amount after a newer one.
"""

import asyncio
import itertools
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Self, TypeVar

import msgspec

from bonus.display import hand_words
from bonus.printable import without_addresses
from bonus.rounds import WrittenPercent
from bonus.wagers import MUST_HIT_BY
from meters.floor.floor_file import FixedJackpot, Link, Meter
from meters.wire.messages import ControllerBeat, Jackpot, MeterValue

FRESH_S: Final = 4.0
"""If a link has no heartbeat for this time, displays treat its data as out of date."""

LATE_S: Final = 5.0
"""How late a message can be. If a value has been shown for this time, and the next value has an
earlier time, a clock was set back.
"""

HITS_MAX: Final = 256
"""How many of the latest wins of a link are kept."""

HIT_NEWS_S: Final = 20.0
"""For this time, a win is news: a display that reconnects meanwhile celebrates it."""

VALIDATED_NEWS_S: Final = 60.0

WATCHERS_MAX: Final = 1024
"""How many displays can follow the data at the same time. For staff, there is an equal limit."""

WATCHERS_OF_ONE_MAX: Final = 64
"""How many event streams one address, or one member of the staff, can have."""

MeterState = Literal["open", "pending", "closed", "inoperable"]
LinkState = Literal["operable", "inoperable", "closed"]


class TooManyWatchersError(Exception):
    def __init__(self, *, of_one: bool) -> None:
        super().__init__()
        self.of_one = of_one


@dataclass(frozen=True, slots=True)
class Watcher:
    """The owner of an event stream. `name` is a display's address, or a staff member's name."""

    name: str = ""
    staff: bool = False


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class MeterRow(_Row, frozen=True):
    """A meter as displays show it. Amounts are in cents.

    Attributes:
        kind: the name of the meter in the rules of its game, or ``must_hit_by``.
        wager: the amount of one wager on the meter, in cents; 0 for a must-hit-by meter.
        state: ``pending`` while a win of this meter waits for a floorperson.
    """

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
        fields = msgspec.structs.asdict(value)
        return cls(link=link, kind=meter.kind, name=meter.title, wager=meter.wager, **fields)


class LinkRow(_Row, frozen=True):
    """The last heartbeat of a link's service.

    Attributes:
        state: ``closed`` if people closed the link.
        reason: why the link is inoperable; empty if it operates. Network addresses are left out,
            because everybody can see displays.
        beat: a number that rises with each heartbeat.
        age_ms: the age of the heartbeat in the first event of a stream, in milliseconds; later 0.
    """

    link: str
    state: LinkState
    reason: str
    beat: int
    at: str
    age_ms: int = 0


class FixedJackpotRow(_Row, frozen=True):
    """A fixed payout of the tables that displays show as a jackpot; it is not a meter.

    Attributes:
        jackpot: the id of the fixed jackpot on its link.
        meter: the id of the meter whose wager wins it.
        hand_name: the hand in words.
        wager: the amount of the wager, in cents.
        amount: what the tables pay for the hand, in cents.
    """

    jackpot: str
    name: str
    meter: str
    hand: str
    hand_name: str
    wager: int
    amount: int

    @classmethod
    def of(cls, jackpot: FixedJackpot) -> Self:
        return cls(
            jackpot=jackpot.id,
            name=jackpot.name,
            meter=jackpot.meter.meter_id,
            hand=jackpot.hand,
            hand_name=hand_words(jackpot.hand),
            wager=jackpot.meter.wager,
            amount=jackpot.amount_cents,
        )


class FixedJackpotsRow(_Row, frozen=True):
    """The fixed jackpots of a link; sent only if the floor file has some for the link.

    Attributes:
        jackpots: all fixed jackpots of the link under its present terms.
    """

    link: str
    jackpots: tuple[FixedJackpotRow, ...]


@dataclass(frozen=True, slots=True)
class WinningHand:
    """What a celebration shows of a win besides the public message.

    `cards` are the cards that form the hand. `percent` is the percentage of the meter that was won.
    `fixed_jackpot` is the id of the fixed jackpot that was won.
    """

    cards: tuple[str, ...] = ()
    percent: WrittenPercent | None = None
    fixed_jackpot: str = ""


class JackpotRow(_Row, frozen=True):
    """A win, or a decision on a win (duty D8), with its table. Amounts are in cents.

    Attributes:
        event: what happened to the win.
        meter: the id of the meter that was won, or whose wager won a fixed jackpot.
        item: the wager that won, or the jackpot of the meter.
        hand_name: the hand in words; empty if no hand won the meter.
        meter_after: the amount of the meter after the win.
        cards: the cards that form the hand; empty if they are not known.
        percent: the percentage of the meter that was won; null for a fixed jackpot, for a community
            share, for a bad beat, and if it is not known.
        fixed_jackpot: the id of the fixed jackpot that was won; empty if a meter was won.
        news_ms: for how many milliseconds displays still celebrate the win, or show that it was
            validated. It is 0 if the win was rejected or is no longer news.
        hand_of: for a share of a meter, the position whose hand brings it; null for other wins.
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
    cards: tuple[str, ...] = ()
    percent: WrittenPercent | None = None
    fixed_jackpot: str = ""
    news_ms: int = 0
    hand_of: int | None = None

    @property
    def box(self) -> str:
        """The id of the meter or fixed jackpot whose win it is, as displays show it."""
        return self.fixed_jackpot or self.meter

    @property
    def good(self) -> bool:
        return self.event in {"validated", "paid"}


class VerifiedWin(_Row, frozen=True):
    """A win that a floorperson has validated. `amount` is in cents. `at` is the time of the win."""

    meter: str
    table: str
    hand_name: str
    amount: int
    percent: WrittenPercent | None
    at: str


class WinsRow(_Row, frozen=True):
    """The validated wins of a link in the open gaming day, and the last one of its top meter.

    A win that waits does not count, because it can still be rejected.

    Attributes:
        count: the number of these wins; null if one of the meters already had 500 or more when
            the service began to count.
        amount: their sum in cents; null if `count` is null.
        latest: a few of these wins, the latest first.
        last: the last win of the whole top meter, which is the first in rank on displays. It can be
            of an earlier gaming day. If no such win is known, `last` is the last win of a part of
            this meter.
    """

    link: str
    day: str
    count: int | None = 0
    amount: int | None = 0
    latest: tuple[VerifiedWin, ...] = ()
    last: VerifiedWin | None = None


@dataclass(frozen=True, slots=True)
class _Held:
    """The row of a win. The win is news until `news_until`, by the clock of `DisplayState`."""

    row: JackpotRow
    news_until: float


_Kept = TypeVar("_Kept")

DisplayRow = MeterRow | FixedJackpotsRow | LinkRow | JackpotRow | WinsRow


class DisplayState:
    """The current data for all displays, and its followers. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._meters: dict[tuple[str, str], MeterRow] = {}
        self._links: dict[str, LinkRow] = {}
        self._heard: dict[str, float] = {}
        self._put_at: dict[tuple[str, str], float] = {}
        self._hits: dict[str, dict[str, _Held]] = {}
        self._decided: dict[str, dict[str, None]] = {}
        self._watches: weakref.WeakSet[DisplayUpdates] = weakref.WeakSet()
        self._numbers = itertools.count(1)
        self._wins: dict[str, WinsRow] = {}
        self._closed = False
        self._terms: dict[str, Link] = {}
        self._fixed: dict[str, FixedJackpotsRow] = {}

    def put_terms(self, link: Link) -> None:
        self._terms[link.id] = link
        jackpots = tuple(map(FixedJackpotRow.of, link.fixed_jackpots))
        row = FixedJackpotsRow(link=link.id, jackpots=jackpots)
        if link.fixed_jackpot and row != self._fixed.get(link.id):
            self._fixed[link.id] = row
            self._tell(row)

    def in_force(self, approved: Link) -> Link:
        """Return a link with its present terms. If none are known, return the approved link."""
        return self._terms.get(approved.id, approved)

    def put_meter(self, row: MeterRow) -> bool:
        """Show a meter's value unless a later one is shown. Return True if it is shown now.

        A value with a lower version is never shown. A value with the same version is shown only if
        its state differs, for example because a link lost Redis. Such a value must also not be
        older than a value that was shown in the last `LATE_S` seconds.
        """
        key = (row.link, row.meter)
        shown = self._meters.get(key)
        now = self._clock()
        if shown is not None and not _supersedes(row, shown, now - self._put_at[key]):
            return False
        self._meters[key] = row
        self._put_at[key] = now
        self._tell(row)
        return True

    def put_controller(self, link: str, beat: ControllerBeat) -> None:
        """Show the state of a link's service.

        If the next call does not follow within `FRESH_S` seconds, displays show a failure.
        """
        row = LinkRow(
            link=link,
            state=beat.state,
            reason=without_addresses(beat.reason),
            beat=beat.beat,
            at=beat.at,
        )
        self._links[link] = row
        self._heard[link] = self._clock()
        self._tell(row)

    def put_wins(self, row: WinsRow) -> None:
        if row != self._wins.get(row.link):
            self._wins[row.link] = row
            self._tell(row)

    def put_jackpot(
        self, link: str, jackpot: Jackpot, hand: WinningHand = WinningHand(), *, news: bool = True
    ) -> None:
        """Show a win until it is decided. Show a validated win a minute longer (duty D8).

        A decided win stays decided until it is reopened, even if the decision arrives first. A
        repeated decision is not news. A win that already waited when the service started is not
        news.
        """
        hits = self._hits.setdefault(link, {})
        decided = self._decided.setdefault(link, {})
        was = hits.get(jackpot.claim)
        if jackpot.event == "hit" and (jackpot.claim in decided or was is not None):
            return
        fields = msgspec.structs.asdict(jackpot)
        del fields["hand_table"]  # the claim names the round of the hand
        row = JackpotRow(
            link=link,
            hand_name="" if jackpot.hand == MUST_HIT_BY else hand_words(jackpot.hand),
            cards=hand.cards,
            percent=hand.percent,
            fixed_jackpot=hand.fixed_jackpot,
            **fields,
        )
        news_until = now = self._clock()
        if jackpot.event == "hit" and news:
            news_until += HIT_NEWS_S
        elif row.good and was is not None:
            # The validation or payment of a win is news only if displays have shown the win.
            news_until = was.news_until if was.row.good else now + VALIDATED_NEWS_S
        held = _Held(row, news_until)
        hits.pop(jackpot.claim, None)
        if jackpot.event == "hit" or news_until > now:
            _keep(hits, jackpot.claim, held)
        if jackpot.event != "hit":
            _keep(decided, jackpot.claim, None)
        self._tell(self._with_news_ms(held))

    def put_reopened(self, link: str, jackpot: Jackpot, hand: WinningHand) -> None:
        """Show a win that waits again after its rejection was reopened. The win is not news."""
        self._decided.get(link, {}).pop(jackpot.claim, None)
        self.put_jackpot(link, jackpot, hand, news=False)

    def _with_news_ms(self, held: _Held) -> JackpotRow:
        left_s = max(0.0, held.news_until - self._clock())
        return msgspec.structs.replace(held.row, news_ms=round(left_s * 1000))

    def rows(self, link: str | None = None) -> list[MeterRow]:
        return [row for row in self._meters.values() if link in {None, row.link}]

    def fixed_jackpots(self, link: str | None = None) -> list[FixedJackpotsRow]:
        return [row for row in self._fixed.values() if link in {None, row.link}]

    def links(self, link: str | None = None) -> list[LinkRow]:
        """Return the last heartbeats that are fresh."""
        now = self._clock()
        return [
            msgspec.structs.replace(row, age_ms=round((now - self._heard[row.link]) * 1000))
            for row in self._links.values()
            if link in {None, row.link} and now - self._heard[row.link] <= FRESH_S
        ]

    def wins(self, link: str | None = None) -> list[WinsRow]:
        return [row for row in self._wins.values() if link in {None, row.link}]

    def pending_jackpots(self, link: str | None = None) -> list[JackpotRow]:
        return [row for row in self._pending_of(link) if row.event == "hit"]

    def validated(self, link: str | None = None) -> list[JackpotRow]:
        return [row for row in self._pending_of(link) if row.good and row.news_ms]

    def _pending_of(self, link: str | None) -> Iterator[JackpotRow]:
        for of, rows in self._hits.items():
            if link in {None, of}:
                yield from map(self._with_news_ms, rows.values())

    def follow(self, link: str | None = None, by: Watcher | None = None) -> "DisplayUpdates":
        """Return a follower of one or all links: it receives the current data, then the changes.

        Displays and staff have separate limits, so even many displays cannot keep out a
        floorperson. If all places are taken, the address or person with the most followers loses
        its newest follower to an address or person with fewer. So a few addresses cannot keep out a
        display.

        Raises:
            TooManyWatchersError: `by` has too many followers, or no place can be made free.
        """
        by = by or Watcher()
        alike = Counter(watch.by for watch in self._watches if watch.by.staff == by.staff)
        if alike[by] >= WATCHERS_OF_ONE_MAX:
            raise TooManyWatchersError(of_one=True)
        if alike.total() >= WATCHERS_MAX:
            self._make_room(by, alike)
        watch = DisplayUpdates(link, self, by, next(self._numbers))
        if self._closed:
            watch.close()
        self._watches.add(watch)
        return watch

    def _make_room(self, by: Watcher, alike: Counter[Watcher]) -> None:
        largest, most = max(alike.items(), key=lambda each: each[1], default=(by, 0))
        if most <= alike[by] + 1:  # the two would take turns in ending each other's followers
            raise TooManyWatchersError(of_one=False)
        newest = max(
            (watch for watch in self._watches if watch.by == largest),
            key=lambda watch: watch.number,
        )
        newest.close()
        self._watches.discard(newest)

    async def leave(self, watch: "DisplayUpdates") -> None:
        """Remove a follower. The web framework awaits this at the end of a response."""
        watch.close()
        self._watches.discard(watch)

    def close(self) -> None:
        """End every follower, and each follower that is made later."""
        self._closed = True
        for watch in list(self._watches):
            watch.close()

    def watchers(self, *, staff: bool) -> int:
        return sum(watch.by.staff == staff for watch in self._watches)

    def _tell(self, row: DisplayRow) -> None:
        for watch in list(self._watches):
            if watch.link in {None, row.link}:
                watch.put(row)


class DisplayUpdates:
    """One follower of the display data: an async iterator of the changes since the last read.

    The iterator ends when the follower is closed, or when the reader has missed too many wins.
    Then the reader must follow again. A reader that stops must call `DisplayState.leave`.
    """

    def __init__(self, link: str | None, displays: DisplayState, by: Watcher, number: int) -> None:
        self.link = link
        self.by = by
        self.number = number
        self._meters = {(row.link, row.meter): row for row in displays.rows(link)}
        self._fixed = {row.link: row for row in displays.fixed_jackpots(link)}
        self._links = {row.link: row for row in displays.links(link)}
        self._hits = {
            row.claim: row for row in (*displays.pending_jackpots(link), *displays.validated(link))
        }
        self._wins = {row.link: row for row in displays.wins(link)}
        self._hits_max = len(self._hits) + HITS_MAX
        self._ready = asyncio.Event()
        self._ready.set()
        self.open = True

    def put(self, row: DisplayRow) -> None:
        match row:
            case MeterRow():
                self._meters[row.link, row.meter] = row
            case FixedJackpotsRow():
                self._fixed[row.link] = row
            case LinkRow():
                self._links[row.link] = row
            case JackpotRow():
                self._hits[row.claim] = row
            case WinsRow():
                self._wins[row.link] = row
        if len(self._hits) > self._hits_max:
            self.close()
        self._ready.set()

    def close(self) -> None:
        self.open = False
        self._ready.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[DisplayRow, ...]:
        await self._ready.wait()
        if not self.open:
            raise StopAsyncIteration
        self._ready.clear()
        rows: tuple[DisplayRow, ...] = (
            *self._meters.values(),
            *self._fixed.values(),
            *self._links.values(),
            *self._hits.values(),
            *self._wins.values(),
        )
        for kept in (self._meters, self._fixed, self._links, self._hits, self._wins):
            kept.clear()
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
    values[claim] = value
    while len(values) > HITS_MAX:
        del values[next(iter(values))]
