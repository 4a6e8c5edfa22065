"""The three progressive wagers with Envy Bonuses: 649a.11(c)(5), (7) and (9)."""

from dataclasses import dataclass

from bonus.law.chapter_file import CardsOf
from bonus.law.meter_terms import MeterTerms, Row
from bonus.settling.payouts import Judge, Turns
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon
from bonus.wagers import MeterKind, PaidFrom


@dataclass(frozen=True, slots=True)
class ProgressiveWager:
    """The step of settlement for a progressive wager and its Envy Bonuses.

    A player's hand can bring an Envy Bonus to every other player who made the wager.

    Attributes:
        wager: the name of the wager.
        meter: the kind of meter that the wager feeds.
        envy: the name of the Envy Bonuses in settlement lines.
        judge: function that returns the hand that cards form.
        cards: the cards that form the hand.
        forfeited: the subsection under which a fold forfeits the wager. Empty if a fold does not
            forfeit it.
    """

    wager: str
    meter: MeterKind
    envy: str
    judge: Judge
    cards: CardsOf
    forfeited: str

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager of a position, then the Envy Bonuses that the hand brings.

        The hand brings Envy Bonuses even if its holder did not make the wager (reading T10). A hand
        that was folded and collected brings no Envy Bonus (reading T8). A hand that was declared to
        win nothing brings no Envy Bonus. The dealer's hand brings no Envy Bonus, because only the
        hands of positions are settled here (reading T12).
        """
        bettors = turns.bettors(self.wager)
        if not bettors:
            return
        terms = turns.terms[self.meter]
        row = None
        if turns.shows_cards(box):
            row = terms.rows[turns.hand(self.judge, self.cards, box)]
        if self.wager in box.wagers:
            if box.no_win:
                turns.collect(box, self.wager, terms.rule)
            elif row is None or (box.folded and self.forfeited):
                turns.collect(box, self.wager, self.forfeited)
            else:
                pay_row(turns, box, self.wager, row, terms)
        if row is not None and row.envy_cents:
            for other in bettors:
                if other.player != box.player:
                    self._pay_envy(turns, other, row, terms, box.position)

    def _pay_envy(
        self, turns: Turns, box: RoundPosition, row: Row, terms: MeterTerms, holder: int
    ) -> None:
        line = Line(
            position=box.position,
            item=self.envy,
            outcome=Outcome.PAID,
            hand=row.hand,
            wagered=box.wagers[self.wager],
            paid=row.envy_cents,
            returned=0,
            paid_from=terms.paid_from,
            rule=terms.envy_rule,
            envy_of=holder,
        )
        turns.dues.append(Due(line))


def pay_row(
    turns: Turns,
    box: RoundPosition,
    wager: str,
    row: Row,
    terms: MeterTerms,
    *,
    take: int | None = None,
) -> None:
    """Pay a wager that feeds a meter, according to the paytable row of its hand.

    If the row pays nothing, the wager is collected. If the row pays a percentage of the meter, the
    payout is a hand pay (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)). If the percentage was
    recorded earlier, ``take`` is its index in the recorded percentages, and the payout is one share
    of it. If ``take`` is None, the percentage is recorded now.
    """
    if not row.for_1 and not row.percent:
        turns.collect(box, wager, terms.rule, row.hand)
        return
    if row.percent and take is None:
        turns.takes.append(PercentWon(terms.kind, row.percent))
        take = len(turns.takes) - 1
    wagered_cents = box.wagers[wager]
    line = Line(
        position=box.position,
        item=wager,
        outcome=Outcome.PAID,
        hand=row.hand,
        wagered=wagered_cents,
        paid=row.for_1 * wagered_cents,
        returned=0,
        paid_from=PaidFrom.HAND_PAY if row.percent else terms.paid_from,
        percent=row.percent or None,
        rule=terms.rule,
    )
    turns.dues.append(Due(line, take))
