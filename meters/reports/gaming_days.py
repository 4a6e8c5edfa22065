"""A link's gaming days as its ledger tells them: figures, wins, acts, and whether all ties."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from typing import Final, Self, TypeVar

from meters.books.accounts import meter_account, overflow_account, reserve_account
from meters.books.outage_entries import Outage
from meters.floor_api.types import ActRow
from meters.reports.flows import AccountFlows, Flow

_Place = TypeVar("_Place", bound=Hashable)
_Figures = TypeVar("_Figures", bound="Sums")

_NOTHING: Final = AccountFlows(0, 0, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Win:
    """A win that waits, or waited, for a floorperson (duty D16), as it stood at some moment.

    `order` is the number of its ledger entry (duty D7), 0 where the ledger that there is does not
    tell how it was won. `day` is its gaming day, known once that is closed; moments are RFC 3339 in
    UTC. `percent` is what part of the meter it is, or None for a win at odds. `envy_of` is the
    position whose hand brings an Envy Bonus, None for another win; `claim` is then the one under
    which it is owed, empty where it was only recorded.
    """

    claim: str
    order: int = 0
    at: str = ""
    day: date = date.min
    link: str
    meter: str
    table: str
    asset: str = ""
    round: str = ""
    position: int = 0
    item: str
    hand: str = ""
    cents: int
    percent: int | None = None
    paid_from: str
    state: str = "pending"
    validated_by: str = ""
    validated_at: str = ""
    paid_by: str = ""
    paid_at: str = ""
    rejected_by: str = ""
    rejected_at: str = ""
    reason: str = ""
    slip: str = ""
    envy_back_cents: int = 0
    envy_of: int | None = None

    @property
    def decided(self) -> bool:
        """Whether nothing is to be done about it."""
        return self.state != "pending" and not (self.state == "validated" and self.to_be_paid)

    @property
    def to_be_paid(self) -> bool:
        """Whether somebody confirms its payment: a win at odds is paid when it is validated."""
        return self.paid_from == "hand_pay" or self.envy_of is not None


class Sums:
    """Figures of one table that can be added up, each by itself."""

    __slots__: tuple[str, ...] = ()

    def add(self, other: Self) -> None:
        """Add those of another time, or another table."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class TableFigures(Sums):
    """What one table did for one meter: wagers by number and cents, contributions in micros."""

    wagers: int = 0
    wagered_cents: int = 0
    contributed_micros: int = 0
    voided_wagers: int = 0
    voided_cents: int = 0
    voided_micros: int = 0
    wins: int = 0
    won_cents: int = 0
    rejected: int = 0
    rejected_cents: int = 0


@dataclass(slots=True)
class TableRounds(Sums):
    """Rounds with a progressive wager that one table finished, and those that were void.

    `voids_after_cards` are those void after cards were entered, `reentered` the hands that were
    taken back and entered differently.
    """

    rounds: int = 0
    voids: int = 0
    voids_after_cards: int = 0
    reentered: int = 0


@dataclass(frozen=True, slots=True)
class Variance:
    """Where the meters as they were read at the close differ from the ledger (duty D19).

    `of` is the account, in micros, or the accounting meter, in its own unit.
    """

    of: str
    read: int
    ledger: int


@dataclass(frozen=True, slots=True)
class OutageNoted:
    """An outage that was over in this day, by the entry that tells of it."""

    entry: int
    outage: Outage


@dataclass(frozen=True, slots=True)
class WaitingWins:
    """Wins that wait for somebody."""

    wins: int
    cents: int


@dataclass(frozen=True, slots=True)
class UnpaidEnvy:
    """Envy Bonuses that are owed: those whose win is not decided, and those that may be paid."""

    pending: WaitingWins = WaitingWins(0, 0)
    validated: WaitingWins = WaitingWins(0, 0)


