"""The gaming days of a link as in its ledger: figures, wins, acts of people, faults in figures."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import reduce
from typing import Final, Self, TypeVar

from bonus.wagers import MICROS_PER_CENT
from meters.acts.act_rows import ActRow
from meters.ledger.accounts import (
    ENVY,
    HOUSE,
    PAID,
    claim_account,
    meter_account,
    overflow_account,
    reserve_account,
    table_account,
)
from meters.ledger.entry_messages import Outage
from meters.reports.flows import AccountFlows, Flow
from meters.reports.win_book import Win

_Place = TypeVar("_Place", bound=Hashable)
_Figures = TypeVar("_Figures", bound="Sums")

_NOTHING: Final = AccountFlows(0, 0, {})


class Sums:
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
    """The counts of finished rounds with a progressive wager at one table, in column order.

    `rounds` counts rounds with a result. `wagers_corrected` counts wagers that were added or taken
    back after lock-out.
    """

    rounds: int = 0
    rounds_voided: int = 0
    rounds_voided_after_cards: int = 0
    hands_entered_again: int = 0
    hands_declared_no_win: int = 0
    wagers_corrected: int = 0


@dataclass(frozen=True, slots=True)
class Variance:
    """A difference between the meters at the close of a gaming day and the ledger (duty D19).

    `of` is a ledger account, or an accounting meter. An account is in micros. An accounting meter
    is in cents or micros if its name says so; otherwise it is a count.
    """

    of: str
    read: int
    ledger: int


def places_of(of: str) -> int | None:
    """Return how many decimals of a dollar a variance has; None if it is a count."""
    kind = of.partition(":")[0]
    if of in {HOUSE, PAID} or f"{kind}:" in _ACCOUNTS or kind.endswith("_micros"):
        return 6
    return 2 if kind.endswith("_cents") else None


_ACCOUNTS: Final = frozenset(
    {"meter:", "reserve:", "overflow:", claim_account(""), ENVY, table_account("")}
)


@dataclass(frozen=True, slots=True)
class OutageNoted:
    """`entry` is the number of the ledger entry. The outage ended on the reported day."""

    entry: int
    outage: Outage


@dataclass(frozen=True, slots=True)
class WaitingWins:
    wins: int = 0
    cents: int = 0


@dataclass(frozen=True, kw_only=True)
class LinkDay:
    """A gaming day of one link, or several consecutive gaming days joined.

    Attributes:
        closed_at: RFC 3339 in UTC; empty if the last day is open.
        quiet: true if the day ended without a ledger entry, even without a meter reading.
        last_entry: if the day has no entries, it is less than `first_entry`.
        chain: the digest of the last entry.
        seal: the digest over all entries up to the last entry.
        pots: the balances and flows of each pot. A pot is one account, or several in one.
        risen: the rise of each accounting meter.
        wins: the wins of the day, each in its state at the close of the day.
        decided: earlier wins that were decided on the day, each in its state at the close.
        acts: the ledger entries of what people did, except validations, rejections and payments of
            wins, and decisions on Envy Bonuses.
        entered: voids after cards or results were entered, settlements with a hand or result that
            was entered differently before, and wagers that were added or taken back.
        outages: the outages that ended on the day.
        waiting: for each meter, the wins that wait for a person at the close of the day.
        envy_pending: for each meter, the Envy Bonuses that wait for a decision on their win at the
            close of the day.
        envy_to_pay: for each meter, the Envy Bonuses that are due but not paid at the close of the
            day.
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
    envy_pending: Mapping[str, WaitingWins] = field(default_factory=dict)
    envy_to_pay: Mapping[str, WaitingWins] = field(default_factory=dict)
    variances: tuple[Variance, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        return not self.closed_at and not self.quiet

    @property
    def entries(self) -> int:
        return self.last_entry - self.first_entry + 1

    def pot(self, name: str) -> AccountFlows:
        return self.pots.get(name, _NOTHING)

    def meter_pots(self, meter: str) -> tuple[AccountFlows, AccountFlows, AccountFlows]:
        meter_pot, reserve, overflow = (
            self.pot(name(meter)) for name in (meter_account, reserve_account, overflow_account)
        )
        return meter_pot, reserve, overflow

    def rose(self, tally: str, meter: str) -> int:
        """Return by how much the accounting meter `tally` rose on the day, for one meter."""
        return self.risen.get(f"{tally}:{meter}", 0)

    def counts(self, meter: str) -> dict[str, tuple[int | None, int]]:
        """Return counts (None: not counted) and cents of a meter by the name of the figure.

        The last three figures are what waits or is owed at the close; all others are rises.
        """
        found: dict[str, tuple[int | None, int]] = {
            name: (self.rose(tally, meter) if tally else None, self.rose(cents, meter))
            for name, tally, cents in _COUNTED
        }
        percentages = self.pot(meter_account(meter)).flows.get(Flow.PERCENTAGES, 0)
        found["hits"] = self.rose("hits", meter), -percentages // MICROS_PER_CENT
        for name, waiting in (
            ("waiting_at_close", self.waiting),
            ("envy_pending_at_close", self.envy_pending),
            ("envy_to_pay_at_close", self.envy_to_pay),
        ):
            one = waiting.get(meter, WaitingWins())
            found[name] = one.wins, one.cents
        return found


_COUNTED: Final = (
    ("wagers_accepted", "wagers", "wagered_cents"),
    ("wagers_voided", "voided_wagers", "voided_cents"),
    ("wins", "wins", "won_cents"),
    ("rejected", "rejected", "rejected_cents"),
    ("reopened", "reopened", "reopened_cents"),
    ("envy_owed", "", "envy_owed_cents"),
    ("envy_taken_back", "", "envy_taken_back_cents"),
    ("envy_reopened", "", "envy_reopened_cents"),
    ("paid_at_table", "", "table_paid_cents"),
    ("paid_by_hand", "", "hand_paid_cents"),
)
"""The name of a figure, and the accounting meters that have its count and its cents."""


def joined(days: Sequence[LinkDay]) -> LinkDay:
    """Join consecutive gaming days of one link, or raise `ValueError` if there are none."""
    if not days:
        raise ValueError("there are no days to join")
    names = sorted({name for day in days for name in day.pots})
    return replace(
        days[-1],
        first_day=days[0].first_day,
        first_entry=days[0].first_entry,
        pots={name: reduce(AccountFlows.then, (day.pot(name) for day in days)) for name in names},
        risen=sum((Counter(day.risen) for day in days), Counter[str]()),
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
