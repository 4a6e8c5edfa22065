"""Collection of a link's gaming days while an audit replays its ledger (duty D19).

The report and the audit use the same replay, so their figures cannot differ.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from meters.floor.floor_file import Link
from meters.ledger.entry_messages import READING, CloseReading
from meters.ledger.expected_transfers import HeldEnvy, HeldWin
from meters.ledger.ledger_replay import Replay
from meters.reports.day_totals import DayTotals, LinkTotals
from meters.reports.flows import AccountFlows, pots_of
from meters.reports.gaming_days import LinkDay, UnpaidEnvy, Variance, WaitingWins, Win
from meters.reports.reconciliation import faults_of
from meters.wire.messages import UNREADABLE

_DAY: Final = timedelta(days=1)


class DayCollector:
    """A collector of the gaming days of one link, while an audit replays the link's ledger.

    A reading of the meters is a ledger entry that closes a gaming day and names it. A day's entries
    begin after the reading that closed the day before, and end with its own. If a day between two
    closed days has no reading, no service ran on it, and nothing happened.

    `days` are those that `wanted` selects, and `first_day` is the first gaming day of the ledger,
    once it is known.
    """

    def __init__(self, link: Link, wanted: Callable[[date], bool]) -> None:
        self._link = link
        self._wanted = wanted
        self.began(Replay())

    def began(self, replay: Replay) -> None:
        """Begin with the balances and claims at the start of the replay.

        It starts at the first entry or at the close of a gaming day.
        """
        self.days: dict[date, LinkDay] = {}
        self.first_day: date | None = None
        assets = {table.id: table.asset for table in self._link.table}
        self._memory = LinkTotals(self._link.id, assets, replay.books)
        self._closed: LinkDay | None = None
        self._replay = replay
        self._gathered = DayTotals(self._memory, replay)

    def took(self, number: int, fields: Mapping[str, bytes], replay: Replay) -> None:
        """Add a ledger entry that was replayed. The replay itself reports a wrong entry."""
        try:
            self._gathered.add_entry(number, fields, replay.books)
            if fields["kind"] == b"reading":
                self._close(READING.decode(fields["event"]), fields["at"].decode(), replay)
        except (KeyError, ValueError, *UNREADABLE) as error:
            self._gathered.unreported.append(f"the figures do not include entry {number}: {error}")

    def finish(self, open_day: date) -> date:
        """Add the open gaming day, when the whole ledger has been replayed, and return it.

        If a replayed entry closes `open_day`, which was open before the replay, it is the day after
        the last closed one.
        """
        if self._closed is not None:
            open_day = max(open_day, self._closed.last_day + _DAY)
        self._keep(self._day_of(open_day, self._replay))
        return open_day

    @property
    def wins(self) -> Sequence[Win]:
        """The wins of the needed days, first win first, in their state at the ledger's end."""
        return tuple(self._memory.wins.latest())

    def _close(self, reading: CloseReading, at: str, replay: Replay) -> None:
        link_day = self._day_of(reading.day, replay)
        day = replace(link_day, closed_at=at, variances=tuple(_variances(reading, replay)))
        self._keep(day)
        self._closed = day
        self._gathered = DayTotals(self._memory, replay)

    def _day_of(self, day: date, replay: Replay) -> LinkDay:
        gathered, books = self._gathered, replay.books
        won, decided = self._memory.wins.close(day, keep=self._wanted(day))
        link_day = LinkDay(
            link=self._link.id,
            first_day=day,
            last_day=day,
            first_entry=gathered.after_entry + 1,
            last_entry=replay.entries,
            chain=replay.chain,
            seal=replay.seal,
            pots=gathered.flows.pots(gathered.opening, pots_of(books.balances)),
            risen=books.tallies - gathered.risen_before,
            tables=gathered.tables,
            rounds=gathered.rounds,
            wins=won,
            decided=decided,
            acts=tuple(gathered.acts),
            entered=tuple(gathered.entered),
            outages=tuple(gathered.outages),
            waiting=_waiting(books.claims.values()),
            envy=_envy_owed(books.envy.values()),
        )
        return replace(link_day, faults=(*gathered.unreported, *faults_of(link_day)))

    def _keep(self, day: LinkDay) -> None:
        """Add a gaming day, and days without entries before it, if the report needs them."""
        if self._closed is None:
            self.first_day = day.first_day
        else:
            for quiet in _quiet_days(self._closed, day.first_day):
                self._put(quiet)
        self._put(day)

    def _put(self, day: LinkDay) -> None:
        if self._wanted(day.first_day):
            self.days[day.first_day] = day


def _quiet_days(before: LinkDay, until: date) -> Iterator[LinkDay]:
    """Yield the days without ledger entries between the closed day `before` and the day `until`.

    On them, the balances remain those at the close of `before`.
    """
    day = before.last_day + _DAY
    while day < until:
        yield LinkDay(
            link=before.link,
            first_day=day,
            last_day=day,
            quiet=True,
            first_entry=before.last_entry + 1,
            last_entry=before.last_entry,
            chain=before.chain,
            seal=before.seal,
            pots={
                name: AccountFlows(pot.closing_micros, pot.closing_micros, {})
                for name, pot in before.pots.items()
            },
            waiting=before.waiting,
            envy=before.envy,
        )
        day += _DAY


def _waiting(claims: Iterable[HeldWin]) -> dict[str, WaitingWins]:
    wins: Counter[str] = Counter()
    cents: Counter[str] = Counter()
    for claim in claims:
        wins[claim.meter] += 1
        cents[claim.meter] += claim.cents
    return {meter: WaitingWins(wins[meter], cents[meter]) for meter in wins}


def _envy_owed(held: Iterable[HeldEnvy]) -> dict[str, UnpaidEnvy]:
    owed: dict[str, UnpaidEnvy] = {}
    for envy in held:
        for one in envy.bonuses:
            of_meter = owed.setdefault(one.meter, UnpaidEnvy())
            pending, validated = of_meter.pending, of_meter.validated
            if envy.state == "pending":
                pending = WaitingWins(pending.wins + 1, pending.cents + one.cents)
            else:
                validated = WaitingWins(validated.wins + 1, validated.cents + one.cents)
            owed[one.meter] = UnpaidEnvy(pending, validated)
    return owed


def _variances(reading: CloseReading, replay: Replay) -> Iterator[Variance]:
    """Yield each difference between the meters at the close and the ledger (duty D19)."""
    books = replay.books
    for read, own in ((reading.accounts, books.balances), (reading.tallies, books.tallies)):
        for name in sorted(read.keys() | own.keys()):
            if read.get(name, 0) != own.get(name, 0):
                yield Variance(name, read.get(name, 0), own.get(name, 0))
