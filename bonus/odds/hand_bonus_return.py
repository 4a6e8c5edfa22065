"""Average payout of a Five Card Hand Bonus wager, including its draws (reading T19)."""

from fractions import Fraction
from math import comb
from typing import Final

from bonus.hands import FiveCardHand
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


def hand_bonus_return(
    terms: MeterTerms, *, magic_card_every: int, lucky_every: int, positions: int
) -> Fraction:
    """Return the average payout of a Five Card Hand Bonus wager, with the meter at its seed.

    The result is a multiple of the wager.

    Args:
        terms: the terms of the meter.
        magic_card_every: the average number of rounds per Magic Card; 0 for never.
        lucky_every: the average number of rounds per Lucky position; 0 for never.
        positions: the number of positions at the casino table. The Lucky position is one of them or
            the dealer.

    >>> from bonus.law.meter_terms import meter_terms
    >>> terms = meter_terms("five_card_hand_bonus", 100)
    >>> round(float(hand_bonus_return(terms, magic_card_every=1, lucky_every=0, positions=7)), 3)
    2.315
    """
    back = Fraction(0)
    for hand, count in _FIVE_CARD_COUNTS.items():
        row = terms.rows[hand]
        percent = row.percent_of(terms.kind)
        won = Fraction(terms.seed_cents * percent, 100 * terms.wager_cents) + row.for_1
        back += Fraction(count, _DEALS) * won
    if magic_card_every:
        back += Fraction(5 * terms.magic_card_for_1, 52 * magic_card_every)
    if lucky_every:
        back += Fraction(terms.lucky_bonus_for_1, (positions + 1) * lucky_every)
    return back
