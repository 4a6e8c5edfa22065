"""The transfers that a ledger entry must have, calculated from its event and earlier entries.

The audit compares the calculated transfers with the ledger (duty D19). The calculation shares no
code with the Lua scripts, which write the ledger.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from bonus.law.games import chapter_games
from bonus.rounds import Line
from bonus.wagers import MICROS_PER_CENT
from meters.ledger.accounts import HOUSE, Transfer, meter_account, overflow_account
from meters.ledger.approved_configuration import NOTHING_APPROVED, ApprovedFloor
from meters.ledger.hidden_values import HiddenCycle
from meters.ledger.money_terms import TermsText
from meters.wire.messages import HiddenValueDrawn


class Added(msgspec.Struct, frozen=True, omit_defaults=True):
    """The contribution of a round's wagers to one meter.

    `micros` has the amount that was added to each account. `cycle` is the meter's cycle when the
    wagers were accepted. `wager` is empty for the wagers at lock-out; for a wager that a correction
    added, it is the position, a colon and the name of the wager. If what came above the limit went
    on from the meter's overflow to another meter, `passed_to` is this meter, and `passed_cycle` its
    cycle at that time.
    """

    meter: str
    wagers: int
    wagered_cents: int
    cycle: int
    micros: Mapping[str, int]
    wager: str = ""
    passed_to: str = ""
    passed_cycle: int = 0


@dataclass(frozen=True, slots=True)
class HeldWin:
    """A win that a floorperson must decide, or has validated.

    `by` is the person who set `state`. `after_cents` is the meter balance after the win. `wager` is
    the wager that won a must-hit-by meter; empty for every other win. `table` is set only for the
    part of a community share that a player at another table of the link gets: it is this table.
    """

    meter: str
    cents: int
    percent: bool
    hand_pay: bool
    state: str = "pending"
    by: str = ""
    after_cents: int = 0
    wager: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class EnvyBonus:
    """An Envy Bonus that is owed to `position` for the hand of the position `holder`."""

    position: int
    holder: int
    item: str
    hand: str
    meter: str
    cents: int


@dataclass(frozen=True, slots=True)
class HeldEnvy:
    """The Envy Bonuses that are owed under a claim.

    The bonuses are pending until the win of the claim is decided. `by` is the person who set
    `state`. If no win of the hand waits for a floorperson, the state is ``validated`` from the
    beginning, and `by` is empty. `after_cents` is the balance of the first bonus's meter after the
    result.
    """

    state: str
    bonuses: tuple[EnvyBonus, ...]
    by: str = ""
    after_cents: int = 0

    @property
    def cents(self) -> int:
        return sum(one.cents for one in self.bonuses)

    @property
    def cents_by_meter(self) -> Counter[str]:
        cents: Counter[str] = Counter()
        for one in self.bonuses:
            cents[one.meter] += one.cents
        return cents

    @property
    def holder(self) -> int:
        return self.bonuses[0].holder

    def lines_of(self, lines: Iterable[Line]) -> list[Line]:
        own = {(one.position, one.item, one.holder) for one in self.bonuses}
        return [line for line in lines if (line.position, line.item, line.envy_of) in own]


@dataclass(frozen=True, slots=True)
class RejectedWin:
    """A win that was rejected on the open gaming day, and can be reopened.

    `win` is the win before its rejection. `envy` are the Envy Bonuses that were taken back with the
    rejection or after it. `meter_micros` and `overflow_micros` went back to the meter and to its
    overflow, in the meter's cycle `cycle`. `passed_to` and `passed_cycle` are as in `Added`.
    """

    win: HeldWin
    envy: HeldEnvy | None
    meter_micros: int
    overflow_micros: int
    cycle: int
    passed_to: str = ""
    passed_cycle: int = 0


@dataclass(frozen=True, slots=True)
class Requested:
    entry: int
    act: str
    by: str


@dataclass
class ExpectedBooks:
    """The balances, rounds and claims of a link, calculated from the ledger entries so far.

    `balances` are in micros. `cycles` has the cycle of each meter: 1 after the first seed, and one
    more after each reseed. `rounds` are the contributions of each table's open round. `claims` are
    the wins that are not finally decided. `tallies` are the accounting meters: counts and sums that
    only rise (duty D2). `requests` are the open requests of the open gaming day, and `rejected` are
    the wins that were rejected on this day and not reopened. `house_paid` are, by claim, the micros
    that the house paid to reopen a win that waits. `hidden` are the present cycles of the
    must-hit-by meters, and `openings` are the new hidden values whose wager must be in the next
    entry. `approved` is what the last approved floor file says; a checkpoint has the approval
    instead.
    """

    balances: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    terms: dict[str, TermsText] = field(default_factory=dict)
    rounds: dict[str, Sequence[Added]] = field(default_factory=dict)
    claims: dict[str, HeldWin] = field(default_factory=dict)
    tallies: dict[str, int] = field(default_factory=Counter)
    envy: dict[str, HeldEnvy] = field(default_factory=dict)
    requests: dict[str, Requested] = field(default_factory=dict)
    rejected: dict[str, RejectedWin] = field(default_factory=dict)
    house_paid: dict[str, int] = field(default_factory=dict)
    hidden: dict[str, HiddenCycle] = field(default_factory=dict)
    openings: dict[str, list[HiddenValueDrawn]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tallies = Counter(self.tallies)
        self.approved: ApprovedFloor = NOTHING_APPROVED
        self._wagers = NOTHING_APPROVED, 0, frozenset[str]()
        self._payers = NOTHING_APPROVED, 0, dict[tuple[str, ...], dict[str, str]]()

    @property
    def waiting(self) -> set[str]:
        """The claims whose win or Envy Bonuses are not finally decided."""
        return self.claims.keys() | self.envy.keys()

    @property
    def pending(self) -> Counter[str]:
        """The count, by meter, of the wins of a percentage that nobody has decided."""
        claims = self.claims.values()
        return Counter(one.meter for one in claims if one.percent and one.state == "pending")

    @property
    def wagers(self) -> frozenset[str]:
        approved, meters, wagers = self._wagers
        if approved is not self.approved or meters != len(self.terms):
            wagers = frozenset(wager for meter in self.terms for wager in self.wagers_of(meter))
            self._wagers = self.approved, len(self.terms), wagers
        return wagers

    def wagers_of(self, meter: str) -> tuple[str, ...]:
        if self.terms[meter].must_hit_by:
            return self.terms[meter].wagers
        named = self.approved.meters.get(meter)
        if named and named.wagers:
            return named.wagers
        return chapter_games().meters.wagers_of(self.terms[meter].kind)

    def meters_by_item(self, fed: Iterable[str]) -> Mapping[str, str]:
        """Return, for each item, which of the meters `fed` pays it."""
        approved, meters, payers = self._payers
        if approved is not self.approved or meters != len(self.terms):
            payers = {}
            self._payers = self.approved, len(self.terms), payers
        every = tuple(fed)
        if every not in payers:
            payers[every] = {item: meter for meter in every for item in self._items_of(meter)}
        return payers[every]

    def _items_of(self, meter: str) -> tuple[str, ...]:
        named = self.approved.meters.get(meter)
        if named and named.wagers:
            return named.items
        return chapter_games().meters.items_of(self.terms[meter].kind)


class Draft:
    """The calculated transfers of one ledger entry, in their order.

    Each transfer is calculated from the balances after the entry's earlier transfers. `faults` are
    the errors in the entry's event, as texts.
    """

    def __init__(self, books: ExpectedBooks) -> None:
        self.transfers: list[Transfer] = []
        self.faults: list[str] = []
        self._books = books
        self._changed: dict[str, int] = {}

    def holds(self, account: str) -> int:
        """Return the balance of an account in micros, after the transfers so far."""
        return self._changed.get(account, self._books.balances.get(account, 0))

    def move(self, source: str, target: str, micros: int, cycle: int) -> None:
        """Add a transfer, if its amount is above 0."""
        if micros > 0:
            self._changed[source] = self.holds(source) - micros
            self._changed[target] = self.holds(target) + micros
            self.transfers.append(Transfer(source, target, micros, cycle))

    def fill(self, source: str, meter: str, micros: int, cycle: int) -> None:
        """Transfer micros to a meter up to its limit, and the rest to its overflow (duty D3).

        If the terms name another meter for the overflow, the rest goes on to that meter at once.
        """
        added_micros = min(micros, self.room(meter))
        self.move(source, meter_account(meter), added_micros, cycle)
        self.move(source, overflow_account(meter), micros - added_micros, cycle)
        if micros > added_micros:
            self._books.tallies[f"overflow_micros:{meter}"] += micros - added_micros
            if there := self._books.terms[meter].overflow_to:
                above = micros - added_micros
                self.fill(overflow_account(meter), there, above, self._books.cycles[there])

    def refill(self, meter: str, cycle: int) -> None:
        """Transfer micros from a meter's overflow to the meter, up to its limit (duty D3)."""
        overflow = overflow_account(meter)
        self.move(
            overflow, meter_account(meter), min(self.holds(overflow), self.room(meter)), cycle
        )

    def room(self, meter: str) -> int:
        """Return the micros that can be added to a meter before it reaches its payout limit."""
        limit_cents = self._books.terms[meter].limit_cents
        room = limit_cents * MICROS_PER_CENT - self.holds(meter_account(meter))
        return max(0, room) if limit_cents else 2**63


def adjustment_moved(books: ExpectedBooks, meter: str, cents: int) -> Draft:
    """Return the transfers of an adjustment, with which people correct a meter (duty D15)."""
    draft, micros, cycle = Draft(books), abs(cents) * MICROS_PER_CENT, books.cycles[meter]
    if cents < 0:
        draft.move(meter_account(meter), HOUSE, micros, cycle)
    else:
        draft.move(HOUSE, meter_account(meter), micros, cycle)
    draft.refill(meter, cycle)
    books.tallies[f"adjusted_{'down' if cents < 0 else 'up'}_cents:{meter}"] += abs(cents)
    return draft


def seed_moved(books: ExpectedBooks, meter: str, terms: TermsText) -> Draft:
    books.terms[meter], books.cycles[meter] = terms, 1
    draft = Draft(books)
    draft.move(HOUSE, meter_account(meter), terms.seed_cents * MICROS_PER_CENT, 1)
    return draft
