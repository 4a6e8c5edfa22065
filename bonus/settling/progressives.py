"""The wagers that feed a meter: 649a.11(c)(5), (7), (8) and (9).

The player's hand decides them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from bonus.law.meter_terms import MeterTerms, Row
from bonus.settling.payouts import JudgedCards, PlainLines, Turns, collected, decided
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon
from bonus.wagers import PaidFrom


@dataclass(frozen=True, slots=True, eq=False)
class ProgressiveWager:
    """The step of settlement for a wager that feeds a meter, and its Envy Bonuses.

    A player's hand can bring an Envy Bonus to every other player who made the wager. The Five Card
    Hand Bonus on the player's own hand brings none.

    Attributes:
        wager: the name of the wager.
        meter: the kind of meter that the wager feeds.
        envy: the name of the Envy Bonuses in settlement lines.
        judged: the cards that decide the wager.
        forfeited: the subsection under which a fold forfeits the wager. Empty if a fold does not
            forfeit it.
    """

    wager: str
    meter: str
    envy: str
    judged: JudgedCards
    forfeited: str

    def concerns(self, made: frozenset[str]) -> bool:
        """Return whether the wager was made at any position."""
        return self.wager in made

    def plain(
        self, position: int, wagered_cents: int, terms: Mapping[str, MeterTerms]
    ) -> PlainLines:
        """Return the lines of hands that win no jackpot and bring no Envy Bonus."""
        line_of = partial(plain_line, self.wager, terms[self.meter], position, wagered_cents)
        return self.judged, line_of

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager of a position, then the Envy Bonuses that the hand brings.

        The hand brings Envy Bonuses even if its holder did not make the wager (reading T10). A hand
        that was folded and collected brings no Envy Bonus (reading T8). A hand that was declared to
        win nothing brings no Envy Bonus. The dealer's hand brings no Envy Bonus, because only the
        hands of positions are settled here (reading T12).
        """
        terms = turns.terms[self.meter]
        row = terms.rows[turns.hand(self.judged)] if turns.shown else None
        if self.wager in box.wagers:
            if box.no_win:
                turns.collect(self.wager, terms.rule)
            elif row is None or (box.folded and self.forfeited):
                turns.collect(self.wager, self.forfeited)
            else:
                settle_row(turns, self.wager, row, terms)
        if row is not None and row.envy_cents:
            for other in turns.bettors(self.wager):
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


def settle_row(
    turns: Turns, wager: str, row: Row, terms: MeterTerms, *, take: int | None = None
) -> None:
    """Settle a wager that feeds a meter, according to the paytable row of its hand.

    If the row pays a percentage of the meter, the percentage was recorded earlier, and ``take`` is
    its index in the recorded percentages. The payout is then one share of it. If ``take`` is None,
    the percentage is recorded now.
    """
    if row.percent and take is None:
        turns.takes.append(PercentWon(terms.kind, row.percent))
        take = len(turns.takes) - 1
    box = turns.box
    turns.dues.append(Due(_row_line(wager, row, terms, box.position, box.wagers[wager]), take))


def plain_line(
    wager: str, terms: MeterTerms, position: int, wagered_cents: int, hand: str
) -> Line | None:
    """Return the line of a hand that wins no jackpot and brings no Envy Bonus, or None."""
    row = terms.rows[hand]
    if row.percent or row.envy_cents:
        return None
    return _row_line(wager, row, terms, position, wagered_cents)


def _row_line(wager: str, row: Row, terms: MeterTerms, position: int, wagered_cents: int) -> Line:
    """Return the line of a wager that feeds a meter.

    If the row of its hand pays nothing, the wager is collected. If the row pays a percentage of the
    meter, the payout is a hand pay (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).
    """
    if not row.for_1 and not row.percent:
        return decided(collected(wager, terms.rule, row.hand), position, wagered_cents)
    return Line(
        position=position,
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
