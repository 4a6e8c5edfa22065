"""Optional wagers that feed no meter, such as Pair Plus, Six Card Bonus, Prime and Pair Bonus.

Each has a posted paytable. They are settled under 649a.11(c)(4) and (6), 679a.11(d), 682a.11(e).
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
    """The step of settlement for an optional wager that feeds no meter.

    Attributes:
        wager: the name of the wager.
        judge: function that returns the hand that cards form.
        cards: the cards that form the hand.
        names: the name of each hand in the paytable.
        rows: the payout of each hand that the paytable pays.
        paid_from: the source of the payouts.
        collected: the subsection under which a losing wager is collected.
        forfeited: the subsection under which a fold forfeits the wager. Empty if a fold does not
            forfeit it.
        fourth_rank: the rank of a fourth card that changes the payouts; None if the payouts do not
            depend on a fourth card.
        fourth_rows: the payouts if the fourth card has the rank ``fourth_rank``; None if
            ``fourth_rank`` is None.
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
        """Settle the wager at a position, whatever the result of the Ante is."""
        cents = box.wagers.get(self.wager)
        if cents is None:
            return
        if box.folded and self.forfeited:
            turns.collect(box, self.wager, self.forfeited)
            return
        if box.no_win:
            turns.collect(box, self.wager, self.collected)
            return
        hand = turns.hand(self.judge, self.cards, box)
        row = self._rows(turns, box).get(hand)
        if row is None:
            turns.collect(box, self.wager, self.collected, self.names[hand])
        else:
            turns.pay(box, self.wager, row, self.paid_from, cents, is_wager=True)

    def _rows(self, turns: Turns, box: RoundPosition) -> Mapping[str, PayRow]:
        """Return the payouts that apply at a position.

        The fourth card only selects the payouts, and is not part of the hand (679a.11(d)(2)(ii),
        reading P5).
        """
        if self.fourth_rows is None or rank_of(turns.fourth_card(box)) != self.fourth_rank:
            return self.rows
        return self.fourth_rows
