"""The odds of a must-hit-by meter, by enumeration and by a simulation that shares no code."""

import random
from fractions import Fraction
from typing import Final

import pytest

from bonus.odds.must_hit_by_odds import Distribution, MustHitByOdds
from bonus.wagers import MICROS_PER_CENT

ODDS: Final = MustHitByOdds(minimum_cents=50, maximum_cents=100, primary_bps=100)


@pytest.mark.parametrize("room", [1, 99, 100, 101, 12_345])
def test_the_chance_of_a_wager_is_that_of_an_enumeration(room: int) -> None:
    """Of all hidden values above the meter's amount, those that the contribution reaches win."""
    wager_cents = 1
    added, amount = wager_cents * 100, 100 * MICROS_PER_CENT - room
    values = range(amount + 1, amount + room + 1)
    reached = sum(value <= amount + added for value in values)
    assert ODDS.chance(wager_cents, amount) == Fraction(reached, room)


@pytest.mark.parametrize("done", [0, 1, 50, 98])
def test_the_chance_of_the_higher_of_two_is_that_of_an_enumeration(done: int) -> None:
    """All pairs of 100 equally probable places between minimum and maximum are counted."""
    odds = MustHitByOdds(50, 51, 1, "rising")
    place, amount = MICROS_PER_CENT // 100, 50 * MICROS_PER_CENT
    highest = [max(one, other) for one in range(1, 101) for other in range(1, 101)]
    above = sum(value > done for value in highest)
    reached = sum(done < value <= done + 3 for value in highest)
    assert odds.chance(3 * place, amount + done * place) == Fraction(reached, above)


@pytest.mark.parametrize(("distribution", "numbers"), [("uniform", 1), ("rising", 2)])
def test_a_simulation_of_cycles_agrees_with_the_average_and_the_return(
    distribution: Distribution, numbers: int
) -> None:
    """With its own arithmetic in dollars: 4,000 wins of a $500 to $1,000 meter at 1 %."""
    dice = random.Random(38)

    def draw(start: float) -> float:
        return max(dice.uniform(start, 1000) for _ in range(numbers))

    added, meter, hidden = 0.05, 500.0, draw(500)
    wagers, wins, paid = 0, 0, 0.0
    while wins < 4_000:
        # All wagers of $5 until the next win at once.
        needed = -((meter - hidden) // added)
        wagers, meter = wagers + int(needed), meter + needed * added
        paid, wins = paid + hidden, wins + 1
        meter = 500 + meter - hidden
        hidden = draw(meter)
    odds = MustHitByOdds(50_000, 100_000, 100, distribution)
    assert paid / wins == pytest.approx(float(odds.mean_win_cents) / 100, rel=0.02)
    assert wagers / wins == pytest.approx(float(odds.wagers_per_win(500)), rel=0.04)
    assert paid / (5 * wagers) == pytest.approx(float(odds.return_of_wager), rel=0.03)


def test_the_last_wager_before_the_maximum_is_certain_to_win() -> None:
    assert ODDS.chance(500, 100 * MICROS_PER_CENT - 1) == 1
