"""Payouts of one round, turn by turn, up to the limit on what one player wins.

What is settled stands in ``main_wagers``, ``optional_wagers``, ``progressives`` and ``hand_bonus``;
each of them is a step that every position goes through at its turn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bonus.cards import Card
from bonus.law.chapter_file import CardsOf
from bonus.law.meter_terms import MeterTerms
from bonus.settling.rounds import Round, RoundError, RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon
from bonus.wagers import MeterKind, PaidFrom

Judge = Callable[[Sequence[Card]], str]


@dataclass(frozen=True, slots=True)
class PayRow:
    """What a hand pays a wager that feeds no meter.

    Attributes:
        hand: the hand's name in the paytable.
        times: how many times the wager.
        stake_back: whether the wager goes back beside it (reading G2).
        sum_cents: a fixed sum, in cents.
        rule: the subsection.
        limited: whether the aggregate payout limit covers it.
    """

    hand: str
    times: int
    stake_back: bool
    sum_cents: int
    rule: str
    limited: bool = False


@dataclass(frozen=True, slots=True)
class PayoutLimit:
    """The most that one player's covered payouts of a round come to, in cents (reading G6)."""

    rule: str
    limit_cents: int


class SettlingStep(Protocol):
    """One of the things that the dealer settles at each position."""

    def settle(self, turns: "Turns", box: RoundPosition) -> None:
        """Settle it at a position."""


def paying_order(positions: Sequence[RoundPosition]) -> list[RoundPosition]:
    """Positions as they are paid: from the dealer's right, the highest first (reading G1)."""
    return sorted(positions, key=lambda box: box.position, reverse=True)


class Turns:
    """A round while it is settled.

    ``divided_take`` is the take of a jackpot on the dealer's hand, once it was taken, and
    ``had_share`` who had his share of it (reading T17).
    """

    def __init__(
        self,
        played: Round,
        survivors: frozenset[str],
        terms: Mapping[MeterKind, MeterTerms],
        limit: PayoutLimit | None = None,
    ) -> None:
        self.played: Final = played
        self.boxes: Final = paying_order(played.positions)
        self.terms: Final = terms
        self.dues: Final[list[Due]] = []
        self.takes: Final[list[PercentWon]] = []
        self.divided_take: int | None = None
        self.had_share: Final[set[str | int]] = set()
        self._survivors = survivors
        self._limit = limit
        self._limited_cents: dict[str | int, int] = {}
        self._hands: dict[tuple[Judge, CardsOf, int], str] = {}
        self._bettors: dict[str, list[RoundPosition]] = {}

    def shows_cards(self, box: RoundPosition) -> bool:
        """Whether a hand stays on the table to be turned up (reading T8)."""
        return box.shows_cards(self._survivors)

    def bettors(self, wager: str) -> list[RoundPosition]:
        """The boxes that made a wager, in paying order."""
        found = self._bettors.get(wager)
        if found is None:
            found = self._bettors[wager] = [box for box in self.boxes if wager in box.wagers]
        return found

    def hand(self, judge: Judge, cards: CardsOf, box: RoundPosition) -> str:
        """The hand that a position's cards, with those that they are combined with, form.

        Raises:
            RoundError: cards are missing that ``check_cards`` would have asked for.
        """
        key = (judge, cards, 0 if cards == "dealer_and_community" else box.position)
        hand = self._hands.get(key)
        if hand is None:
            hand = self._hands[key] = judge(self.cards(cards, box))
        return hand

    def cards(self, cards: CardsOf, box: RoundPosition) -> tuple[Card, ...]:
        """The cards that a wager at a position is judged on.

        Raises:
            RoundError: cards are missing that ``check_cards`` would have asked for.
        """
        played = self.played
        match cards:
            case "hand":
                return turned_up(box)
            case "hand_and_dealer":
                return (*turned_up(box), *self.dealer())
            case "hand_and_community":
                return (*turned_up(box), *self.community())
            case "dealer_and_community":
                return (*self.dealer(), *self.community())
            case "hand_and_all_six":
                if played.all_six_card is None:
                    message = "the All-Six Bonus card is missing"
                    raise RoundError("cards_missing", message, "all_six_card")
                return (*turned_up(box), played.all_six_card)

    def dealer(self) -> tuple[Card, ...]:
        """The dealer's hand."""
        if self.played.dealer is None:
            raise RoundError("cards_missing", "the dealer's hand is missing", "dealer")
        return self.played.dealer

    def community(self) -> tuple[Card, ...]:
        """The two community cards."""
        if self.played.community is None:
            raise RoundError("community_missing", "the community cards are missing", "community")
        return self.played.community

    def fourth_card(self, box: RoundPosition) -> Card:
        """The card that a Pair Bonus turns on: the table's, or else the position's (reading P5)."""
        card = self.played.pair_bonus_community_card
        if card is None:
            card = box.fourth_card
        if card is None:
            raise RoundError("cards_missing", f"position {box.position} has no fourth card")
        return card

    def pay(
        self,
        box: RoundPosition,
        item: str,
        row: PayRow,
        paid_from: PaidFrom,
        wagered_cents: int,
        *,
        is_wager: bool,
    ) -> None:
        """Pay by a row; what is no wager has no stake of its own to give back (reading G2)."""
        paid_cents = row.sum_cents or row.times * wagered_cents
        rule = row.rule
        if row.limited and self._limit is not None:
            left_cents = self._limit.limit_cents - self._limited_cents.get(box.player, 0)
            if paid_cents > left_cents:
                paid_cents, rule = left_cents, self._limit.rule
            self._limited_cents[box.player] = self._limit.limit_cents - left_cents + paid_cents
        self.dues.append(
            Due(
                Line(
                    position=box.position,
                    item=item,
                    outcome=Outcome.PAID,
                    hand=row.hand,
                    wagered=wagered_cents,
                    paid=paid_cents,
                    returned=wagered_cents if is_wager and row.stake_back else 0,
                    paid_from=paid_from if paid_cents else None,
                    rule=rule,
                )
            )
        )

    def give_back(self, box: RoundPosition, wager: str, rule: str, hand: str | None = None) -> None:
        """Return a wager."""
        self._settle(box, wager, Outcome.RETURNED, rule, hand)

    def collect(self, box: RoundPosition, wager: str, rule: str, hand: str | None = None) -> None:
        """Collect a wager."""
        self._settle(box, wager, Outcome.COLLECTED, rule, hand)

    def _settle(
        self, box: RoundPosition, wager: str, outcome: Outcome, rule: str, hand: str | None
    ) -> None:
        wagered_cents = box.wagers[wager]
        self.dues.append(
            Due(
                Line(
                    position=box.position,
                    item=wager,
                    outcome=outcome,
                    hand=hand,
                    wagered=wagered_cents,
                    paid=0,
                    returned=wagered_cents if outcome is Outcome.RETURNED else 0,
                    rule=rule,
                )
            )
        )


def turned_up(box: RoundPosition) -> tuple[Card, ...]:
    """The cards of a hand that stays on the table.

    Raises:
        RoundError: it has none.
    """
    if box.cards is None:
        message = f"the hand of position {box.position} is to be turned up, and has no cards"
        raise RoundError("cards_missing", message)
    return box.cards
