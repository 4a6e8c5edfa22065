"""The rankings of 649a.6: three-card hands, five-card hands, and the best five of six.

A hand is judged by two counts, how often each rank and how often each suit occurs in it. Each card
has a number in which those counts are kept side by side, so that the sum over a hand's cards holds
them all, and what a sum of ranks means is worked out once and remembered.
"""

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cache
from typing import Final

from bonus.cards import ACE, QUEEN, RANKS, SPADES, SUITS, Card, rank_of, suit_of


class ThreeCardHand(StrEnum):
    """The hands of 649a.6(b), highest first, with those that a paytable may set apart.

    The mini-royals are straight flushes, ace, king and queen of one suit (649a.6(e)). They win or
    tie as such; only payouts tell them apart.
    """

    MINI_ROYAL_SPADES = auto()
    MINI_ROYAL = auto()
    STRAIGHT_FLUSH = auto()
    THREE_OF_A_KIND = auto()
    STRAIGHT = auto()
    FLUSH = auto()
    PAIR = auto()
    HIGH_CARD = auto()


class FiveCardHand(StrEnum):
    """The hands of 649a.6(d), highest first, with the royal of spades set apart for 649a.12(j).

    The last three have no rank there; they are what else five cards may be.
    """

    ROYAL_FLUSH_SPADES = auto()
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


# Three bits a rank hold a count of up to four; above them, four bits a suit hold one of up to six.
_RANK_BITS: Final = 3
_SUIT_BITS: Final = 4
_SUITS_FROM: Final = _RANK_BITS * len(RANKS)
_RANKS_ONLY: Final = (1 << _SUITS_FROM) - 1
_COUNTS: Final = tuple(
    (1 << _RANK_BITS * rank) + (1 << _SUITS_FROM + _SUIT_BITS * suit)
    for rank in range(len(RANKS))
    for suit in range(len(SUITS))
)
# Added to the four suit counts, it carries a count of five or more into the top bit of its four.
_FIVE_CARRIES: Final = 0x3333
_CARRIED: Final = 0x8888

_ORDER: Final = {
    ThreeCardHand.MINI_ROYAL_SPADES: 5,
    ThreeCardHand.MINI_ROYAL: 5,
    ThreeCardHand.STRAIGHT_FLUSH: 5,
    ThreeCardHand.THREE_OF_A_KIND: 4,
    ThreeCardHand.STRAIGHT: 3,
    ThreeCardHand.FLUSH: 2,
    ThreeCardHand.PAIR: 1,
    ThreeCardHand.HIGH_CARD: 0,
}
_QUEEN_HIGH: Final = QUEEN << 8


def three_card_hand(cards: Sequence[Card]) -> ThreeCardHand:
    """The highest hand of 649a.6(b) that three cards form.

    Raises:
        ValueError: there are not three cards.

    >>> from bonus.cards import parse_card
    >>> three_card_hand([parse_card(name) for name in ("As", "2s", "3s")]).value
    'straight_flush'
    """
    first, second, third = cards
    return _three(_COUNTS[first] + _COUNTS[second] + _COUNTS[third])[0]


def three_card_strength(cards: Sequence[Card]) -> int:
    """A number by which three-card hands compare as 649a.6(b) and (c) have it, ties being equal.

    Pairs compare by the pair before the odd card, and A-2-3 is the lowest straight (reading G4).

    Raises:
        ValueError: there are not three cards.
    """
    first, second, third = cards
    return _three(_COUNTS[first] + _COUNTS[second] + _COUNTS[third])[1]


def dealer_qualifies(cards: Sequence[Card]) -> bool:
    """Whether the dealer's three cards are a queen high or better (649a.11(c)(3)(i)).

    Raises:
        ValueError: there are not three cards.
    """
    return three_card_strength(cards) >= _QUEEN_HIGH


def five_card_hand(cards: Sequence[Card]) -> FiveCardHand:
    """The hand of 649a.6(d) that five cards form; A-2-3-4-5 is a straight (reading G5).

    Raises:
        ValueError: there are not five cards.

    >>> from bonus.cards import parse_card
    >>> five_card_hand([parse_card(name) for name in ("Ah", "2s", "3s", "4d", "5c")]).value
    'straight'
    """
    if len(cards) != 5:
        raise ValueError(f"a five-card hand has five cards, not {len(cards)}")
    return _best_five(cards)


