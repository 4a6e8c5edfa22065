"""Number of deals of each five-card hand, if the best five of five to nine cards count.

The deals are not formed one by one: of nine cards, there are 3.7 billion. The ranks are added one
after another, and each state of the ranks so far has its number of deals. A state knows the cards
of one suit. The four suits are equal, and nine cards have at most one suit with five cards, so the
deals with a flush are four times those with a flush in this suit.
"""

from collections import Counter
from collections.abc import Mapping
from math import comb
from typing import Final, NamedTuple

from bonus.cards import RANKS, SUITS
from bonus.hands.five import FIVE_OF_LEAST, FIVE_OF_MOST, FiveCardHand
from bonus.odds.hand_counts import Advance, Counts

_FIVE: Final = 5
_OTHER_SUITS: Final = len(SUITS) - 1
_WAYS: Final = tuple(
    (suited, others, comb(_OTHER_SUITS, others))
    for suited in (0, 1)
    for others in range(_OTHER_SUITS + 1)
)
"""The cards that a rank can have: of the suit, of the other suits, and in how many ways."""


class _State(NamedTuple):
    """The ranks so far. A number is not counted further than it matters.

    Attributes:
        fours, threes, pairs: the number of ranks that occur four times, three times and twice; at
            most one, two and two.
        run: the number of consecutive ranks up to the last rank; at most five.
        suited: the number of cards of the suit; at most five.
        suited_run, suited_straight: the same as `run` and `straight`, for the cards of the suit.
    """

    cards: int = 0
    fours: int = 0
    threes: int = 0
    pairs: int = 0
    run: int = 0
    straight: bool = False
    suited: int = 0
    suited_run: int = 0
    suited_straight: bool = False

    def add_rank(self, suited: int, others: int) -> "_State":
        count = suited + others
        run = min(self.run + 1, _FIVE) if count else 0
        suited_run = min(self.suited_run + 1, _FIVE) if suited else 0
        return _State(
            self.cards + count,
            self.fours or int(count == 4),
            min(self.threes + (count == 3), 2),
            min(self.pairs + (count == 2), 2),
            run,
            self.straight or run == _FIVE,
            min(self.suited + suited, _FIVE),
            suited_run,
            self.suited_straight or suited_run == _FIVE,
        )

    def by_ranks(self, *, straight: bool) -> FiveCardHand:
        """Return the best hand without a flush; ``straight`` is true if there is a straight."""
        if self.fours:
            return FiveCardHand.FOUR_OF_A_KIND
        if self.threes == 2 or (self.threes and self.pairs):
            return FiveCardHand.FULL_HOUSE
        if straight:
            return FiveCardHand.STRAIGHT
        if self.threes:
            return FiveCardHand.THREE_OF_A_KIND
        if self.pairs:
            return FiveCardHand.TWO_PAIR if self.pairs == 2 else FiveCardHand.PAIR
        return FiveCardHand.HIGH_CARD


def count_best_five(cards: int, advance: Advance) -> Counts:
    """Return how many deals of some cards have each hand of 649a.6(d) as their best five.

    A hand that does not occur is left out.

    Raises:
        ValueError: there are fewer than five cards, or more than nine.
    """
    if not FIVE_OF_LEAST <= cards <= FIVE_OF_MOST:
        raise ValueError(f"the best five are counted of five to nine cards, not {cards}")
    counts: Counter[FiveCardHand] = Counter()
    # An ace begins a straight below the 2, and ends one above the king. So it is the first rank,
    # and its cards are remembered for the end.
    for suited_ace, other_aces, ways in _WAYS:
        states: Mapping[_State, int] = {_State().add_rank(suited_ace, other_aces): ways}
        for _ in RANKS[:-1]:
            states = _with_next_rank(states, cards)
        advance(len(RANKS))
        for state, deals in states.items():
            if state.cards == cards:
                ace_high = bool(suited_ace or other_aces) and state.run >= _FIVE - 1
                by_ranks = state.by_ranks(straight=state.straight or ace_high)
                counts[by_ranks] += deals
                if state.suited == _FIVE:
                    royal = bool(suited_ace) and state.suited_run >= _FIVE - 1
                    _count_flush(counts, state, by_ranks, deals, royal=royal)
    return {hand.value: counts[hand] for hand in FiveCardHand if counts[hand]}


def steps_of_best_five() -> int:
    return len(_WAYS) * len(RANKS)


def _with_next_rank(states: Mapping[_State, int], cards: int) -> Mapping[_State, int]:
    """Return the states after the next rank, without those that have too many cards."""
    found: Counter[_State] = Counter()
    for state, deals in states.items():
        for suited, others, ways in _WAYS:
            if state.cards + suited + others <= cards:
                found[state.add_rank(suited, others)] += deals * ways
    return found


def _count_flush(
    counts: Counter[FiveCardHand], state: _State, by_ranks: FiveCardHand, deals: int, *, royal: bool
) -> None:
    """Move deals with five cards of the suit from the hand of their ranks to their best hand.

    The same number of deals has a flush in each of the other suits.
    """
    counts[by_ranks] -= len(SUITS) * deals
    if royal:
        counts[FiveCardHand.ROYAL_FLUSH_SPADES] += deals
        counts[FiveCardHand.ROYAL_FLUSH] += _OTHER_SUITS * deals
    elif state.suited_straight:
        counts[FiveCardHand.STRAIGHT_FLUSH] += len(SUITS) * deals
    elif by_ranks in {FiveCardHand.FOUR_OF_A_KIND, FiveCardHand.FULL_HOUSE}:
        counts[by_ranks] += len(SUITS) * deals
    else:
        counts[FiveCardHand.FLUSH] += len(SUITS) * deals
