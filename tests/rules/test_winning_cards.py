"""The cards that a floorperson sees ringed are those of the hand that the settlement found."""

from random import Random
from typing import Final

import pytest

from bonus.cards import DECK, card_name
from bonus.law.games import chapter_games
from bonus.settling.winning_cards import winning_cards
from tests.naive.ranking import best_five_card, of_five

GAME: Final = [chapter_games()["three_card_poker"]]
SIX: Final = "five_of_six_progressive"
EXAMPLES: Final = {
    "three cards alone": ("progressive", "Ah Kh Qh", "2c 3d 4h", "Jh Th", "Ah Kh Qh", "Ah Kh Qh"),
    "five of six, the community cards aside": (
        SIX, "Ks Ts 6c", "As Qs Js", "6s 4s", "Ks Ts 6c As Qs Js", "Ks Ts As Qs Js"),
    "the higher straight, not the one with the ace": (
        SIX, "Ah 2c 3d", "4h 5s 6c", "", "Ah 2c 3d 4h 5s 6c", "2c 3d 4h 5s 6c"),
    "the better odd card": (SIX, "9c 9d 9h", "9s 2d Kh", "", "9c 9d 9h 9s 2d Kh", "9c 9d 9h 9s Kh"),
    "the dealer's hand": (
        "five_card_hand_bonus_dealer", "2c 3d 4h", "Ad Kd Qd", "Jd Td", *["Ad Kd Qd Jd Td"] * 2),
    "an Envy Bonus, by the hand that brings it": (
        "five_card_envy", "9c 8c 7c", "2d 3d 4d", "6c 5c", *["9c 8c 7c 6c 5c"] * 2),
    "a bonus that is drawn": ("magic_card", "9c 8c 7c", "2d 3d 4d", "6c 5c", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_cards_of_each_wager(example: str) -> None:
    item, hand, dealer, community, counted, winning = EXAMPLES[example]
    found = winning_cards(
        GAME, item, hand=hand.split(), dealer=dealer.split(), community=community.split()
    )
    assert found.counted == tuple(counted.split())
    assert found.winning == tuple(winning.split())


def test_the_best_five_of_six_are_a_hand_as_high_as_the_six() -> None:
    """The second implementation of the rankings names both."""
    draw = Random(35)
    for _ in range(3_000):
        six = tuple(card_name(card) for card in draw.sample(DECK, 6))
        found = winning_cards(GAME, SIX, hand=six[:3], dealer=six[3:], community=())
        assert found.counted == six
        assert tuple(card for card in six if card in found.winning) == found.winning
        assert of_five(found.winning) == best_five_card(six)
