"""What each entry of a ledger must move, reckoned from its event and the books before it.

It is the second opinion on the scripts, for the audit (duty D19): nothing here is shared with them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from bonus.settling.holdings import MICROS_PER_CENT
from bonus.settling.lines import METER_OF_ITEM, Item, Line
from bonus.wagers import METER_OF
from meters.books.accounts import (
    HOUSE,
    PAID,
    claim_account,
    meter_account,
    overflow_account,
    reserve_account,
    table_account,
)
from meters.books.terms import TermsText
from meters.wire.messages import Reply, Wagers


class Transfer(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A movement of micros from one account to another, in a meter's cycle."""

    source: str
    target: str
    micros: int
    cycle: int


@dataclass(frozen=True, slots=True)
class Added:
    """What a round's wagers added to one meter, in micros by account, and in which cycle."""

    meter: str
    wagers: int
    wagered_cents: int
    cycle: int
    micros: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Held:
    """A win that waits, or waited, for a floorperson; `state` is where `by` brought it.

    `after_cents` is what the meter held after it.
    """

    meter: str
    cents: int
    percent: bool
    hand_pay: bool
    state: str = "pending"
    by: str = ""
    after_cents: int = 0


@dataclass
class Books:
    """The books of a link as its ledger has made them so far; balances in micros.

    Attributes:
        balances: by account.
        cycles: by meter.
        terms: by meter.
        rounds: what the open round of each table added.
        claims: the wins that are not decided for good.
        tallies: what only rises (duty D2).
    """

    balances: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    terms: dict[str, TermsText] = field(default_factory=dict)
    rounds: dict[str, Sequence[Added]] = field(default_factory=dict)
    claims: dict[str, Held] = field(default_factory=dict)
    tallies: Counter[str] = field(default_factory=Counter)


class Draft:
    """Transfers that are reckoned one after the other, each on what the ones before it left.

    Attributes:
        transfers: in their order.
        faults: what of the event cannot be, in words.
    """

    def __init__(self, books: Books) -> None:
        self.transfers: list[Transfer] = []
        self.faults: list[str] = []
        self._books = books
        self._changed: dict[str, int] = {}

    def holds(self, account: str) -> int:
        """What an account holds by now, in micros."""
        return self._changed.get(account, self._books.balances.get(account, 0))

    def move(self, source: str, target: str, micros: int, cycle: int) -> None:
        """Move micros, where there are any."""
        if micros > 0:
            self._changed[source] = self.holds(source) - micros
            self._changed[target] = self.holds(target) + micros
            self.transfers.append(Transfer(source, target, micros, cycle))

    def fill(self, source: str, meter: str, micros: int, cycle: int) -> None:
        """Fill a meter up to its limit, and its overflow with what is more (duty D3)."""
        taken = min(micros, self.room(meter))
        self.move(source, meter_account(meter), taken, cycle)
        self.move(source, overflow_account(meter), micros - taken, cycle)
        if micros > taken:
            self._books.tallies[f"overflow_micros:{meter}"] += micros - taken

    def room(self, meter: str) -> int:
        """How much a meter can take."""
        limit_cents = self._books.terms[meter].limit_cents
        room = limit_cents * MICROS_PER_CENT - self.holds(meter_account(meter))
        return max(0, room) if limit_cents else 2**63


def fed_by(books: Books, moved: Iterable[Transfer]) -> dict[str, str]:
    """Which meter each wager fed in an entry, by the meters that it moved to.

    Not by what its table offers today: a table may have gone from the floor since, and a parameter
    may have changed.
    """
    targets = {one.target for one in moved}
    return {
        wager.value: meter
        for meter, terms in books.terms.items()
        if targets & {meter_account(meter), overflow_account(meter)}
        for wager, kind in METER_OF.items()
        if kind.value == terms.kind
    }


