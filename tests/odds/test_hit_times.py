"""The average time between the hits of a meter, for a number of wagers in an hour."""

from fractions import Fraction

import pytest

from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import HitTimes, MeterTimes
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of, with_hit_times
from meters.cli.odds_tables import duration
from tests.games.rounds import GAMES

DEALS = 2_598_960
"""The number of deals of five cards."""


def times_of(game: str, wager: str, wagers_per_hour: int, counted: Enumerator) -> HitTimes:
    offers = offers_of(GAMES[game], {"ante_bonus": 5, "pair_plus": 40}, DrawOdds())
    offer = next(each for each in offers if each.wager == wager)
    assert offer.tables is not None
    times = with_hit_times(entry_of(offer, counted), offer.tables, wagers_per_hour).hit_times
    assert times is not None
    return times


def test_times_of_tiers_follow_from_the_known_numbers_of_deals(counted: Enumerator) -> None:
    """By hand: 1 royal of spades, 3 others, 36 straight flushes, 624 quads, 3,744 full houses."""
    times = times_of("keystone_stud", "keystone_bonus", 600, counted)

    def hours(hands: int) -> str:
        time = Fraction(DEALS, hands * 600)
        return f"{time.numerator}/{time.denominator}"

    assert times.meters == (
        MeterTimes(meter="keystone_mega", hours=hours(4), hours_whole=hours(1)),
        MeterTimes(meter="keystone_major", hours=hours(39), hours_whole=hours(39)),
        MeterTimes(meter="keystone_minor", hours=hours(624 + 3_744), hours_whole=hours(624)),
    )
    assert times.hands == {
        "royal_flush_spades": hours(1), "royal_flush": hours(3), "straight_flush": hours(36),
        "four_of_a_kind": hours(624), "full_house": hours(3_744), "flush": hours(5_108),
        "straight": hours(10_200), "three_of_a_kind": hours(54_912),
    }  # fmt: skip


@pytest.mark.parametrize("wagers_per_hour", [1, 7, 600])
def test_twice_the_wagers_halve_the_times(counted: Enumerator, wagers_per_hour: int) -> None:
    """By hand: of 22,100 hands of three cards, one is the mini-royal of spades."""
    times = times_of("three_card_poker", "progressive", wagers_per_hour, counted)
    (meter,) = times.meters
    assert meter.meter == "progressive"
    assert Fraction(meter.hours_whole) == Fraction(22_100, wagers_per_hour)
    twice = times_of("three_card_poker", "progressive", 2 * wagers_per_hour, counted)
    for hand, hours in times.hands.items():
        assert Fraction(hours) == 2 * Fraction(twice.hands[hand])


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (Fraction(1, 36_000), "1 second"),
        (Fraction(119, 3_600), "119 seconds"),
        (Fraction(2, 60), "2 minutes"),
        (Fraction(2), "2 hours"),
        (Fraction(47), "47 hours"),
        (Fraction(48), "2 days"),
        (Fraction(21 * 24 + 80), "3 weeks"),
        (Fraction(61 * 24), "2 months"),
        (Fraction(8_766 * 1_234), "1,234 years"),
    ],
)
def test_a_time_has_the_longest_unit_that_fits_twice(hours: Fraction, words: str) -> None:
    assert duration(hours) == words
