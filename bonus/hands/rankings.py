"""The rankings of hands, by the names that the files of the chapters use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from bonus.cards import Card
from bonus.hands.five import FIVE_OF_LEAST, FIVE_OF_MOST, FiveCardHand, best_five
from bonus.hands.four import FourCardHand, best_four
from bonus.hands.optional_hands import (
    AcesHand,
    FivePrimeHand,
    PrimeHand,
    SixCardHand,
    SuperRoyalHand,
    aces_hand,
    aces_hand_best_four,
    five_prime_hand,
    prime_hand,
    six_card_hand,
    super_royal_hand,
)
from bonus.hands.three import ThreeCardHand, three_card, three_card_hand

Result_co = TypeVar("Result_co", covariant=True)


class OfCards(Protocol[Result_co]):
    """Function of cards, and of their counts (``counts_of``) if known."""

    def __call__(self, cards: Sequence[Card], counts: int | None = None, /) -> Result_co: ...

    def __hash__(self) -> int: ...


Judge = OfCards[StrEnum]

Compare = OfCards[tuple[StrEnum, int]]
"""Function that returns a hand and its strength: the higher wins, equal strengths tie."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hands that cards can form, the highest first.

    ``tops`` can be in the first row of a paytable: several, because it need not list the royals
    separately. ``cards`` are the numbers of cards that the ranking can judge.
    """

    hands: tuple[StrEnum, ...]
    tops: frozenset[StrEnum]
    cards: frozenset[int]
    of: Judge

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(hand.value for hand in self.hands)


def _four_card_hand(cards: Sequence[Card], counts: int | None = None) -> FourCardHand:
    return best_four(cards, counts)[0]


def _ranking(hands: type[StrEnum], tops: int, cards: set[int], of: Judge) -> Ranking:
    return Ranking(tuple(hands), frozenset(tuple(hands)[:tops]), frozenset(cards), of)


COMPARES: Final[Mapping[str, Compare]] = MappingProxyType(
    {"three_card": three_card, "four_card": best_four}
)
"""The rankings that compare a player's hand with the dealer's hand."""

RANKINGS: Final[Mapping[str, Ranking]] = MappingProxyType(
    {
        "three_card": _ranking(ThreeCardHand, 3, {3}, three_card_hand),
        "four_card": _ranking(FourCardHand, 1, {5, 6}, _four_card_hand),
        "five_card": _ranking(
            FiveCardHand, 2, {*range(FIVE_OF_LEAST, FIVE_OF_MOST + 1)}, best_five
        ),
        "six_card": Ranking(
            tuple(SixCardHand),
            frozenset({SixCardHand.SIX_CARD_ROYAL_DIAMONDS, SixCardHand.ROYAL_FLUSH}),
            frozenset({6}),
            six_card_hand,
        ),
        "super_royal": Ranking(
            tuple(SuperRoyalHand),
            frozenset({SuperRoyalHand.SUPER_ROYAL_DIAMONDS, SuperRoyalHand.ROYAL_FLUSH}),
            frozenset({6}),
            super_royal_hand,
        ),
        "aces": _ranking(AcesHand, 1, {5}, aces_hand),
        "aces_best_four": _ranking(AcesHand, 1, {5}, aces_hand_best_four),
        "prime": _ranking(PrimeHand, 1, {6}, prime_hand),
        "five_prime": _ranking(FivePrimeHand, 1, {5}, five_prime_hand),
    }
)
