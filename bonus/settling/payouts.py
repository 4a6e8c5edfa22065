"""Payouts of one round, position by position, up to the payout limit of each player.

The steps of settlement are in ``main_wagers``, ``optional_wagers``, ``progressives`` and
``hand_bonus``. At each position, all steps are done before the next position is settled.
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
    """Payout of a hand for a wager that feeds no meter.

    Attributes:
        hand: the name of the hand in the paytable.
        times: the multiple of the wager that is paid.
        stake_back: true if the wager is returned in addition to the payout (reading G2).
        sum_cents: a fixed sum that is paid instead of a multiple, in cents; 0 if there is none.
        rule: the subsection of the payout.
        limited: true if the aggregate payout limit covers the payout.
    """

    hand: str
    times: int
    stake_back: bool
    sum_cents: int
    rule: str
    limited: bool = False


@dataclass(frozen=True, slots=True)
class PayoutLimit:
    """Aggregate payout limit of a casino table (reading G6).

    ``limit_cents`` is the highest sum, in cents, of one player's limited payouts in one round.
    ``rule`` is the subsection.
    """

    rule: str
    limit_cents: int


class SettlingStep(Protocol):
    """A step of settlement: one kind of wager, which the dealer settles at each position."""

    def settle(self, turns: "Turns", box: RoundPosition) -> None:
        """Settle this kind of wager at one position."""


def paying_order(positions: Sequence[RoundPosition]) -> list[RoundPosition]:
    """Return the positions in the order in which the dealer pays them (reading G1).

    The dealer begins on the right, with the highest position number.
    """
    return sorted(positions, key=lambda box: box.position, reverse=True)


class Turns:
    """State of a round while it is settled.

    ``takes`` are the percentages that the round wins from meters. ``divided_take`` is None until a
    jackpot on the dealer's hand is won. Then it is the index of this jackpot in ``takes``.
    ``had_share`` are the players who have received their share of that jackpot (reading T17).
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
        """Return whether a position's hand stays on the table and is turned up (reading T8)."""
        return box.shows_cards(self._survivors)

    def bettors(self, wager: str) -> list[RoundPosition]:
        """Return the positions that made a wager, in paying order."""
        found = self._bettors.get(wager)
        if found is None:
            found = self._bettors[wager] = [box for box in self.boxes if wager in box.wagers]
        return found

    def hand(self, judge: Judge, cards: CardsOf, box: RoundPosition) -> str:
        """Return the name, in its ranking, of the hand that decides a wager at a position.

        Raises:
            RoundError: cards are missing, because ``check_cards`` did not check the round.
        """
        key = (judge, cards, 0 if cards == "dealer_and_community" else box.position)
        hand = self._hands.get(key)
        if hand is None:
            hand = self._hands[key] = judge(self.cards(cards, box))
        return hand

    def cards(self, cards: CardsOf, box: RoundPosition) -> tuple[Card, ...]:
        """Return the cards that decide a wager at a position.

        Raises:
            RoundError: cards are missing, because ``check_cards`` did not check the round.
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
        """Return the dealer's hand."""
        if self.played.dealer is None:
            raise RoundError("cards_missing", "the dealer's hand is missing", "dealer")
        return self.played.dealer

    def community(self) -> tuple[Card, ...]:
        """Return the two community cards."""
        if self.played.community is None:
            raise RoundError("community_missing", "the community cards are missing", "community")
        return self.played.community

    def fourth_card(self, box: RoundPosition) -> Card:
        """Return the fourth card that a position has for the Pair Bonus (reading P5).

        If the table has dealt one community card for all Pair Bonuses, return that card. If not,
        return the position's own card.
        """
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
        """Pay a wager or a bonus of a position, according to a row of its paytable.

        If the payout limit covers the row, the payout is limited to what remains of the player's
        limit. If the item is a wager, the row can also return this wager. A bonus that is not a
        wager has no stake to return (reading G2).
        """
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
        """Return a wager of a position to the player."""
        self._settle(box, wager, Outcome.RETURNED, rule, hand)

    def collect(self, box: RoundPosition, wager: str, rule: str, hand: str | None = None) -> None:
        """Collect a wager of a position."""
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
    """Return the cards of a hand that stays on the table.

    Raises:
        RoundError: the position has no cards.
    """
    if box.cards is None:
        message = f"the hand of position {box.position} must be turned up, but has no cards"
        raise RoundError("cards_missing", message)
    return box.cards
