"""What the floor page reads about the past: meters in pictures, the floor's activity, rounds."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from bonus.display import item_words
from bonus.rounds import WrittenPercent, written_percent
from bonus.wagers import Percent, is_bad_beat, is_community_share, is_on_dealer, read_percent
from meters.acts.act_refusals import ActError, store_failure_as_inoperable
from meters.acts.ledger_days import DaySpan, LedgerDays
from meters.acts.meter_history import (
    HITS_MAX,
    BreakEven,
    BreakEvenRow,
    FloorDay,
    MeterHistory,
    MeterSpark,
    closing_of,
    floor_day,
    hourly_picture,
    last_hour,
    month_before,
    month_picture,
    spark,
)
from meters.acts.round_search import READ_WITHIN_S, RoundQuery, RoundSearch, SearchedLink
from meters.acts.round_view import RoundPage, RoundView
from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import ArchiveError
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link, Meter
from meters.ledger.claim_records import ClaimRecord, record_of
from meters.process.clock import now
from meters.process.owned_tasks import OwnedTasks
from meters.store.link_store import LinkStore

_WITHIN_S: Final = 1.5
"""The longest time for which a picture waits for days that are still being read."""

_HOURS: Final = timedelta(hours=24)
_MINUTES: Final = 60
_LOOKED_AT: Final = 8
"""How many of a meter's last wins are read to find the last win that was not rejected."""


@contextmanager
def _failures_as_refusals() -> Iterator[None]:
    with store_failure_as_inoperable():
        try:
            yield
        except (ArchiveError, ValueError, OverflowError) as error:
            raise ActError("archive_failed", str(error)) from None


def _not_begun(day: date) -> ActError:
    return ActError("unknown_day", f"the gaming day {day} has not begun")


