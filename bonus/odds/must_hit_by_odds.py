"""The odds of a must-hit-by meter: of the next wager, and in the long run.

A hidden value is the highest of a fixed number of random numbers, each equally probable everywhere
between the meter's amount at the beginning of a cycle and the maximum. So the chance that the value
is not above an amount is a power: with two numbers, half of the way has a quarter of the values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from bonus.wagers import MICROS_PER_CENT

_BPS_OF_ALL: Final = 10_000

Distribution = Literal["uniform", "rising"]
HIGHEST_OF: Final[Mapping[Distribution, int]] = {"uniform": 1, "rising": 2}
"""How many random numbers are drawn, of which the highest is the hidden value."""


@dataclass(frozen=True, slots=True)
class MustHitByOdds:
    """The odds of a must-hit-by meter with a minimum and a maximum in cents.

    `primary_bps` is the part of each wager that feeds the meter, in basis points. The odds are for
    a cycle that begins with the minimum.
    """

    minimum_cents: int
    maximum_cents: int
    primary_bps: int
    distribution: Distribution = "uniform"

    def chance(self, wager_cents: int, amount_micros: int) -> Fraction:
        """Return the probability that the next wager wins, with `amount_micros` on the meter.

        >>> MustHitByOdds(50_000, 100_000, 100).chance(500, 999_950_000)
        Fraction(1, 1)
        >>> MustHitByOdds(50_000, 100_000, 100).chance(100, 500_000_000)
        Fraction(1, 50000)
        >>> MustHitByOdds(50_000, 100_000, 100, "rising").chance(100, 500_000_000)
        Fraction(1, 2500000000)
        """
        power = HIGHEST_OF[self.distribution]
        all_micros = self._way_cents * MICROS_PER_CENT
        done_micros = amount_micros - self.minimum_cents * MICROS_PER_CENT
        then_micros = min(all_micros, done_micros + wager_cents * self.primary_bps)
        before = done_micros**power
        return Fraction(then_micros**power - before, all_micros**power - before)

    @property
    def mean_win_cents(self) -> Fraction:
        """The average win: for a uniform distribution, the middle between minimum and maximum.

        What the winning wager has over begins the next cycle. So the true average is higher, by at
        most half the contribution of one wager.

        >>> MustHitByOdds(50_000, 100_000, 100).mean_win_cents
        Fraction(75000, 1)
        """
        return self.minimum_cents + self._mean_way_cents

    def wagers_per_win(self, wager_cents: int) -> Fraction:
        """Return the average number of wagers of one amount in a cycle."""
        return self._mean_way_cents * _BPS_OF_ALL / (wager_cents * self.primary_bps)

    @property
    def return_of_wager(self) -> Fraction:
        """The part of each wager that the meter gives back in the long run.

        A cycle pays the average win, and wagers contribute what the house did not: the win without
        the minimum. So the meter gives back more than it takes, by the minimum of each cycle.

        >>> MustHitByOdds(50_000, 100_000, 100).return_of_wager
        Fraction(3, 100)
        """
        return Fraction(self.primary_bps, _BPS_OF_ALL) * self.mean_win_cents / self._mean_way_cents

    @property
    def _way_cents(self) -> int:
        return self.maximum_cents - self.minimum_cents

    @property
    def _mean_way_cents(self) -> Fraction:
        power = HIGHEST_OF[self.distribution]
        return Fraction(self._way_cents * power, power + 1)
