"""The transfers that a ledger entry must have, calculated from its event and earlier entries.

The audit compares them with the transfers in the ledger (duty D19). The calculation is independent:
it shares no code with the Lua scripts, which write the ledger.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import msgspec

from bonus.law.games import chapter_games
from bonus.law.paytables import Percent
from bonus.settling.settlement_lines import Line, cause_of, percent_won
from bonus.wagers import MICROS_PER_CENT, is_on_dealer
from meters.ledger.accounts import (
    ENVY,
    HOUSE,
    PAID,
    claim_account,
    envy_account,
    meter_account,
    overflow_account,
    reserve_account,
    table_account,
)
from meters.ledger.approved_configuration import NOTHING_APPROVED, ApprovedSettings
from meters.ledger.entry_messages import SettledReply
from meters.ledger.money_terms import TermsText
from meters.wire.messages import Reply


class Transfer(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A transfer of micros. `cycle` of the meter is 1 after its first seed, plus 1 per reseed."""

    source: str
    target: str
    micros: int
    cycle: int


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])


@lru_cache(4_096)
def transfers_in(text: bytes) -> tuple[Transfer, ...]:
    """Decode the transfers of a ledger entry. A table often has the same transfers again."""
    return _TRANSFERS.decode(text)


class Added(msgspec.Struct, frozen=True, omit_defaults=True):
    """The contribution of a round's wagers to one meter.

    `micros` has the amount that was added to each account. `cycle` is the meter's cycle when the
    wagers were accepted. `wager` is empty for the wagers at lock-out; for a wager that a correction
    added, it is the position, a colon and the name of the wager.
    """

    meter: str
    wagers: int
    wagered_cents: int
    cycle: int
    micros: Mapping[str, int]
    wager: str = ""


@dataclass(frozen=True, slots=True)
class HeldWin:
    """A win that a floorperson must decide, or has validated.

    `by` is the person who set `state`. `after_cents` is the meter balance after the win.
    """

    meter: str
    cents: int
    percent: bool
    hand_pay: bool
    state: str = "pending"
    by: str = ""
    after_cents: int = 0


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

    They are pending until the win of the claim is decided. `by` is the person who set `state`. If
    no win of the hand waits for a floorperson, they have the state ``validated`` from the
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
    def holder(self) -> int:
        return self.bonuses[0].holder

    def lines_of(self, lines: Iterable[Line]) -> list[Line]:
        own = {(one.position, one.item, one.holder) for one in self.bonuses}
        return [line for line in lines if (line.position, line.item, line.envy_of) in own]


@dataclass(frozen=True, slots=True)
class RejectedWin:
    """A win that was rejected on the open gaming day, and can be reopened.

    `win` is the win before its rejection. `envy` are the Envy Bonuses that were taken back with the
    rejection or after it. The micros went back to the meter and its overflow.
    """

    win: HeldWin
    envy: HeldEnvy | None
    meter_micros: int
    overflow_micros: int
    cycle: int


@dataclass(frozen=True, slots=True)
class Requested:
    entry: int
    act: str
    by: str


@dataclass
class ExpectedBooks:
    """The balances, rounds and claims of a link, calculated from the ledger entries so far.

    `balances` are in micros. The cycle of a meter is 1 after its first seed, and one more after
    each reseed. `rounds` are the contributions of each table's open round. `claims` are the wins
    that are not finally decided. `tallies` are the accounting meters: counts and sums that only
    rise (duty D2). Of the open gaming day, `requests` are those that nobody has confirmed, and
    `rejected` the rejected wins. `house_paid` are, by claim, the micros that the house paid to
    reopen a win that waits.
    """

    balances: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    terms: dict[str, TermsText] = field(default_factory=dict)
    rounds: dict[str, Sequence[Added]] = field(default_factory=dict)
    claims: dict[str, HeldWin] = field(default_factory=dict)
    tallies: Counter[str] = field(default_factory=Counter)
    envy: dict[str, HeldEnvy] = field(default_factory=dict)
    requests: dict[str, Requested] = field(default_factory=dict)
    rejected: dict[str, RejectedWin] = field(default_factory=dict)
    approved: ApprovedSettings = NOTHING_APPROVED
    house_paid: dict[str, int] = field(default_factory=dict)
    _wagers: tuple[ApprovedSettings, int, frozenset[str]] = (NOTHING_APPROVED, 0, frozenset())

    @property
    def waiting(self) -> set[str]:
        """The claims whose win or Envy Bonuses are not finally decided."""
        return self.claims.keys() | self.envy.keys()

    @property
    def wagers(self) -> frozenset[str]:
        approved, meters, wagers = self._wagers
        if approved is not self.approved or meters != len(self.terms):
            wagers = frozenset(wager for meter in self.terms for wager in self.wagers_of(meter))
            self._wagers = self.approved, len(self.terms), wagers
        return wagers

    def wagers_of(self, meter: str) -> tuple[str, ...]:
        named = self.approved.names.get(meter)
        return named.wagers if named else chapter_games().meters.wagers_of(self.terms[meter].kind)

    def meters_by_item(self, fed: Iterable[str]) -> dict[str, str]:
        """Return the meter that pays each item, of the meters that the round fed."""
        return {item: meter for meter in fed for item in self._items_of(meter)}

    def _items_of(self, meter: str) -> tuple[str, ...]:
        named = self.approved.names.get(meter)
        return named.items if named else chapter_games().meters.items_of(self.terms[meter].kind)


