"""The three progressives with Envy Bonuses: 649a.11(c)(5), (7) and (9)."""

from dataclasses import dataclass

from bonus.law.chapter_file import CardsOf
from bonus.law.meter_terms import MeterTerms, Row
from bonus.settling.payouts import Judge, Turns
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon
from bonus.wagers import MeterKind, PaidFrom


@dataclass(frozen=True, slots=True)
class ProgressiveWager:
    """The step of a progressive, and of the Envy Bonuses that a hand brings to other players.

    Attributes:
        wager: the wager.
        meter: the meter that it feeds.
        envy: the item of its Envy Bonuses.
        judge: the ranking that judges it.
        cards: the cards that are judged.
        forfeited: the subsection under which a fold forfeits it; empty if a fold does not.
    """

    wager: str
    meter: MeterKind
    envy: str
    judge: Judge
    cards: CardsOf
    forfeited: str

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager, then the Envy Bonuses.

        A hand that was folded and collected brings no Envy Bonus. It does not matter whether the
        hand's holder made the wager (readings T8, T10). The dealer's hand has no turn, so it brings
        none (reading T12).
        """
        bettors = turns.bettors(self.wager)
        if not bettors:
            return
        terms = turns.terms[self.meter]
        row = None
        if turns.shows_cards(box):
            row = terms.rows[turns.hand(self.judge, self.cards, box)]
        if self.wager in box.wagers:
            if row is None or (box.folded and self.forfeited):
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
    """Pay a meter's wager according to the row of its hand; collect it if the row pays nothing.

    If a percentage is a share of an earlier take, ``take`` is the index of that take. Otherwise the
    percentage is a new take. A percentage is a hand pay (649a.11(c)(5)(iv), (7)(iv), (8)(iii),
    (9)(iv)).
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