@dataclass(frozen=True, kw_only=True)
class LinkDay:
    """A gaming day of one link, or several that follow each other.

    Attributes:
        link: whose.
        first_day: the first gaming day, and `last_day` the last.
        closed_at: when the last was closed, RFC 3339 in UTC; empty while it is open.
        quiet: nothing happened, so that no reading closed it.
        first_entry: the first ledger entry of it, and `last_entry` the last; where there is none,
            the first is after the last.
        chain: the digest that the last entry carries, `seal` the seal over all up to it.
        pots: what every pot held, what flowed, and what it holds.
        risen: by how much each accounting meter rose.
        tables: what each table did for each meter.
        rounds: the rounds of each table.
        wins: those won in it, as they stood at its close.
        decided: those won earlier, that somebody decided on in it, as they stood at its close.
        acts: what people did, save for decisions on wins.
        entered: voids after cards were entered, and results with hands entered differently before.
        outages: the outages that were noted.
        waiting: by meter, what waited at the close.
        envy: by meter, what was owed for Envy at the close.
        variances: where reading and ledger differ.
        faults: what does not tie, in words.
    """

    link: str
    first_day: date
    last_day: date
    closed_at: str = ""
    quiet: bool = False
    first_entry: int
    last_entry: int
    chain: str
    seal: str
    pots: Mapping[str, AccountFlows]
    risen: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[tuple[str, str], TableFigures] = field(default_factory=dict)
    rounds: Mapping[str, TableRounds] = field(default_factory=dict)
    wins: tuple[Win, ...] = ()
    decided: tuple[Win, ...] = ()
    acts: tuple[ActRow, ...] = ()
    entered: tuple[ActRow, ...] = ()
    outages: tuple[OutageNoted, ...] = ()
    waiting: Mapping[str, WaitingWins] = field(default_factory=dict)
    envy: Mapping[str, UnpaidEnvy] = field(default_factory=dict)
    variances: tuple[Variance, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether more may come."""
        return not self.closed_at and not self.quiet

    @property
    def entries(self) -> int:
        """How many ledger entries it has."""
        return self.last_entry - self.first_entry + 1

    def pot(self, name: str) -> AccountFlows:
        """A pot; one that never was holds nothing."""
        return self.pots.get(name, _NOTHING)

    def meter_pots(self, meter: str) -> tuple[AccountFlows, AccountFlows, AccountFlows]:
        """A meter, its reserve and its overflow."""
        meter_pot, reserve, overflow = (
            self.pot(name(meter)) for name in (meter_account, reserve_account, overflow_account)
        )
        return meter_pot, reserve, overflow

    def rose(self, tally: str, meter: str) -> int:
        """By how much a meter's accounting meter rose."""
        return self.risen.get(f"{tally}:{meter}", 0)

    def percentages_cents(self, meter: str) -> int:
        """What was won as percentages of a meter, in cents."""
        return -self.meter_pots(meter)[0].flows.get(Flow.PERCENTAGES, 0) // 10_000


def joined(days: Sequence[LinkDay]) -> LinkDay:
    """Days of one link that follow each other, as one span.

    Raises:
        ValueError: there are none.
    """
    if not days:
        raise ValueError("there are no days to join")
    first, last = days[0], days[-1]
    return LinkDay(
        link=first.link,
        first_day=first.first_day,
        last_day=last.last_day,
        closed_at=last.closed_at,
        quiet=last.quiet,
        first_entry=first.first_entry,
        last_entry=last.last_entry,
        chain=last.chain,
        seal=last.seal,
        pots=_pots_over(days),
        risen=_summed(day.risen for day in days),
        tables=_added_up((day.tables for day in days), TableFigures),
        rounds=_added_up((day.rounds for day in days), TableRounds),
        wins=tuple(win for day in days for win in day.wins),
        decided=tuple(win for day in days for win in day.decided),
        acts=tuple(act for day in days for act in day.acts),
        entered=tuple(act for day in days for act in day.entered),
        outages=tuple(one for day in days for one in day.outages),
        waiting=last.waiting,
        envy=last.envy,
        variances=tuple(one for day in days for one in day.variances),
        faults=tuple(one for day in days for one in day.faults),
    )


def _pots_over(days: Sequence[LinkDay]) -> dict[str, AccountFlows]:
    names = sorted({name for day in days for name in day.pots})
    return {name: reduce(AccountFlows.then, (day.pot(name) for day in days)) for name in names}


def _summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return total


def _added_up(
    days: Iterable[Mapping[_Place, _Figures]], nothing: Callable[[], _Figures]
) -> dict[_Place, _Figures]:
    found: dict[_Place, _Figures] = {}
    for day in days:
        for place, figures in day.items():
            found.setdefault(place, nothing()).add(figures)
    return found