class FloorHistory:
    """The histories of meters, the rounds, and the figures of a gaming day, on all links.

    If an asynchronous method cannot answer, it raises an `ActError`.
    `break_evens` returns the break-even amounts of a link, or none if they take longer than the
    given seconds.
    """

    def __init__(
        self,
        floor: Floor,
        stores: Mapping[str, LinkStore],
        break_evens: Callable[[Link, float], Awaitable[Sequence[BreakEven]]],
        tasks: OwnedTasks,
    ) -> None:
        self._floor = floor
        self._stores = stores
        self._gaming_days = GamingDays.of_facility(floor.facility)
        directory = Path(floor.archive.directory)
        self._days = {
            link: LedgerDays(store, link, ArchiveFiles(directory, link), tasks)
            for link, store in stores.items()
        }
        searched = {link: SearchedLink(store, self._days[link]) for link, store in stores.items()}
        self._rounds = RoundSearch(floor, searched, self._in_force)
        self._break_evens = break_evens

    async def meter(
        self, link_id: str, meter_id: str, day: date | None, *, whole: bool = False
    ) -> MeterHistory:
        """Return the history of a meter: of 24 hours or a gaming day, and of 30 gaming days.

        A `whole` history has all wins, and every day has been read.

        Raises:
            ActError: ``unknown_link``, ``unknown_meter``, ``unknown_day``, ``link_inoperable``,
                ``archive_failed``; ``busy`` if a `whole` history needs days that are still being
                read.
        """
        link, meter = self._meter(link_id, meter_id)
        with _failures_as_refusals():
            last, open_day = await self._day(link_id, day), await self._day(link_id, None)
            within_s = READ_WITHIN_S if whole else _WITHIN_S
            span = await self._span(link_id, month_before(last), last, within_s)
            evens = await self._break_evens(link, _WITHIN_S)
        if whole and span.unread:
            raise ActError("busy", "the service is still reading these days: try again in a moment")
        at, hits_max = now(), None if whole else HITS_MAX
        begins, ends = self._gaming_days.bounds(last) if day else (at - _HOURS, at)
        ends_s, now_s = int(min(ends, at).timestamp()), int(at.timestamp())
        minutes = self._days[link_id].minutes
        amounts = [] if day else self._days[link_id].amounts(meter_id)
        return MeterHistory(
            link=link_id,
            link_name=link.name,
            meter=meter_id,
            name=meter.title,
            wager=meter.wager,
            primary_bps=meter.terms.primary_bps,
            seed=meter.terms.seed_cents,
            reseed=meter.terms.reseed_cents,
            day=day,
            closing=closing_of(span, meter_id, last) if day and last < open_day else None,
            hour=None if day else last_hour(minutes, meter_id, now_s) // 10_000,
            last_day=hourly_picture(
                span, meter_id, int(begins.timestamp()), ends_s, amounts, hits_max=hits_max
            ),
            month=month_picture(
                span, meter_id, last, self._gaming_days, now_s, minutes=amounts, hits_max=hits_max
            ),
            break_even=tuple(
                BreakEvenRow(
                    game=one.game,
                    wager=one.wager,
                    wager_name=item_words(one.wager, link.titles),
                    amount=one.cents,
                    notes=one.notes,
                )
                for one in evens
                if one.meter == meter_id
            ),
            threshold=meter.terms.threshold_cents or None,
            primary_above_bps=meter.terms.primary_above_bps,
        )

    async def sparks(self) -> Sequence[MeterSpark]:
        """Return the last 24 hours of every meter as a few points.

        Raises:
            ActError: ``link_inoperable``, ``archive_failed``.
        """
        found: list[MeterSpark] = []
        for link_id, store in self._stores.items():
            with _failures_as_refusals():
                today = await self._day(link_id, None)
                span = await self._span(link_id, today - timedelta(days=1), today)
                found += [
                    await self._spark(store, meter.meter_id, span) for meter in store.link.meter
                ]
        return found

    async def _spark(self, store: LinkStore, meter: str, span: DaySpan) -> MeterSpark:
        ends_s = int(now().timestamp())
        begins_s = ends_s - int(_HOURS.total_seconds())
        amounts = self._days[store.link.id].amounts(meter)
        line = spark(span, meter, begins_s, ends_s, amounts)
        page = await store.wins(meter, None, _LOOKED_AT, meter_awards=True)
        wins = await store.claims([claim for _, claim in page]) if page else []
        records = [record_of(win) for win in wins if win["state"] != "rejected"]
        last = next((win for win in wins if win["state"] != "rejected"), {})
        minutes = self._days[store.link.id].minutes
        return MeterSpark(
            link=store.link.id,
            meter=meter,
            begins_s=begins_s,
            ends_s=ends_s,
            times_s=tuple(at_s for at_s, _ in line),
            amounts=tuple(cents for _, cents in line),
            hour=last_hour(minutes, meter, ends_s) // 10_000,
            last_hit_at=last.get("at"),
            last_hit_percent=percent_of_hand(records),
            unread=span.unread,
        )

    async def floor_day(self, day: date | None) -> FloorDay:
        """Return the activity of the floor: of the open gaming day, or of a past one.

        Raises:
            ActError: ``unknown_day``, ``link_inoperable``, ``archive_failed``.
        """
        with _failures_as_refusals():
            opened = {link: await self._day(link, None) for link in self._days}
            last = day or max(opened.values())
            if last > max(opened.values()):
                raise _not_begun(last)
            # If a link could not close an earlier gaming day, its present figures belong to that
            # day.
            owns = {link: min(last, open_day) for link, open_day in opened.items()}
            spans = [await self._span(link, own, own) for link, own in owns.items()]
        return floor_day(spans, last, self._gaming_days, None if day else self._last_minutes())

    def _last_minutes(self) -> tuple[int, int, Sequence[int]]:
        begins_s = int(now().timestamp()) // 60 * 60 - (_MINUTES - 1) * 60
        counts = [0] * _MINUTES
        for days in self._days.values():
            for minute_s, sums in days.minutes.items():
                if 0 <= (at := (minute_s - begins_s) // 60) < _MINUTES:
                    counts[at] += sums[""]
        return begins_s, 60, counts

    async def rounds(self, query: RoundQuery) -> RoundPage:
        """Return rounds; raise what `RoundSearch.page` raises, or ``link_inoperable``."""
        with _failures_as_refusals():
            return await self._rounds.page(query)

    async def round(self, link: str, entry: int) -> RoundView:
        with _failures_as_refusals():
            return await self._rounds.view(link, entry)

    def last_round(self, link: str, table: str) -> tuple[int, str]:
        """Return the first entry and the name of a table's last round; 0 if it is not known."""
        return self._rounds.last_of(link, table)

    async def _span(
        self, link: str, first: date, last: date, within_s: float = _WITHIN_S
    ) -> DaySpan:
        days = self._days[link]
        await days.caught_up(within_s)
        return await days.span(first, last, within_s)

    async def _day(self, link: str, day: date | None) -> date:
        """Return a gaming day: `day`, or else the open day, or else the day of the present time.

        Raises:
            ActError: ``unknown_day`` if the day has not begun.
        """
        open_day = await self._stores[link].open_day() or self._gaming_days.of(now())
        if day is not None and day > open_day:
            raise _not_begun(day)
        return day or open_day

    def _in_force(self, link: Link) -> Link:
        return self._stores[link.id].link

    def _meter(self, link_id: str, meter_id: str) -> tuple[Link, Meter]:
        if link_id not in self._stores:
            raise ActError("unknown_link", f"there is no link {link_id}")
        link = self._stores[link_id].link
        for meter in link.meter:
            if meter.meter_id == meter_id:
                return link, meter
        raise ActError("unknown_meter", f"link {link_id} has no meter {meter_id}")


def percent_of_hand(wins: Sequence[ClaimRecord]) -> WrittenPercent | None:
    """Return what the hand of the first of these wins of one meter won of the meter, in all.

    A community share counts once, although several players divide it. The parts of a bad beat
    belong together, and not to the wins of its hands.
    """
    if not wins or is_on_dealer(wins[0].item):
        return wins[0].percent if wins else None
    parts: dict[tuple[str, int], Percent] = {}
    if is_bad_beat(wins[0].item):
        of_round = (won for won in wins if won.round == wins[0].round and is_bad_beat(won.item))
        parts = {(won.item, 0): read_percent(won.percent or 0) for won in of_round}
        return written_percent(sum(parts.values()))
    for won in wins:
        if is_bad_beat(won.item) or is_on_dealer(won.item):
            continue
        if won.hand_record == wins[0].hand_record:
            place = won.holder if is_community_share(won.item) else won.position
            parts[won.item, place] = read_percent(won.percent or 0)
    return written_percent(sum(parts.values()))
