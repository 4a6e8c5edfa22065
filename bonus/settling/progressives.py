"""The wagers that feed a meter and depend on the player's hand: 649a.11(c)(5), (7), (8) and (9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from bonus.law.cells import Percent
from bonus.law.meter_terms import MeterTerms, Row
from bonus.settling.payouts import JudgedCards, PlainLines, Turns, collected, decided
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon, written_percent
from bonus.wagers import PaidFrom, is_jackpot, jackpot_item


@dataclass(frozen=True, slots=True, eq=False)
class ProgressiveWager:
    """The step of settlement for a wager that feeds a meter, and its Envy Bonuses.

    A player's hand can bring an Envy Bonus to every other player who made the wager. The Five Card
    Hand Bonus on the player's own hand brings none. ``envy`` is the name of the Envy Bonuses in
    settlement lines, and ``forfeited`` the subsection under which a fold forfeits the wager; empty
    if it does not.
    """

    wager: str
    meter: str
    envy: str
    judged: JudgedCards
    forfeited: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made

    def plain(
        self, position: int, wagered_cents: int, terms: Mapping[str, MeterTerms]
    ) -> PlainLines:
        line_of = partial(plain_line, self.wager, terms[self.meter], position, wagered_cents)
        return self.judged, line_of

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager of a position, then the Envy Bonuses that the hand brings.

        It brings them even if its holder did not make the wager (reading T10), but not if it was
        folded and collected (reading T8) or declared to win nothing. The dealer's hand brings none,
        because only the hands of positions are settled here (reading T12).
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

    ``take`` is the index of a percentage that was recorded earlier, of which the payout is one
    share; without it, the percentages of the row are recorded now. If the wager feeds several
    meters, or the row pays a percentage and a fixed amount, each percentage has its own line after
    that of the wager.
    """
    box = turns.box
    wagered_cents = box.wagers[wager]
    if take is None and row.percents and not _has_one_line(row, terms):
        turns.dues.append(Due(_row_line(wager, row, terms, box.position, wagered_cents)))
        for meter, percent in row.percents:
            turns.takes.append(PercentWon(meter, percent))
            line = _percent_line(
                jackpot_item(meter), row, terms, box.position, wagered_cents, percent
            )
            turns.dues.append(Due(line, len(turns.takes) - 1))
        return
    if take is None and row.percents:
        ((meter, percent),) = row.percents
        turns.takes.append(PercentWon(meter, percent))
        take = len(turns.takes) - 1
    turns.dues.append(Due(_row_line(wager, row, terms, box.position, wagered_cents), take))


def plain_line(
    wager: str, terms: MeterTerms, position: int, wagered_cents: int, hand: str
) -> Line | None:
    """Return the line of a hand that wins no jackpot and brings no Envy Bonus, or None."""
    row = terms.rows[hand]
    if row.percents or row.envy_cents:
        return None
    return _row_line(wager, row, terms, position, wagered_cents)


def percent_of_item(item: str, row: Row, terms: MeterTerms) -> Percent:
    """Return the percentage of the meter that the line of an item pays for a hand, or 0.

    ``item`` is the wager, or a percentage with a line of its own.
    """
    if is_jackpot(item) or _has_one_line(row, terms):
        return row.percent_of(terms.kind)
    return 0


def _has_one_line(row: Row, terms: MeterTerms) -> bool:
    """Return whether a percentage is paid on the line of the wager itself."""
    return not (terms.tiers or row.for_1 or row.sum_cents)


def _row_line(wager: str, row: Row, terms: MeterTerms, position: int, wagered_cents: int) -> Line:
    """Return the line of a wager that feeds a meter; it is collected if its hand wins nothing."""
    if not row.wins:
        return decided(collected(wager, terms.rule, row.hand), position, wagered_cents)
    if row.percents and _has_one_line(row, terms):
        ((_, percent),) = row.percents
        return _percent_line(wager, row, terms, position, wagered_cents, percent)
    paid_cents = row.fixed_cents(wagered_cents)
    return Line(
        position=position,
        item=wager,
        outcome=Outcome.PAID,
        hand=row.hand,
        wagered=wagered_cents,
        paid=paid_cents,
        returned=0,
        paid_from=terms.paid_from if paid_cents else None,
        rule=terms.rule,
    )


def _percent_line(  # noqa: PLR0917  (every argument is a part of the line)
    item: str, row: Row, terms: MeterTerms, position: int, wagered_cents: int, percent: Percent
) -> Line:
    """Return the line of a percentage of a meter, without its amount.

    The payout is a hand pay (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).
    """
    return Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        hand=row.hand,
        wagered=wagered_cents,
        paid=0,
        returned=0,
        paid_from=PaidFrom.HAND_PAY,
        percent=written_percent(percent),
        rule=terms.rule,
    )
