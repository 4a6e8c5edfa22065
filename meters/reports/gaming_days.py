"""The gaming days of a link, from its ledger: figures, wins, acts of people, and wrong figures."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import reduce
from typing import Final, Self, TypeVar

from meters.acts.link_types import ActRow
from meters.ledger.accounts import meter_account, overflow_account, reserve_account
from meters.ledger.entry_messages import Outage
from meters.reports.flows import AccountFlows, Flow
from meters.reports.win_book import Win

_Place = TypeVar("_Place", bound=Hashable)
_Figures = TypeVar("_Figures", bound="Sums")

_NOTHING: Final = AccountFlows(0, 0, {})


class Sums:
    """Figures of one table that can be added up."""

    __slots__: tuple[str, ...] = ()

    def add(self, other: Self) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class TableFigures(Sums):
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
    reopened: int = 0
    reopened_cents: int = 0


@dataclass(slots=True)
class TableRounds(Sums):
    """The counts of finished rounds with a progressive wager at one table.

    `rounds` counts rounds with a result. `reentered` counts hands that the dealer entered again
    with other cards, `declared` those declared to win nothing, and `corrected` wagers that were
    added or taken back after lock-out.
    """

    rounds: int = 0
    voids: int = 0
    voids_after_cards: int = 0
    reentered: int = 0
    declared: int = 0
    corrected: int = 0


@dataclass(frozen=True, slots=True)
class Variance:
    """A difference between the meters at the close of a gaming day and the ledger (duty D19).

    `of` is a ledger account, in micros, or an accounting meter: in cents or micros if its name says
    so, otherwise a count.
    """

    of: str
    read: int
    ledger: int


@dataclass(frozen=True, slots=True)
class OutageNoted:
    """An outage that ended on the reported day, with the number of its ledger entry."""

    entry: int
    outage: Outage


@dataclass(frozen=True, slots=True)
class WaitingWins:
    """The number of wins that wait for a decision or a payment, and their amount."""

    wins: int = 0
    cents: int = 0

    def and_one(self, cents: int) -> "WaitingWins":
        return WaitingWins(self.wins + 1, self.cents + cents)


@dataclass(frozen=True, slots=True)
class UnpaidEnvy:
    """The Envy Bonuses of a meter that are owed.

    `pending`: the win that causes them is not decided. `validated`: it is, and they can be paid.
    """

    pending: WaitingWins = WaitingWins()
    validated: WaitingWins = WaitingWins()


@dataclass(frozen=True, kw_only=True)
class LinkDay:
    """A gaming day of one link, or several consecutive gaming days joined.

    Attributes:
        closed_at: the time when the last day was closed, RFC 3339 in UTC; empty if that day is
            open.
        quiet: true if the day has no ledger entries, not even a reading of the meters at its close.
        last_entry: the number of the last ledger entry; without entries, it is less than
            `first_entry`.
        chain: the digest of the last entry.
        seal: the digest over all entries up to the last entry.
        pots: the balances and flows of each pot (an account in a report).
        risen: the rise of each accounting meter.
        wins: the wins of the day; `decided` are the earlier wins that were decided on it. Both are
            in their state at the close of the day.
        acts: the ledger entries of what people did, except decisions on wins.
        entered: voids after cards were entered, results in which a hand was entered again with
            other cards, and wagers that were added or taken back.
        outages: the outages that ended on the day.
        waiting: for each meter, the wins that wait for a person at the close of the day.
        envy: for each meter, the Envy Bonuses that are owed at the close of the day.
        variances: the differences between the ledger and the meters that were read at the close.
        faults: a text for each figure that does not agree with another figure.
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
        """True if the gaming day is not closed, so it can get more ledger entries."""
        return not self.closed_at and not self.quiet

    @property
    def entries(self) -> int:
        return self.last_entry - self.first_entry + 1

    def pot(self, name: str) -> AccountFlows:
        return self.pots.get(name, _NOTHING)

    def meter_pots(self, meter: str) -> tuple[AccountFlows, AccountFlows, AccountFlows]:
        """Return the pots of the meter, of its reserve, and of its overflow."""
        meter_pot, reserve, overflow = (
            self.pot(name(meter)) for name in (meter_account, reserve_account, overflow_account)
        )
        return meter_pot, reserve, overflow

    def rose(self, tally: str, meter: str) -> int:
        """Return by how much the accounting meter `tally` of a meter rose on the day."""
        return self.risen.get(f"{tally}:{meter}", 0)

    def percentages_cents(self, meter: str) -> int:
        """Return the sum, in cents, of the wins of the day that were percentages of a meter."""
        return -self.meter_pots(meter)[0].flows.get(Flow.PERCENTAGES, 0) // 10_000


def joined(days: Sequence[LinkDay]) -> LinkDay:
    """Join consecutive gaming days of one link.

    Raises:
        ValueError: no days were given.
    """
    if not days:
        raise ValueError("there are no days to join")
    names = sorted({name for day in days for name in day.pots})
    risen: Counter[str] = Counter()
    for day in days:
        risen.update(day.risen)
    return replace(
        days[-1],
        first_day=days[0].first_day,
        first_entry=days[0].first_entry,
        pots={name: reduce(AccountFlows.then, (day.pot(name) for day in days)) for name in names},
        risen=risen,
        tables=_added_up((day.tables for day in days), TableFigures),
        rounds=_added_up((day.rounds for day in days), TableRounds),
        wins=tuple(win for day in days for win in day.wins),
        decided=tuple(win for day in days for win in day.decided),
        acts=tuple(act for day in days for act in day.acts),
        entered=tuple(act for day in days for act in day.entered),
        outages=tuple(one for day in days for one in day.outages),
        variances=tuple(one for day in days for one in day.variances),
        faults=tuple(one for day in days for one in day.faults),
    )


def _added_up(
    days: Iterable[Mapping[_Place, _Figures]], nothing: Callable[[], _Figures]
) -> dict[_Place, _Figures]:
    found: dict[_Place, _Figures] = {}
    for day in days:
        for place, figures in day.items():
            found.setdefault(place, nothing()).add(figures)
    return found
