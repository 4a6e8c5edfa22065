"""The house edge in the long run, of a wager that feeds meters.

Every micro that a wager adds to a meter or its reserve is won by a player some day: what rounding
to the cent leaves stays on the meter. So these rates cost the house as much as payouts at odds do.
A win of the whole meter costs it the reseed. The seed is paid once, and counts for nothing over
many wagers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bonus.law.cells import Payout, Percent, read_rate_bps, read_seed
from bonus.law.paytables import Rates
from bonus.odds.hand_payouts import PaidHand
from bonus.odds.odds_entries import LongRun, decimal, exact

_BPS = 10_000


def long_run(
    fixed_return: Fraction,
    hands: Sequence[PaidHand],
    of: int,
    rates: Mapping[str, Rates],
    *,
    shares: int = 1,
) -> LongRun:
    """Return the house edge in the long run, and its parts.

    ``fixed_return`` is the average payout besides percentages of meters, in units of the wager.
    ``rates`` are by meter; the name is empty if the wager feeds one. ``shares`` is the number of
    players who divide a win of the meter, and so cost one reseed.
    """
    added_bps = sum(
        read_rate_bps(each.primary) + read_rate_bps(each.reserve) for each in rates.values()
    )
    contributions = Fraction(added_bps, _BPS)
    reseeds = sum(
        (
            chance_of(hands, of, meter, 100) * read_seed(each.reseed) / shares
            for meter, each in rates.items()
        ),
        Fraction(0),
    )
    edge = 1 - fixed_return - contributions - reseeds
    return LongRun(
        house_edge=exact(edge),
        house_edge_decimal=decimal(edge),
        fixed_return=exact(fixed_return),
        contributions=exact(contributions),
        reseeds=exact(reseeds),
    )


def chance_of(hands: Sequence[PaidHand], of: int, meter: str, least: Percent) -> Fraction:
    """Return the probability that a wager wins ``least`` percent of a meter, or more."""
    deals = sum(hand.deals for hand in hands if percent_of(hand.payout, meter) >= least)
    return Fraction(deals, of)


def percent_of(payout: Payout, meter: str) -> Percent:
    """Return the percentage of a meter in a payout; the name of a wager's only meter is empty."""
    if not meter:
        return payout.percent
    return next((percent for name, percent in payout.percents if name == meter), 0)
