"""The main games settled directly from the text, to compare the odds with."""

from collections.abc import Mapping, Sequence
from random import Random

from bonus.cards import DECK, Card
from bonus.hands.four import best_four
from bonus.hands.three import dealer_qualifies, three_card

PLAY_679A = {
    "mini_royal_spades": 10, "mini_royal": 10, "straight_flush": 6, "three_of_a_kind": 5,
    "straight": 2,
}  # fmt: skip
WIN_682A = {"four_of_a_kind": 25, "straight_flush": 20, "three_of_a_kind": 2}


def deal(random: Random, *sizes: int) -> list[list[Card]]:
    """Return hands of some numbers of cards, from one deck."""
    cards = random.sample(DECK, sum(sizes))
    hands = []
    for size in sizes:
        hands.append(cards[:size])
        cards = cards[size:]
    return hands


def net_649a(player: Sequence[Card], dealer: Sequence[Card], bonus: Mapping[str, int]) -> int:
    """Return the gain of a played Ante of 1 (649a.11(c)(3), 649a.12(a), (b))."""
    hand, strength = three_card(player)
    extra = bonus.get(hand.value, 0)
    against = three_card(dealer)[1]
    if not dealer_qualifies(dealer):
        return 1 + extra
    if strength == against:
        return extra
    return (2 if strength > against else -2) + extra


def net_679a(player: Sequence[Card], dealer: Sequence[Card], bad_beat: Mapping[str, int]) -> int:
    """Return the gain of a played Ante of 1 (679a.11(c)(3), 679a.12(a)-(c))."""
    hand, strength = three_card(player)
    if not dealer_qualifies(dealer):
        return 1
    if strength >= three_card(dealer)[1]:
        return 1 + PLAY_679A.get(hand.value, 1)
    if hand.value in bad_beat:
        return -1 + bad_beat[hand.value]
    return -2


def net_682a(
    player: Sequence[Card], dealer: Sequence[Card], bad_beat: Mapping[str, int], times: int
) -> int:
    """Return the gain of an Ante of 1 with this raise (682a.11(d)(2), 682a.12(a)-(c))."""
    hand, strength = best_four(player)
    if strength >= best_four(dealer)[1]:
        return 1 + times + WIN_682A.get(hand.value, 0)
    if hand.value in bad_beat:
        return -times + bad_beat[hand.value]
    return -1 - times
