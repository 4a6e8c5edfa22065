"""Four-card hands of 682a.6: their order, and the best four of five and of six cards."""

from collections import Counter
from collections.abc import Sequence
from functools import cmp_to_key
from itertools import combinations, pairwise
from random import Random

import pytest

from bonus.cards import DECK, Card, card_name, rank_of, suit_of
from bonus.hands import FourCardHand, best_four

STRAIGHTS = ([12, 0, 1, 2], *([low, low + 1, low + 2, low + 3] for low in range(10)))
"""The straights of 682a.6(b)(5), lowest first."""


def straight_place(hand: Sequence[Card]) -> int | None:
    ranks = {rank_of(card) for card in hand}
    return next((place for place, one in enumerate(STRAIGHTS) if ranks == {*one}), None)


def plain_hand(hand: Sequence[Card]) -> FourCardHand:
    """Rank a hand by the definitions of 682a.6(b), one after the other."""
    shape = sorted(Counter(rank_of(card) for card in hand).values(), reverse=True)
    straight = straight_place(hand) is not None
    flush = len({suit_of(card) for card in hand}) == 1
    definitions = {
        FourCardHand.FOUR_OF_A_KIND: shape == [4],
        FourCardHand.STRAIGHT_FLUSH: straight and flush,
        FourCardHand.THREE_OF_A_KIND: shape == [3, 1],
        FourCardHand.FLUSH: flush,
        FourCardHand.STRAIGHT: straight,
        FourCardHand.TWO_PAIR: shape == [2, 2],
        FourCardHand.PAIR: shape == [2, 1, 1],
        FourCardHand.HIGH_CARD: True,
    }
    return next(name for name, holds in definitions.items() if holds)


def highest_not_shared(one: Sequence[Card], other: Sequence[Card]) -> int:
    """Compare by 682a.6(c): above zero if ``one`` has the highest card not in the other."""
    ours, theirs = {rank_of(card) for card in one}, {rank_of(card) for card in other}
    return max(ours - theirs, default=-1) - max(theirs - ours, default=-1)


def repeated(hand: Sequence[Card]) -> list[int]:
    """Return the ranks that occur at least twice, highest first."""
    counts = Counter(rank_of(card) for card in hand)
    return sorted((rank for rank, count in counts.items() if count >= 2), reverse=True)


def plain_comparison(one: Sequence[Card], other: Sequence[Card]) -> int:
    """Return above zero if ``one`` is the higher hand, below if ``other`` is, zero for a tie."""
    name = plain_hand(one)
    if name != plain_hand(other):
        order = list(FourCardHand)
        return order.index(plain_hand(other)) - order.index(name)
    return comparison_within(name, one, other)


def comparison_within(name: FourCardHand, one: Sequence[Card], other: Sequence[Card]) -> int:
    """Compare two hands that both have the kind ``name`` in the same way."""
    if name in {FourCardHand.STRAIGHT_FLUSH, FourCardHand.STRAIGHT}:
        return (straight_place(one) or 0) - (straight_place(other) or 0)
    for ours, theirs in zip(repeated(one), repeated(other), strict=True):
        if ours != theirs:
            return ours - theirs
    return highest_not_shared(one, other)


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


Alike = tuple[tuple[int, ...], bool]


def hands_that_differ() -> dict[Alike, list[tuple[Card, ...]]]:
    """Return all hands in random order, in groups of hands that differ only in their suits."""
    every = list(combinations(DECK, 4))
    Random(682).shuffle(every)
    found: dict[Alike, list[tuple[Card, ...]]] = {}
    for hand in every:
        flush = len({suit_of(card) for card in hand}) == 1
        found.setdefault((tuple(map(rank_of, hand)), flush), []).append(hand)
    return found


@pytest.mark.slow
@pytest.mark.section("682a.6(b)")
@pytest.mark.section("682a.6(c)")
@pytest.mark.reading("G4")
@pytest.mark.reading("F8")
def test_every_two_hands_compare_as_the_plain_judge_compares_them() -> None:
    groups = hands_that_differ().values()
    assert len(groups) == 1_820 + 715
    judged: dict[FourCardHand, list[tuple[tuple[Card, ...], int]]] = {
        name: [] for name in FourCardHand
    }
    for first, *others in groups:
        name, strength = best_four(first)
        assert name == plain_hand(first)
        assert all(best_four(other) == (name, strength) for other in others)
        judged[name].append((first, strength))
    for name, hands in judged.items():
        for (one, ours), (other, theirs) in combinations(hands, 2):
            compared = sign(comparison_within(name, one, other))
            assert sign(ours - theirs) == compared, [*map(card_name, (*one, *other))]
    for higher, lower in pairwise(judged.values()):
        assert min(strength for _, strength in higher) > max(strength for _, strength in lower)


@pytest.mark.section("682a.6(b)")
@pytest.mark.section("682a.6(c)")
@pytest.mark.reading("F8")
@pytest.mark.parametrize("dealt", [5, 6])
@pytest.mark.parametrize("lowest", [0, 5, 8])
@pytest.mark.parametrize("suits", [1, 2, 4])
def test_the_best_four_are_the_highest_of_all_fours(dealt: int, lowest: int, suits: int) -> None:
    """Short decks are tried too, in which rare hands of a whole deck are frequent.

    The three lowest ranks stay in each deck, so that A-2-3-4 is possible.
    """
    rng = Random(f"{dealt} {lowest} {suits}")
    deck = [
        card
        for card in DECK
        if suit_of(card) < suits and (rank_of(card) >= lowest or rank_of(card) < 3)
    ]
    seen = set()
    for _ in range(800):
        hand = rng.sample(deck, dealt)
        highest = max(combinations(hand, 4), key=cmp_to_key(plain_comparison))
        name, strength = best_four(hand)
        assert name == plain_hand(highest), [*map(card_name, hand)]
        assert strength == best_four(highest)[1], [*map(card_name, hand)]
        seen.add(name)
    assert len(seen) >= (2 if suits == 1 else 5)


@pytest.mark.parametrize("count", [0, 3, 7])
def test_a_wrong_number_of_cards_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"not of {count}"):
        best_four(DECK[:count])