def best_five_of(cards: Sequence[Card]) -> FiveCardHand:
    """The highest hand of 649a.6(d) that five of six cards form (649a.11(c)(9)).

    Raises:
        ValueError: there are not six cards.
    """
    if len(cards) != 6:
        raise ValueError(f"the best five are taken of six cards, not {len(cards)}")
    return _best_five(cards)


def _best_five(cards: Sequence[Card]) -> FiveCardHand:
    total = 0
    for card in cards:
        total += _COUNTS[card]
    carried = (total >> _SUITS_FROM) + _FIVE_CARRIES & _CARRIED
    if not carried:
        return _by_ranks(total & _RANKS_ONLY)
    # Five of one suit are five ranks, so a sixth card can make a pair of them but nothing that
    # would outrank the flush.
    suit = (carried.bit_length() - 1) // _SUIT_BITS
    top = _straight_top(sum(1 << rank_of(card) for card in cards if suit_of(card) == suit), 5)
    if top is None:
        return FiveCardHand.FLUSH
    if top != ACE:
        return FiveCardHand.STRAIGHT_FLUSH
    return FiveCardHand.ROYAL_FLUSH_SPADES if suit == SPADES else FiveCardHand.ROYAL_FLUSH


@cache
def _three(total: int) -> tuple[ThreeCardHand, int]:
    """The hand and the strength of three cards whose counts sum to ``total``."""
    ranks = _ranks_most_first(total)
    top = _straight_top(_mask(ranks), 3)
    suits = total >> _SUITS_FROM
    flush = suits in {3 << _SUIT_BITS * suit for suit in range(len(SUITS))}
    if top == ACE and flush:
        spades = suits == 3 << _SUIT_BITS * SPADES
        hand = ThreeCardHand.MINI_ROYAL_SPADES if spades else ThreeCardHand.MINI_ROYAL
    elif top is not None:
        hand = ThreeCardHand.STRAIGHT_FLUSH if flush else ThreeCardHand.STRAIGHT
    elif flush:
        hand = ThreeCardHand.FLUSH
    else:
        distinct = len(set(ranks))
        hand = (ThreeCardHand.THREE_OF_A_KIND, ThreeCardHand.PAIR, ThreeCardHand.HIGH_CARD)[
            distinct - 1
        ]
    first, second, third = ranks if top is None else (top, 0, 0)
    return hand, _ORDER[hand] << 12 | first << 8 | second << 4 | third


@cache
def _by_ranks(counts: int) -> FiveCardHand:
    """The best five of five or six cards that hold no five of a suit, by the counts of ranks."""
    ranks = _ranks_most_first(counts)
    most, *others = sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)
    second = others[0]
    if most == 4:
        return FiveCardHand.FOUR_OF_A_KIND
    if most == 3 and second >= 2:
        return FiveCardHand.FULL_HOUSE
    if _straight_top(_mask(ranks), 5) is not None:
        return FiveCardHand.STRAIGHT
    if most == 3:
        return FiveCardHand.THREE_OF_A_KIND
    if most == 2:
        return FiveCardHand.TWO_PAIR if second == 2 else FiveCardHand.PAIR
    return FiveCardHand.HIGH_CARD


def _ranks_most_first(counts: int) -> list[int]:
    """The ranks in a sum of counts, each as often as it occurs: most frequent, then highest."""
    found = [(counts >> _RANK_BITS * rank & 7, rank) for rank in range(len(RANKS))]
    return [rank for count, rank in sorted(found, reverse=True) for _ in range(count)]


def _mask(ranks: Sequence[int]) -> int:
    return sum(1 << rank for rank in set(ranks))


def _straight_top(mask: int, length: int) -> int | None:
    """The top rank of the highest run of ``length`` in a mask of ranks, the ace also below the 2.

    None where there is no such run.
    """
    aces_low = mask << 1 | mask >> ACE
    run = (1 << length) - 1
    for top in range(ACE, length - 3, -1):
        if aces_low >> top + 2 - length & run == run:
            return top
    return None