def wagers_moved(books: Books, table: str, event: Wagers, fed: Mapping[str, str]) -> Draft:
    """What accepted wagers must move, by the rates (649a.12(e)(3), (h)(3), (i)(4), (j)(3))."""
    draft, round_added = Draft(books), []
    cents: Counter[str] = Counter()
    count: Counter[str] = Counter()
    if table in books.rounds:
        draft.faults.append(f"table {table} has a round already")
    for position in event.positions:
        for wager, wagered_cents in position.wagers.items():
            meter = fed.get(wager)
            if meter is None:
                draft.faults.append(f"a wager {wager} fed no meter")
                continue
            if wagered_cents != books.terms[meter].wager_cents:
                draft.faults.append(f"a wager of {wagered_cents} cents fed {meter}")
            cents[meter] += wagered_cents
            count[meter] += 1
    for meter, wagered_cents in cents.items():
        terms, cycle, before = books.terms[meter], books.cycles[meter], len(draft.transfers)
        to_meter, to_reserve = wagered_cents * terms.primary_bps, wagered_cents * terms.reserve_bps
        most = terms.contribution_max_cents * MICROS_PER_CENT
        if most and to_meter + to_reserve > most:
            draft.faults.append(f"{to_meter + to_reserve} micros at once are too many for {meter}")
        draft.fill(table_account(table), meter, to_meter, cycle)
        draft.move(table_account(table), reserve_account(meter), to_reserve, cycle)
        added = {one.target: one.micros for one in draft.transfers[before:]}
        round_added.append(Added(meter, count[meter], wagered_cents, cycle, added))
        books.tallies[f"wagers:{meter}"] += count[meter]
        books.tallies[f"wagered_cents:{meter}"] += wagered_cents
    books.rounds[table] = round_added
    return draft


def void_moved(books: Books, table: str) -> Draft:
    """What a void round must move back (649a.13, reading T28).

    Raises:
        KeyError: the table has no round.
    """
    draft = Draft(books)
    for added in books.rounds.pop(table):
        same = books.cycles[added.meter] == added.cycle
        for kept in _KEPT:
            account = kept(added.meter)
            micros = added.micros.get(account, 0)
            off = min(micros, draft.holds(account)) if same else 0
            draft.move(account, table_account(table), off, added.cycle)
            draft.move(HOUSE, table_account(table), micros - off, added.cycle)
        books.tallies[f"voided_wagers:{added.meter}"] += added.wagers
        books.tallies[f"voided_cents:{added.meter}"] += added.wagered_cents
    books.tallies["voids"] += 1
    return draft


def result_moved(books: Books, table: str, reply: Reply) -> Draft:
    """What a result must move: each line at its turn, percentages of what the meter held then.

    Raises:
        KeyError: the table has no round, or a line is of a meter that it did not feed.
    """
    meters = {books.terms[added.meter].kind: added.meter for added in books.rounds.pop(table)}
    lines = [line for line in reply.lines or () if line.paid or line.percent]
    claims = {(one.position, one.item): one for one in reply.claims or ()}
    draft = Draft(books)
    taken: set[str] = set()
    for line in lines:
        meter = meters[METER_OF_ITEM[line.item].value]
        claim = claims.get((line.position, line.item))
        if line.percent and _take_of(line) not in taken:
            taken.add(_take_of(line))
            alike = [one for one in lines if _take_of(one) == _take_of(line)]
            payees = [claim_account(claims[one.position, one.item].claim) for one in alike]
            share = _take_off(books, draft, meter, line.percent, payees)
            if any(one.paid != share for one in alike):
                told = ", ".join(f"{one.paid}" for one in alike)
                draft.faults.append(f"{line.percent}% of {meter} was {share} cents, not {told}")
        elif not line.percent:
            payee = claim_account(claim.claim) if claim else PAID
            draft.move(HOUSE, payee, line.paid * MICROS_PER_CENT, books.cycles[meter])
        _count_win(books.tallies, meter, line, claimed=claim is not None)
        if claim:
            if claim.amount != line.paid:
                told = f"claim {claim.claim} is of {claim.amount} cents, its line of {line.paid}"
                draft.faults.append(told)
            hand_pay = line.paid_from == "hand_pay"
            after_cents = draft.holds(meter_account(meter)) // MICROS_PER_CENT
            books.claims[claim.claim] = Held(
                meter, line.paid, bool(line.percent), hand_pay, after_cents=after_cents
            )
    books.tallies["rounds"] += 1
    return draft


