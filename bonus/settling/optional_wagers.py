"""Optional wagers with a posted paytable, such as Pair Plus, Six Card Bonus, Prime, Pair Bonus.

649a.11(c)(4) and (6), 679a.11(d), 682a.11(e).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bonus.cards import rank_of
from bonus.law.chapter_file import CardsOf
from bonus.settling.payouts import Judge, PayRow, Turns
from bonus.settling.rounds import RoundPosition
from bonus.wagers import PaidFrom


@dataclass(frozen=True, slots=True)
class OptionalWager:
    """The step of an optional wager that feeds no meter.

    Attributes:
        wager: the wager.
        judge: the ranking that judges it.
        cards: the cards that are judged.
        names: the paytable's name for each hand.
        rows: the payout of each hand; hands without a payout are not included.
        paid_from: the source of payouts.
        collected: the subsection under which a losing wager is collected.
        forfeited: the subsection under which a fold forfeits it; empty if a fold does not.
        fourth_rank: the rank of a fourth card that changes the payouts, or None.
        fourth_rows: the payouts in that case.
    """

    wager: str
    judge: Judge
    cards: CardsOf
    names: Mapping[str, str]
    rows: Mapping[str, PayRow]
    paid_from: PaidFrom
    collected: str
    forfeited: str
    fourth_rank: int | None = None
    fourth_rows: Mapping[str, PayRow] | None = None

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager at a position; the result of the Ante does not matter."""
        cents = box.wagers.get(self.wager)
        if cents is None:
            return
        if box.folded and self.forfeited:
            turns.collect(box, self.wager, self.forfeited)
            return
        hand = turns.hand(self.judge, self.cards, box)
        row = self._rows(turns, box).get(hand)
        if row is None:
            turns.collect(box, self.wager, self.collected, self.names[hand])
        else:
            turns.pay(box, self.wager, row, self.paid_from, cents, is_wager=True)

    def _rows(self, turns: Turns, box: RoundPosition) -> Mapping[str, PayRow]:
        """Return the payouts; the fourth card only selects them (679a.11(d)(2)(ii), reading P5)."""
        if self.fourth_rows is None or rank_of(turns.fourth_card(box)) != self.fourth_rank:
            return self.rows
        return self.fourth_rows
