"""Exact numbers of a submission: fractions, percentages, and texts such as ``1 in 22,100``."""

from fractions import Fraction

from bonus.odds.odds_entries import exact
from meters.odds.tables import percent
from meters.submission.contents import ExactChance, ExactShare

NEVER = "never"


def share_of(number: Fraction | str) -> ExactShare:
    value = Fraction(number)
    return ExactShare(exact=exact(value), percent=percent(value))


def chance_of(number: Fraction | str) -> ExactChance:
    value = Fraction(number)
    return ExactChance(exact=exact(value), one_in=one_in(value))


def one_in(chance: Fraction) -> str:
    """Return a probability as text. If the reciprocal is not whole, it has two decimals.

    >>> one_in(Fraction(1, 22_100)), one_in(Fraction(3, 8)), one_in(Fraction(0))
    ('1 in 22,100', '1 in 2.67', 'never')
    """
    if chance == 0:
        return NEVER
    if chance.numerator == 1:
        return f"1 in {chance.denominator:,}"
    hundredths = round(100 / chance)
    return f"1 in {hundredths // 100:,}.{hundredths % 100:02}"