class Draft:
    """The calculated transfers of one ledger entry, in their order.

    Each is calculated from the balances after the entry's earlier transfers. `faults` are the
    errors in the entry's event, as texts.
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
        """Add a transfer. Add nothing if the amount is 0."""
        if micros > 0:
            self._changed[source] = self.holds(source) - micros
            self._changed[target] = self.holds(target) + micros
            self.transfers.append(Transfer(source, target, micros, cycle))

    def fill(self, source: str, meter: str, micros: int, cycle: int) -> None:
        """Transfer micros to a meter up to its payout limit, the rest to its overflow (duty D3)."""
        added_micros = min(micros, self.room(meter))
        self.move(source, meter_account(meter), added_micros, cycle)
        self.move(source, overflow_account(meter), micros - added_micros, cycle)
        if micros > added_micros:
            self._books.tallies[f"overflow_micros:{meter}"] += micros - added_micros

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


def void_moved(books: ExpectedBooks, table: str) -> Draft:
    """Return the transfers that undo a void round (649a.13, reading T28).

    Raises:
        KeyError: the table has no open round.
    """
    draft = Draft(books)
    for added in books.rounds.pop(table):
        give_back(books, draft, table, added)
    books.tallies["voids"] += 1
    return draft


def give_back(books: ExpectedBooks, draft: Draft, table: str, added: Added) -> None:
    """Add the transfers that undo a contribution to `draft`."""
    same = books.cycles[added.meter] == added.cycle
    # The overflow can have refilled the meter since: both give back, the overflow first.
    for kinds in ((overflow_account, meter_account), (reserve_account,)):
        accounts = [kind(added.meter) for kind in kinds]
        micros = sum(added.micros.get(account, 0) for account in accounts)
        for account in accounts:
            off = min(micros, draft.holds(account)) if same else 0
            draft.move(account, table_account(table), off, added.cycle)
            micros -= off
        draft.move(HOUSE, table_account(table), micros, added.cycle)
    books.tallies[f"voided_wagers:{added.meter}"] += added.wagers
    books.tallies[f"voided_cents:{added.meter}"] += added.wagered_cents


def result_moved(
    books: ExpectedBooks, table: str, settled: SettledReply, moved: Sequence[Transfer] = ()
) -> Draft:
    """Return the transfers that the result of a round must cause.

    The settlement lines are calculated one after the other. A percentage is calculated from the
    meter balance that the earlier lines leave. `books` are those before the result. `moved` are the
    transfers of the ledger entry: if no win of a hand waits for a floorperson, they show to which
    account each Envy Bonus of the hand went.

    Raises:
        KeyError: the table has no open round, or the round did not contribute to a line's meter.
    """
    round_added, draft = books.rounds.pop(table), Draft(books)
    books.tallies["rounds"] += 1
    reply, lines = settled.reply, settled.paid
    if not lines:
        return draft
    meters = books.meters_by_item(added.meter for added in round_added)
    claims = {(one.position, one.item): one for one in reply.claims or ()}
    claimed: set[str] = set()
    envy = _EnvyPayees(f".{table}-{reply.seq}-e", reply, moved)
    for line in lines:
        meter = meters[line.item]
        claim = claims.get((line.position, line.item))
        owed = False
        if line.percent and _take_of(line) not in claimed:
            claimed.add(_take_of(line))
            alike = [one for one in lines if _take_of(one) == _take_of(line)]
            payees = [claim_account(claims[one.position, one.item].claim) for one in alike]
            share = _take_off(books, draft, meter, percent_won(line), payees)
            if any(one.paid != share for one in alike):
                message = ", ".join(f"{one.paid}" for one in alike)
                draft.faults.append(f"{line.percent}% of {meter} was {share} cents, not {message}")
        elif not line.percent:
            payee = claim_account(claim.claim) if claim else PAID
            if line.envy_of is not None:
                payee = envy.payee(line, meter)
                owed = payee != PAID
            draft.move(HOUSE, payee, line.paid * MICROS_PER_CENT, books.cycles[meter])
        _count_win(books.tallies, meter, line, claimed=claim is not None, owed=owed)
        if claim:
            if claim.amount != line.paid:
                message = f"claim {claim.claim} is of {claim.amount} cents, its line of {line.paid}"
                draft.faults.append(message)
            hand_pay = line.paid_from == "hand_pay"
            after_cents = draft.holds(meter_account(meter)) // MICROS_PER_CENT
            books.claims[claim.claim] = HeldWin(
                meter, line.paid, bool(line.percent), hand_pay, after_cents=after_cents
            )
    for name, held in envy.held.items():
        after_cents = draft.holds(meter_account(held.bonuses[0].meter)) // MICROS_PER_CENT
        books.envy[name] = replace(held, after_cents=after_cents)
    return draft


def envy_of_result(books: ExpectedBooks, table: str, seq: int) -> dict[str, HeldEnvy]:
    """Return by claim the Envy Bonuses that a table's last replayed result, event `seq`, owes."""
    own = f"{table}-{seq}"
    return {
        claim: held
        for claim, held in books.envy.items()
        if claim.partition(".")[2].rsplit("-", 1)[0] == own
    }


