"""Average return of a Five Card Hand Bonus wager."""

from fractions import Fraction

import pytest

from bonus.law.chapter import chapters
from bonus.law.meter_terms import meter_terms
from bonus.odds.enumerations import Enumerator
from bonus.odds.hand_bonus_return import hand_bonus_return
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of

# 4 royals at the seed of 10,000 for 1, 36 straight flushes at a tenth of it, then the odds.
HANDS = Fraction(4 * 10_000 + 36 * 1_000 + 624 * 500 + 3_744 * 100 + 5_108 * 50, 2_598_960)


def test_the_return_is_what_the_odds_come_to() -> None:
    """The figure of `pitlink check`, which does not count, equals that of `pitlink odds`."""
    chapter = chapters()["three_card_poker"]
    draws = DrawOdds(magic_card_every=24, lucky_every=12, positions=6)
    offers = offers_of(chapter, {"ante_bonus": 5, "pair_plus": 40}, draws)
    offer = next(offer for offer in offers if offer.wager == "five_card_hand_bonus")
    entry = entry_of(offer, Enumerator())
    edge = Fraction(entry.house_edge)
    terms = meter_terms("five_card_hand_bonus", 100)
    back = hand_bonus_return(terms, magic_card_every=24, lucky_every=12, positions=6)
    assert back.at_seed == 1 - edge
    assert entry.long_run is not None
    assert back.long_run == 1 - Fraction(entry.long_run.house_edge)


@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(1)")
@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.parametrize(
    ("magic_card_every", "lucky_every", "draws"),
    [
        (0, 0, Fraction(0)),
        (1, 0, Fraction(5 * 20, 52)),
        (24, 0, Fraction(5 * 20, 52 * 24)),
        (0, 12, Fraction(5, 8 * 12)),
        (24, 12, Fraction(5 * 20, 52 * 24) + Fraction(5, 8 * 12)),
    ],
)
@pytest.mark.parametrize("wager_cents", [1, 100, 500])
def test_draws_add_to_what_the_hands_give_back(
    magic_card_every: int, lucky_every: int, draws: Fraction, wager_cents: int
) -> None:
    back = hand_bonus_return(
        meter_terms("five_card_hand_bonus", wager_cents),
        magic_card_every=magic_card_every,
        lucky_every=lucky_every,
        positions=7,
    )
    assert back.at_seed == HANDS + draws