def decision_moved(
    books: Books, act: str, claim_id: str, by: str, envy_back_cents: int
) -> Draft:  # fmt: skip
    """What a floorperson's decision must move; who validated a win does not pay it (duty D4).

    Raises:
        KeyError: there is no such claim, or it was decided for good.
    """
    claim, draft = books.claims.pop(claim_id), Draft(books)
    if claim.state != ("validated" if act == "pay" else "pending"):
        draft.faults.append(f"{act} of claim {claim_id}, which is {claim.state}")
    if act == "pay" and claim.by == by:
        draft.faults.append(f"claim {claim_id} was validated and paid by {by}")
    account, cycle = claim_account(claim_id), books.cycles[claim.meter]
    micros, tallies = claim.cents * MICROS_PER_CENT, books.tallies
    if act == "reject":
        if claim.percent:
            draft.fill(account, claim.meter, micros, cycle)
        else:
            draft.move(account, HOUSE, micros, cycle)
        draft.move(PAID, HOUSE, envy_back_cents * MICROS_PER_CENT, cycle)
        tallies[f"rejected:{claim.meter}"] += 1
        tallies[f"rejected_cents:{claim.meter}"] += claim.cents
        tallies[f"envy_taken_back_cents:{claim.meter}"] += envy_back_cents
    elif claim.hand_pay and act == "validate":
        books.claims[claim_id] = replace(claim, state="validated", by=by)
    else:
        draft.move(account, PAID, micros, cycle)
        how = "hand_paid_cents" if claim.hand_pay else "table_paid_cents"
        tallies[f"{how}:{claim.meter}"] += claim.cents
    return draft


def adjustment_moved(books: Books, meter: str, cents: int) -> Draft:
    """What a correction of a meter must move (duty D15)."""
    draft, micros, cycle = Draft(books), abs(cents) * MICROS_PER_CENT, books.cycles[meter]
    if cents < 0:
        draft.move(meter_account(meter), HOUSE, micros, cycle)
    else:
        draft.move(HOUSE, meter_account(meter), micros, cycle)
    books.tallies[f"adjusted_{'down' if cents < 0 else 'up'}_cents:{meter}"] += abs(cents)
    return draft


def seed_moved(books: Books, meter: str, terms: TermsText) -> Draft:
    """What the first filling of a meter must move."""
    books.terms[meter], books.cycles[meter] = terms, 1
    draft = Draft(books)
    draft.move(HOUSE, meter_account(meter), terms.seed_cents * MICROS_PER_CENT, 1)
    return draft


_KEPT: Final = (meter_account, reserve_account, overflow_account)


def _take_of(line: Line) -> str:
    """What tells one percentage of a meter from another within a result.

    Those on the dealer's hand are shares of one (reading T17).
    """
    if not line.percent:
        return ""
    dealers = line.item == Item.FIVE_CARD_HAND_BONUS_DEALER
    return line.item if dealers else f"{line.item} of {line.position}"


def _take_off(
    books: Books, draft: Draft, meter: str, percent: int, payees: Sequence[str]
) -> int:  # fmt: skip
    """Take a percentage off a meter and reseed it after 100%; the cents of one share."""
    account, terms = meter_account(meter), books.terms[meter]
    share = draft.holds(account) // MICROS_PER_CENT * percent // 100 // len(payees)
    for payee in payees:
        draft.move(account, payee, share * MICROS_PER_CENT, books.cycles[meter])
    if percent == 100:
        books.cycles[meter] += 1
        cycle, overflow, reserve = (
            books.cycles[meter], overflow_account(meter), reserve_account(meter),
        )  # fmt: skip
        over = draft.holds(overflow)
        if terms.reserve_bps:
            draft.fill(reserve, meter, draft.holds(reserve), cycle)
        else:
            draft.fill(HOUSE, meter, terms.reseed_cents * MICROS_PER_CENT, cycle)
        draft.move(overflow, account, min(over, draft.room(meter)), cycle)
    return share


def _count_win(tallies: Counter[str], meter: str, line: Line, *, claimed: bool) -> None:
    tallies["wins"] += 1
    tallies["won_cents"] += line.paid
    tallies[f"wins:{meter}"] += 1
    tallies[f"won_cents:{meter}"] += line.paid
    if line.percent:
        tallies[f"hits:{meter}"] += 1
    if not claimed:
        tallies[f"table_paid_cents:{meter}"] += line.paid
