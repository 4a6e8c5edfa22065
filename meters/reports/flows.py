"""The accounts of a report, called pots, and the flows of money between them.

A flow is the reason for a transfer of money in the ledger. The account that pays and the account
that receives have the same flow. So the opening balance of a pot and all its flows add up to its
closing balance.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from meters.ledger.accounts import ENVY as ENVY_ACCOUNTS
from meters.ledger.accounts import Transfer, claim_account, table_account

CLAIMS: Final = "claims"
"""The pot of all wins that wait for a floorperson."""

ENVY: Final = "envy"
"""The pot of all Envy Bonuses that are owed and not paid yet."""

TABLES: Final = "tables"
"""The pot that all contributions come from. Its balance is negative."""

_KEPT: Final = frozenset({"meter", "overflow"})
_PAYEES: Final = frozenset({"claim", "envy", "paid"})


class Flow(StrEnum):
    """The reason for a transfer of money. Reports have its value in rows, and `words` in lists."""

    words: str

    def __new__(cls, name: str, words: str) -> Self:
        flow = str.__new__(cls, name)
        flow._value_, flow.words = name, words
        return flow

    CONTRIBUTIONS = "contributions", "Contributions of wagers"
    VOIDED = "voided_rounds", "Taken off for void rounds and wagers taken back"
    VOIDED_BY_HOUSE = (
        "voided_rounds_borne_by_house",
        "Void rounds and wagers taken back, paid by the house",
    )
    SEEDS = "seeds", "Seeds"
    RESEEDS = "reseeds", "Reseeds"
    FROM_RESERVE = "from_reserve", "Reseeds from the reserve"
    FROM_OVERFLOW = "from_overflow", "From the overflow"
    PASSED_ON = "passed_on", "From the limit of one meter to another meter"
    PERCENTAGES = "percentages_won", "Won, percentages of the meter"
    ODDS = "odds_won", "Won at odds, with Envy Bonuses"
    PAID = "paid_out", "Paid"
    REJECTED = "rejected_wins", "Wins rejected"
    ENVY_BACK = "envy_taken_back", "Envy Bonuses found not to be due"
    REOPENED = "reopened_wins", "Wins reopened after their rejection"
    ENVY_REOPENED = "envy_reopened", "Envy Bonuses reopened with their win"
    ADJUSTED_UP = "adjusted_up", "Adjustments, added"
    ADJUSTED_DOWN = "adjusted_down", "Adjustments, taken off"
    PROMOTIONS = "promotions", "Promotions, added by the house"
    OTHER = "other", "Without a known reason"


_PUT_IN: Final[Mapping[tuple[str, str], Flow]] = {
    ("seed", "house"): Flow.SEEDS,
    ("result", "house"): Flow.RESEEDS,
    ("result", "reserve"): Flow.FROM_RESERVE,
    ("result", "overflow"): Flow.FROM_OVERFLOW,
    **{
        (kind, source): flow
        for kind in ("wagers", "correct_wager")
        for source, flow in (("house", Flow.RESEEDS), ("reserve", Flow.FROM_RESERVE))
    },
    ("parameter", "overflow"): Flow.FROM_OVERFLOW,
    ("adjust", "overflow"): Flow.FROM_OVERFLOW,
    ("reject", "claim"): Flow.REJECTED,
    ("adjust", "house"): Flow.ADJUSTED_UP,
    ("promotion", "house"): Flow.PROMOTIONS,
}
"""Flows into a meter or its overflow, by the kind of ledger entry and the paying account."""

_TAKEN_OUT: Final[Mapping[tuple[str, str, str], Flow]] = {
    ("void", "house", "table"): Flow.VOIDED_BY_HOUSE,
    ("correct_wager", "house", "table"): Flow.VOIDED_BY_HOUSE,
    ("adjust", "meter", "house"): Flow.ADJUSTED_DOWN,
    ("validate", "claim", "paid"): Flow.PAID,
    ("pay", "claim", "paid"): Flow.PAID,
    ("reject", "claim", "house"): Flow.REJECTED,
    ("reject", "claim", "reserve"): Flow.REJECTED,
    ("reject", "paid", "house"): Flow.ENVY_BACK,
    ("reject", "envy", "house"): Flow.ENVY_BACK,
    ("reject_envy", "envy", "house"): Flow.ENVY_BACK,
    ("pay", "envy", "paid"): Flow.PAID,
    ("pay_envy", "envy", "paid"): Flow.PAID,
    ("reopen", "meter", "claim"): Flow.REOPENED,
    ("reopen", "overflow", "claim"): Flow.REOPENED,
    ("reopen", "reserve", "claim"): Flow.REOPENED,
    ("reopen", "house", "claim"): Flow.REOPENED,
    ("reopen", "house", "envy"): Flow.ENVY_REOPENED,
    ("reopen", "house", "paid"): Flow.ENVY_REOPENED,
}


def flow_of(kind: str, moved: Transfer) -> Flow:
    """Return the flow of a transfer between two accounts in a kind of ledger entry.

    >>> flow_of("wagers", Transfer("table:T-1", "meter:progressive", 140_000, 1)).value
    'contributions'
    >>> flow_of("result", Transfer("house", "claim:c-1", 5_000_000, 1)).value
    'odds_won'
    """
    source, target = _sort(moved.source), _sort(moved.target)
    if kind in {"wagers", "correct_wager"} and source == "table":
        return Flow.CONTRIBUTIONS
    if kind in {"void", "correct_wager"} and target == "table" and source != "house":
        return Flow.VOIDED
    if kind in {"wagers", "correct_wager"} and (source, target) == ("meter", "claim"):
        return Flow.PERCENTAGES
    if kind == "result" and target in _PAYEES:
        return {"meter": Flow.PERCENTAGES, "house": Flow.ODDS}.get(source, Flow.OTHER)
    if target in _KEPT:
        passed = source == "overflow" and _id(moved.source) != _id(moved.target)
        return Flow.PASSED_ON if passed else _PUT_IN.get((kind, source), Flow.OTHER)
    return _TAKEN_OUT.get((kind, source, target), Flow.OTHER)


def pot_of(account: str) -> str:
    """Return the pot of a ledger account.

    All claims share one pot. All Envy Bonuses share a second one, and all tables a third.

    >>> pot_of("reserve:five_card_hand_bonus"), pot_of("claim:pit.T-1-2-1")
    ('reserve:five_card_hand_bonus', 'claims')
    """
    if account.startswith(claim_account("")):
        return CLAIMS
    if account.startswith(ENVY_ACCOUNTS):
        return ENVY
    return TABLES if account.startswith(table_account("")) else account


def pots_of(balances: Mapping[str, int]) -> Counter[str]:
    pots: Counter[str] = Counter()
    for account, micros in balances.items():
        pots[pot_of(account)] += micros
    return pots


@dataclass(frozen=True, slots=True)
class AccountFlows:
    """The balances and flows of a pot in micros. A flow is negative if money left the pot."""

    opening_micros: int
    closing_micros: int
    flows: Mapping[Flow, int]

    @property
    def balanced(self) -> bool:
        return self.opening_micros + sum(self.flows.values()) == self.closing_micros

    def then(self, later: "AccountFlows") -> "AccountFlows":
        """Join this record with the record of the same pot for a later period."""
        flows = Counter(self.flows)
        flows.update(later.flows)
        return AccountFlows(self.opening_micros, later.closing_micros, flows)


class Flows:
    def __init__(self) -> None:
        self._of: dict[str, Counter[Flow]] = {}

    def add(self, kind: str, transfers: Iterable[Transfer]) -> None:
        for moved in transfers:
            flow = flow_of(kind, moved)
            for account, micros in ((moved.source, -moved.micros), (moved.target, moved.micros)):
                self._of.setdefault(pot_of(account), Counter())[flow] += micros

    def pots(
        self, opening: Mapping[str, int], closing: Mapping[str, int]
    ) -> dict[str, AccountFlows]:
        """Return each pot in micros, with its flows and with its balances before and after them."""
        names = sorted(opening.keys() | closing.keys() | self._of.keys())
        return {
            name: AccountFlows(
                opening.get(name, 0), closing.get(name, 0), dict(self._of.get(name, {}))
            )
            for name in names
        }


def _sort(account: str) -> str:
    return account.partition(":")[0]


def _id(account: str) -> str:
    return account.partition(":")[2]
