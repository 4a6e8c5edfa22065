"""Average payout of a Five Card Hand Bonus wager, including its draws (reading T19)."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

from bonus.hands.five import FiveCardHand
from bonus.law.meter_terms import MeterTerms

_DEALS: Final = comb(52, 5)
_FIVE_CARD_COUNTS: Final = {
    FiveCardHand.ROYAL_FLUSH_SPADES: 1,
    FiveCardHand.ROYAL_FLUSH: 3,
    FiveCardHand.STRAIGHT_FLUSH: 36,
    FiveCardHand.FOUR_OF_A_KIND: 624,
    FiveCardHand.FULL_HOUSE: 3_744,
    FiveCardHand.FLUSH: 5_108,
}
"""Number of deals of each hand that the wager pays, out of all C(52,5) deals."""


@dataclass(frozen=True, slots=True)
class HandBonusReturn:
    """Average payout of a Five Card Hand Bonus wager, in units of the wager.

    In the long run, players also win the contributions (``bonus.odds.hand_payouts``).
    """

    at_seed: Fraction
    long_run: Fraction

    @property
    def problem(self) -> str:
        """Text if players win more than they wager; empty otherwise.

        >>> HandBonusReturn(Fraction(9, 10), Fraction(1081, 1000)).problem
        'which gives back 108.1% in the long run: the house loses'
        """
        for back, when in ((self.at_seed, "at the seed"), (self.long_run, "in the long run")):
            if back > 1:
                return f"which gives back {tenths_text(back)} {when}: the house loses"
        return ""


def tenths_text(back: Fraction) -> str:
    """Return a fraction of a wager as a percentage, cut off after a tenth."""
    tenths = back * 1000 // 1
    return f"{tenths // 10}.{tenths % 10}%"


def hand_bonus_return(
    terms: MeterTerms, *, magic_card_every: int, lucky_every: int, positions: int
) -> HandBonusReturn:
    """Return the average payout of a Five Card Hand Bonus wager.

    The draws are given as the average number of rounds per draw, 0 for never. The Lucky position is
    one of ``positions`` or the dealer.

    >>> from bonus.law.meter_terms import meter_terms
    >>> terms = meter_terms("five_card_hand_bonus", 100)
    >>> back = hand_bonus_return(terms, magic_card_every=1, lucky_every=0, positions=7)
    >>> round(float(back.at_seed), 3), round(float(back.long_run), 3)
    (2.315, 2.575)
    """
    fixed, at_seed, reseeds = Fraction(0), Fraction(0), Fraction(0)
    for hand, count in _FIVE_CARD_COUNTS.items():
        row = terms.rows[hand]
        percent = row.percent_of(terms.kind)
        fixed += Fraction(count * row.for_1, _DEALS)
        at_seed += Fraction(count * terms.seed_cents * percent, _DEALS * 100 * terms.wager_cents)
        if percent == 100:
            reseeds += Fraction(count * terms.reseed_cents, _DEALS * terms.wager_cents)
    if magic_card_every:
        fixed += Fraction(5 * terms.magic_card_for_1, 52 * magic_card_every)
    if lucky_every:
        fixed += Fraction(terms.lucky_bonus_for_1, (positions + 1) * lucky_every)
    added = Fraction(terms.primary_bps + terms.reserve_bps, 10_000)
    return HandBonusReturn(at_seed=fixed + at_seed, long_run=fixed + added + reseeds)