class _EnvyPayees:
    """The accounts to which the Envy Bonuses of a result go. `held` are those that are owed."""

    def __init__(self, own: str, reply: Reply, moved: Sequence[Transfer]) -> None:
        self.held: dict[str, HeldEnvy] = {}
        self._own = own
        self._claims = reply.claims or ()
        self._lines = reply.lines or ()
        self._moved = moved

    def payee(self, line: Line, meter: str) -> str:
        """Return the account that receives an Envy Bonus. Add the bonus to `held` if it is owed."""
        claim, state = self._claim(line)
        if not claim:
            return PAID
        bonus = EnvyBonus(
            line.position, line.envy_of or 0, line.item, line.hand or "", meter, line.paid
        )
        before = self.held.get(claim, HeldEnvy(state, ()))
        self.held[claim] = replace(before, bonuses=(*before.bonuses, bonus))
        return envy_account(claim)

    def _claim(self, line: Line) -> tuple[str, str]:
        """Return an Envy Bonus's claim and first state; two empty texts if recorded as paid."""
        cause = cause_of(line, self._claims, self._lines)
        if cause is not None:
            return self._claims[cause].claim, "pending"
        ending, due = f"{self._own}{line.envy_of}", line.paid * MICROS_PER_CENT
        for one in self._moved:
            # An Envy Bonus below `validate_from` in the floor file is recorded as paid. The present
            # floor file can have another `validate_from`, but the entry shows which bonuses were
            # owed.
            paid_to = one.target
            if paid_to.startswith(ENVY) and paid_to.endswith(ending) and one.micros == due:
                return paid_to.removeprefix(ENVY), "validated"
        return "", ""


def decision_moved(
    books: ExpectedBooks,
    act: str,
    claim_id: str,
    by: str,
    *,
    envy_back_cents: int = 0,
    envy_paid_cents: int = 0,
) -> Draft:
    """Return the transfers of a floorperson's decision on a claim.

    The person who validated a win must not pay it (duty D4).

    Raises:
        KeyError: the claim does not exist, or is already finally decided.
    """
    claim, draft = books.claims.pop(claim_id), Draft(books)
    if claim.state != ("validated" if act == "pay" else "pending"):
        draft.faults.append(f"{act} of claim {claim_id}, which is {claim.state}")
    if act == "pay" and claim.by == by:
        draft.faults.append(f"claim {claim_id} was validated and paid by {by}")
    account, cycle = claim_account(claim_id), books.cycles[claim.meter]
    micros, tallies = claim.cents * MICROS_PER_CENT, books.tallies
    books.requests.pop(claim_id, None)
    of_house = books.house_paid.pop(claim_id, 0)
    if act == "reject":
        to_house = of_house if claim.percent else micros
        draft.move(account, HOUSE, to_house, cycle)
        draft.fill(account, claim.meter, micros - to_house, cycle)
        tallies[f"rejected:{claim.meter}"] += 1
        tallies[f"rejected_cents:{claim.meter}"] += claim.cents
        taken_back = books.envy.get(claim_id) if envy_back_cents else None
        moved = {one.target: one.micros for one in draft.transfers}
        to_meter = moved.get(meter_account(claim.meter), 0)
        to_overflow = moved.get(overflow_account(claim.meter), 0)
        books.rejected[claim_id] = RejectedWin(claim, taken_back, to_meter, to_overflow, cycle)
    elif claim.hand_pay and act == "validate":
        books.claims[claim_id] = replace(claim, state="validated", by=by)
    else:
        draft.move(account, PAID, micros, cycle)
        how = "hand_paid_cents" if claim.hand_pay else "table_paid_cents"
        tallies[f"{how}:{claim.meter}"] += claim.cents
    if claim_id in books.envy:
        _decide_envy(books, draft, claim_id, by, envy_back_cents, envy_paid_cents)
    elif envy_back_cents or envy_paid_cents:
        draft.faults.append(f"no Envy Bonus was owed for claim {claim_id}")
    return draft


