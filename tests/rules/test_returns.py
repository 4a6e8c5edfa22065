"""Average return of a Five Card Hand Bonus wager."""

from fractions import Fraction

import pytest

from bonus.law.games import chapters
from bonus.law.meter_terms import hand_bonus_return, meter_terms
from bonus.odds.enumerations import Enumerator
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of

COUNTED = Enumerator()


@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(1)")
@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.parametrize(
    ("magic_card_every", "lucky_every"), [(0, 0), (1, 0), (24, 0), (0, 12), (24, 12)]
)
@pytest.mark.parametrize("wager_cents", [1, 100, 500])
def test_the_return_is_what_the_odds_come_to(
    magic_card_every: int, lucky_every: int, wager_cents: int
) -> None:
    """The figure of `pitlink check`, which does not count, equals that of `pitlink odds`."""
    draws = DrawOdds(magic_card_every, lucky_every, positions=6)
    offers = offers_of(chapters()["three_card_poker"], {"ante_bonus": 5, "pair_plus": 40}, draws)
    offer = next(offer for offer in offers if offer.wager == "five_card_hand_bonus")
    entry = entry_of(offer, COUNTED)
    back = hand_bonus_return(
        meter_terms("five_card_hand_bonus", wager_cents),
        magic_card_every=magic_card_every,
        lucky_every=lucky_every,
        positions=6,
    )
    assert back.at_seed == 1 - Fraction(entry.house_edge)
    assert entry.long_run is not None
    assert back.long_run == 1 - Fraction(entry.long_run.house_edge)
