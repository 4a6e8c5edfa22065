"""The rankings of hands by their names in chapter files, and the hands of optional wagers.

In the rankings ``six_card`` and ``super_royal``, the best five cards decide. But six cards of one
suit from the nine to the ace are a hand of their own: a Super Royal in 649a.6(d)(8), a six-card
royal flush in 679a.6(d)(1) and 682a.6(e)(1). The law does not clearly say if all five cards or the
best four of them decide the Aces Bonus (682a.6(d), reading F12), so each casino table chooses. The
Prime Wager is on the colors of the cards: 679a.11(d)(1), 682a.11(e)(1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from bonus.cards import ACE, Card, suit_of
from bonus.hands.counts import (
    RANK_BITS,
    RANKS_ONLY,
    SUIT_BITS,
    SUITS_FROM,
    counts_of,
    masks_by_count,
    ranks_mask,
    straight_top,
    suit_with,
    suited_mask,
)
from bonus.hands.five import (
    FIVE_OF_LEAST,
    FIVE_OF_MOST,
    FiveCardHand,
    best_five,
    best_five_of,
    five_card,
)
from bonus.hands.four import FourCardHand, best_four
from bonus.hands.pai_gow import PAI_GOW_CARDS, PaiGowHand, pai_gow_hand
from bonus.hands.three import ThreeCardHand, three_card, three_card_hand

_DIAMONDS: Final = 1
_NINE_TO_ACE: Final = sum(1 << RANK_BITS * rank for rank in range(ACE - 5, ACE + 1))


class SixCardHand(StrEnum):
    """The hands of 679a.6(d) and 682a.6(e), the highest first, then hands the law does not name."""

    SIX_CARD_ROYAL_DIAMONDS = auto()
    SIX_CARD_ROYAL = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    FOUR_OF_A_KIND = auto()
    FULL_HOUSE = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    THREE_OF_A_KIND = auto()
    TWO_PAIR = auto()
    PAIR = auto()
    HIGH_CARD = auto()


class SuperRoyalHand(StrEnum):
    """The hands of the Six Card Bonus, the highest first (649a.12(f), reading T5)."""

    SUPER_ROYAL_DIAMONDS = auto()
    SUPER_ROYAL = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    FOUR_OF_A_KIND = auto()
    FULL_HOUSE = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    THREE_OF_A_KIND = auto()
    TWO_PAIR = auto()
    PAIR = auto()
    HIGH_CARD = auto()


_ROYALS: Final = frozenset({FiveCardHand.ROYAL_FLUSH_SPADES, FiveCardHand.ROYAL_FLUSH})
_SIX: Final[Mapping[FiveCardHand, SixCardHand]] = {
    hand: SixCardHand.ROYAL_FLUSH if hand in _ROYALS else SixCardHand(hand.value)
    for hand in FiveCardHand
}
_SUPER: Final = dict(zip(SixCardHand, SuperRoyalHand, strict=True))


def six_card_hand(cards: Sequence[Card], counts: int | None = None) -> SixCardHand:
    hand = best_five_of(cards, counts)
    suit = suit_of(cards[0])
    if hand in _ROYALS and suited_mask(cards, suit) == _NINE_TO_ACE:
        diamonds = suit == _DIAMONDS
        return SixCardHand.SIX_CARD_ROYAL_DIAMONDS if diamonds else SixCardHand.SIX_CARD_ROYAL
    return _SIX[hand]


def super_royal_hand(cards: Sequence[Card], counts: int | None = None) -> SuperRoyalHand:
    """Return the highest hand of 649a.6(d) that six cards form.

    Paytable E of the Six Card Bonus pays the Super Royal of diamonds separately.
    """
    return _SUPER[six_card_hand(cards, counts)]


_ACES: Final = 1 << RANK_BITS * ACE


class AcesHand(StrEnum):
    """The hands in the order of 682a.6(d) (reading F7); ``OTHER`` is not paid."""

    FOUR_ACES = auto()
    FOUR_OF_A_KIND = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    THREE_ACES = auto()
    THREE_OF_A_KIND = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    TWO_PAIR = auto()
    TWO_ACES = auto()
    OTHER = auto()


def aces_hand(cards: Sequence[Card], counts: int | None = None) -> AcesHand:
    """Return the highest hand of the Aces Bonus that five cards form (682a.6(d)).

    A flush or a straight needs all five cards. A full house counts as three of a kind (reading F5).
    """
    return _judge(cards, counts, 5)


def aces_hand_best_four(cards: Sequence[Card], counts: int | None = None) -> AcesHand:
    """Return the highest hand of the Aces Bonus that any four of five cards form (reading F12)."""
    return _judge(cards, counts, 4)


def _judge(cards: Sequence[Card], counts: int | None, length: int) -> AcesHand:
    if len(cards) != 5:
        raise ValueError(f"the Aces Bonus is on five cards, not {len(cards)}")
    if counts is None:
        counts = counts_of(cards)
    suit = suit_with(counts, length)
    if suit is None:
        return _by_ranks(counts & RANKS_ONLY, length)
    # If four or five cards have one suit, the five cards contain at most a pair. All unsuited hands
    # above a flush need three cards of one rank. So only a suited hand can be higher than a flush.
    top = straight_top(suited_mask(cards, suit), length)
    if top is None:
        return AcesHand.FLUSH
    return AcesHand.ROYAL_FLUSH if top == ACE else AcesHand.STRAIGHT_FLUSH


@cache
def _by_ranks(counts: int, length: int) -> AcesHand:
    fours, threes, pairs, _ = masks_by_count(counts)
    if fours:
        return AcesHand.FOUR_ACES if fours == _ACES else AcesHand.FOUR_OF_A_KIND
    if threes:
        return AcesHand.THREE_ACES if threes == _ACES else AcesHand.THREE_OF_A_KIND
    if straight_top(ranks_mask(counts), length) is not None:
        return AcesHand.STRAIGHT
    if pairs.bit_count() == 2:
        return AcesHand.TWO_PAIR
    return AcesHand.TWO_ACES if pairs == _ACES else AcesHand.OTHER


# The suits 1 and 2 are diamonds and hearts.
_RED: Final = tuple(card & 3 in {1, 2} for card in range(52))


class PrimeHand(StrEnum):
    """The results of the Prime Wager of chapter 679a, the highest first (reading P4)."""

    SAME_COLOR_PLAYER_AND_DEALER = auto()
    SAME_COLOR_PLAYER = auto()
    MIXED = auto()


class FivePrimeHand(StrEnum):
    """The results of the Prime Wager of chapter 682a, the highest first (reading F6)."""

    ALL_FIVE_SAME_COLOR = auto()
    FOUR_SAME_COLOR = auto()
    MIXED = auto()


_FIELD: Final = (1 << SUIT_BITS) - 1
_DIAMONDS_FROM: Final = SUITS_FROM + SUIT_BITS
_HEARTS_FROM: Final = _DIAMONDS_FROM + SUIT_BITS
_BY_RED: Final = (
    FivePrimeHand.ALL_FIVE_SAME_COLOR,
    FivePrimeHand.FOUR_SAME_COLOR,
    FivePrimeHand.MIXED,
    FivePrimeHand.MIXED,
    FivePrimeHand.FOUR_SAME_COLOR,
    FivePrimeHand.ALL_FIVE_SAME_COLOR,
)


def prime_hand(cards: Sequence[Card], _counts: int | None = None) -> PrimeHand:
    """Return the result for six cards: the player's three cards, then the dealer's.

    Counts of cards do not say who has which card, so they are not used.
    """
    if len(cards) != 6:
        raise ValueError(
            "the Prime Wager is on the player's three cards and the dealer's three, not on"
            f" {len(cards)} cards"
        )
    first, second, third, *dealers = cards
    red = _RED[first]
    if _RED[second] is not red or _RED[third] is not red:
        return PrimeHand.MIXED
    both = all(_RED[card] is red for card in dealers)
    return PrimeHand.SAME_COLOR_PLAYER_AND_DEALER if both else PrimeHand.SAME_COLOR_PLAYER


def five_prime_hand(cards: Sequence[Card], counts: int | None = None) -> FivePrimeHand:
    if len(cards) != 5:
        raise ValueError(f"the Prime Wager is on five cards, not {len(cards)}")
    if counts is None:
        counts = counts_of(cards)
    return _BY_RED[(counts >> _DIAMONDS_FROM & _FIELD) + (counts >> _HEARTS_FROM & _FIELD)]


Result_co = TypeVar("Result_co", covariant=True)


class OfCards(Protocol[Result_co]):
    """Function of cards. To save time, a caller can pass ``counts_of(cards)`` as ``counts``."""

    def __call__(self, cards: Sequence[Card], counts: int | None = None, /) -> Result_co: ...

    def __hash__(self) -> int: ...


Judge = OfCards[str]

Compare = OfCards[tuple[StrEnum, int]]
"""Function that returns a hand and its strength. The higher strength wins; equal strengths tie."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hands that cards can form, the highest first.

    ``tops`` are the hands with which a paytable can begin: several, because a paytable need not
    list the royals separately. ``cards`` are the possible numbers of cards. If the hands are not
    ``ordered``, a paytable lists any of them, and pays nothing for the others.
    """

    names: tuple[str, ...]
    tops: frozenset[str]
    cards: frozenset[int]
    of: Judge
    ordered: bool = True

    def from_highest(self, lowest: str) -> frozenset[str]:
        """Return the hands from the highest down to ``lowest``."""
        return frozenset(self.names[: self.names.index(lowest) + 1])


def _four_card_hand(cards: Sequence[Card], counts: int | None = None) -> FourCardHand:
    return best_four(cards, counts)[0]


def _ranking(hands: type[StrEnum], tops: int, cards: set[int], of: Judge) -> Ranking:
    names = _names(hands)
    return Ranking(names, frozenset(names[:tops]), frozenset(cards), of)


def _names(hands: type[StrEnum]) -> tuple[str, ...]:
    return tuple(hand.value for hand in hands)


COMPARES: Final[Mapping[str, Compare]] = MappingProxyType(
    {"three_card": three_card, "four_card": best_four}
)
"""The rankings that compare a player's hand with the dealer's hand in the main game."""

STRENGTHS: Final[Mapping[str, Compare]] = MappingProxyType({**COMPARES, "five_card": five_card})
"""The rankings that say, of any two hands, which is higher: a bad beat needs one of them."""

PAI_GOW: Final = "pai_gow"
"""The only ranking of hands from a deck with a joker."""

RANKINGS: Final[Mapping[str, Ranking]] = MappingProxyType(
    {
        "three_card": _ranking(ThreeCardHand, 3, {3}, three_card_hand),
        "four_card": _ranking(FourCardHand, 1, {5, 6}, _four_card_hand),
        "five_card": _ranking(
            FiveCardHand, 2, {*range(FIVE_OF_LEAST, FIVE_OF_MOST + 1)}, best_five
        ),
        "six_card": Ranking(
            _names(SixCardHand),
            frozenset({SixCardHand.SIX_CARD_ROYAL_DIAMONDS, SixCardHand.ROYAL_FLUSH}),
            frozenset({6}),
            six_card_hand,
        ),
        "super_royal": Ranking(
            _names(SuperRoyalHand),
            frozenset({SuperRoyalHand.SUPER_ROYAL_DIAMONDS, SuperRoyalHand.ROYAL_FLUSH}),
            frozenset({6}),
            super_royal_hand,
        ),
        "aces": _ranking(AcesHand, 1, {5}, aces_hand),
        "aces_best_four": _ranking(AcesHand, 1, {5}, aces_hand_best_four),
        "prime": _ranking(PrimeHand, 1, {6}, prime_hand),
        "five_prime": _ranking(FivePrimeHand, 1, {5}, five_prime_hand),
        PAI_GOW: _ranking(PaiGowHand, 1, {PAI_GOW_CARDS}, pai_gow_hand),
    }
)