def _decide_envy(  # noqa: PLR0917
    books: ExpectedBooks, draft: Draft, claim_id: str, by: str, back_cents: int, paid_cents: int
) -> None:
    envy = books.envy[claim_id]
    if not (back_cents or paid_cents):
        if envy.state == "pending":
            books.envy[claim_id] = replace(envy, state="validated", by=by)
        return
    if back_cents + paid_cents != envy.cents:
        draft.faults.append(f"the Envy Bonuses of claim {claim_id} are of {envy.cents} cents")
    if envy.state != ("validated" if paid_cents else "pending"):
        draft.faults.append(f"the Envy Bonuses of claim {claim_id} are {envy.state}")
    _settle_envy(books, draft, claim_id, paid=bool(paid_cents))


def envy_moved(books: ExpectedBooks, act: str, claim_id: str) -> Draft:
    """Return the transfers of a decision that owed Envy Bonuses were paid, or are not due.

    Raises:
        KeyError: no Envy Bonus is owed under the claim.
    """
    draft = Draft(books)
    if (state := books.envy[claim_id].state) != "validated":
        draft.faults.append(f"{act} of the Envy Bonuses of claim {claim_id}, which are {state}")
    if act == "reject_envy" and (was := books.rejected.get(claim_id)):
        books.rejected[claim_id] = replace(was, envy=books.envy[claim_id])
    _settle_envy(books, draft, claim_id, paid=act == "pay_envy")
    return draft


def _settle_envy(books: ExpectedBooks, draft: Draft, claim_id: str, *, paid: bool) -> None:
    cents: Counter[str] = Counter()
    for one in books.envy.pop(claim_id).bonuses:
        cents[one.meter] += one.cents
    for meter, of_meter in cents.items():
        target, how = (PAID, "table_paid_cents") if paid else (HOUSE, "envy_taken_back_cents")
        micros = of_meter * MICROS_PER_CENT
        draft.move(envy_account(claim_id), target, micros, books.cycles[meter])
        books.tallies[f"{how}:{meter}"] += of_meter


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


def _take_of(line: Line) -> str:
    """Return a name for the percentage that a settlement line pays; empty if it pays none.

    Lines with the same name share one percentage. All lines for the dealer's hand do (reading T17).
    """
    if not line.percent:
        return ""
    return line.item if is_on_dealer(line.item) else f"{line.item} of {line.position}"


def _take_off(
    books: ExpectedBooks, draft: Draft, meter: str, percent: Percent, payees: Sequence[str]
) -> int:  # fmt: skip
    """Add the transfers of a percentage of a meter to `draft`, and return the cents of one share.

    If the percentage is 100, reseed the meter. Then refill it from its overflow. `payees` are the
    accounts that get one share each.
    """
    account, terms = meter_account(meter), books.terms[meter]
    share = draft.holds(account) * percent // (100 * MICROS_PER_CENT) // len(payees)
    for payee in payees:
        draft.move(account, payee, share * MICROS_PER_CENT, books.cycles[meter])
    if percent == 100:
        books.cycles[meter] += 1
        cycle, reserve = books.cycles[meter], reserve_account(meter)
        if terms.reserve_bps:
            draft.fill(reserve, meter, draft.holds(reserve), cycle)
        if terms.reseed_cents:
            draft.fill(HOUSE, meter, terms.reseed_cents * MICROS_PER_CENT, cycle)
    draft.refill(meter, books.cycles[meter])
    return share


def _count_win(
    tallies: Counter[str], meter: str, line: Line, *, claimed: bool, owed: bool
) -> None:  # fmt: skip
    tallies["wins"] += 1
    tallies["won_cents"] += line.paid
    tallies[f"wins:{meter}"] += 1
    tallies[f"won_cents:{meter}"] += line.paid
    if line.percent:
        tallies[f"hits:{meter}"] += 1
    if owed:
        tallies[f"envy_owed_cents:{meter}"] += line.paid
    elif not claimed:
        tallies[f"table_paid_cents:{meter}"] += line.paid
