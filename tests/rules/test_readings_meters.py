"""What a wager adds to a meter and a win takes off it, below the cent."""

import pytest

from bonus.law.meter_terms import meter_terms
from bonus.rounds import MeterHolding, PercentWon, Round, RoundError
from bonus.settling.settlement import contributions, settle_round, take_off
from bonus.settling.table_rules import meter_rules
from bonus.wagers import MICROS_PER_CENT
from tests.rules.dealing import (
    DEALER,
    DEALER_BONUS,
    FIVE_CARD,
    HAND_BONUS,
    PROGRESSIVE,
    box,
    play,
    terms_at,
    three,
)

RAGS = "2h 5s Jc"
BELOW = "9s 8s 7s"  # a straight flush with the same two community cards
JACK_TEN = "Js Ts"
RULES = meter_rules("three_card_poker")
BONUS = "five_card_hand_bonus"


def cents(amount: int, reserve: int = 0) -> MeterHolding:
    return MeterHolding(amount * MICROS_PER_CENT, reserve * MICROS_PER_CENT)


@pytest.mark.reading("G3")
def test_reading_g3_fractions_of_a_cent_stay_on_the_meter() -> None:
    held = MeterHolding(1_234_567_8901)  # 1,234,567 cents and 8,901 micros
    played = play(
        box(3, BELOW, FIVE_CARD), community=JACK_TEN, held={"five_card_progressive": held}
    )
    assert played.paid("five_card_progressive") == [(3, 123_456)]
    assert played.after["five_card_progressive"] == MeterHolding(
        held.amount_micros - 123_456 * MICROS_PER_CENT
    )
    assert take_off(
        held, PercentWon("five_card_progressive", 100), terms_at()["five_card_progressive"]
    ) == (1_234_567, MeterHolding(1_000_000 * MICROS_PER_CENT + 8_901))


@pytest.mark.reading("T14")
def test_reading_t14_every_wager_adds_to_its_meter_folded_or_not() -> None:
    added = contributions(
        [
            box(1, None, PROGRESSIVE, FIVE_CARD, folded=True),
            box(2, RAGS, PROGRESSIVE, HAND_BONUS, DEALER_BONUS),
            box(3, RAGS),
        ],
        RULES,
        terms_at(),
    )
    assert added == {
        "progressive": cents(28),
        "five_card_progressive": cents(21),
        BONUS: cents(42, 16),
    }


@pytest.mark.reading("T14")
@pytest.mark.section("649a.12(i)(4)")
def test_reading_t14_what_a_wager_adds_is_exact_below_the_cent() -> None:
    terms = {BONUS: meter_terms(BONUS, 1)}
    assert contributions([box(1, RAGS, HAND_BONUS, cents=1)], RULES, terms) == {
        BONUS: MeterHolding(2_100, 800)
    }


def test_a_take_off_another_meter_or_of_nothing_is_refused() -> None:
    terms = terms_at()
    with pytest.raises(ValueError, match="a percentage of progressive by the terms of"):
        take_off(cents(1), PercentWon("progressive", 100), terms[BONUS])
    for percent, shares in ((0, 1), (101, 1), (10, 0)):
        with pytest.raises(ValueError, match="cannot take"):
            PercentWon(BONUS, percent, shares)
    with pytest.raises(ValueError, match="less than nothing"):
        MeterHolding(-1)
    with pytest.raises(ValueError, match="less than nothing"):
        MeterHolding(0, -1)


def test_settling_a_round_that_was_not_checked_raises_rather_than_guesses() -> None:
    for unchecked, words in (
        (Round((box(1, None, PROGRESSIVE),), three(DEALER)), "has no cards"),
        (Round((box(1, RAGS, HAND_BONUS),), three(DEALER)), "community cards are missing"),
    ):
        with pytest.raises(RoundError, match=words):
            settle_round(unchecked, RULES, terms_at())
