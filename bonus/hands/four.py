"""The four-card hands of 682a.6(b) and (c): the best four of four, five or six cards."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from functools import cache
from itertools import islice
from typing import Final

from bonus.cards import Card
from bonus.hands.counts import (
    COUNTS,
    RANK_BITS,
    RANKS_ONLY,
    masks_by_count,
    ranks_mask,
    ranks_of,
    straight_top,
    suit_with,
    suited_mask,
)


class FourCardHand(StrEnum):
    """The hands of 682a.6(b), the highest first; ``HIGH_CARD`` is any other hand."""

    FOUR_OF_A_KIND = auto()
    STRAIGHT_FLUSH = auto()
    THREE_OF_A_KIND = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    TWO_PAIR = auto()
    PAIR = auto()
    HIGH_CARD = auto()


_ORDER: Final[Mapping[FourCardHand, int]] = {
    hand: order for order, hand in enumerate(reversed(FourCardHand))
}
_SUIT_MIN: Final = 4


def best_four(cards: Sequence[Card], counts: int | None = None) -> tuple[FourCardHand, int]:
    """Return the best hand that four of the cards form, and its strength.

    The higher strength wins. Equal strengths tie: cards outside the best four never decide (reading
    F8). A-2-3-4 is the lowest straight. Three-of-a-kind is higher than a flush, a flush than a
    straight, and a straight than two pairs.

    >>> from bonus.cards import parse_card
    >>> best_four([parse_card(name) for name in ("Ah", "2s", "3s", "4d", "9c")])[0].value
    'straight'
    """
    if not 4 <= len(cards) <= 6:
        raise ValueError(f"the best four are taken from four to six cards, not {len(cards)}")
    if counts is None:
        counts = 0
        for card in cards:
            counts += COUNTS[card]
    best = _by_ranks(counts & RANKS_ONLY)
    suit = suit_with(counts, _SUIT_MIN)
    if suit is None:
        return best
    suited = _by_suited(suited_mask(cards, suit))
    return suited if suited[1] > best[1] else best


@cache
def _by_ranks(counts: int) -> tuple[FourCardHand, int]:
    fours, threes, pairs, ones = masks_by_count(counts)
    if fours:
        return _strength(FourCardHand.FOUR_OF_A_KIND, *ranks_of(fours))
    mask = ranks_mask(counts)
    if threes:
        three = next(ranks_of(threes))
        odd = next(ranks_of(mask ^ 1 << RANK_BITS * three))
        return _strength(FourCardHand.THREE_OF_A_KIND, three, odd)
    top = straight_top(mask, 4)
    if top is not None:
        return _strength(FourCardHand.STRAIGHT, top)
    high = [*islice(ranks_of(pairs), 2)]
    if len(high) == 2:
        return _strength(FourCardHand.TWO_PAIR, *high)
    if high:
        return _strength(FourCardHand.PAIR, *high, *islice(ranks_of(ones), 2))
    return _strength(FourCardHand.HIGH_CARD, *islice(ranks_of(ones), 4))


@cache
def _by_suited(mask: int) -> tuple[FourCardHand, int]:
    top = straight_top(mask, 4)
    if top is not None:
        return _strength(FourCardHand.STRAIGHT_FLUSH, top)
    high = islice(ranks_of(mask), 4)
    return _strength(FourCardHand.FLUSH, *high)


def _strength(hand: FourCardHand, *ranks: int) -> tuple[FourCardHand, int]:
    strength = _ORDER[hand]
    for rank in (*ranks, 0, 0, 0)[:4]:
        strength = strength << 4 | rank
    return hand, strength
