"""The Five Card Hand Bonus, the Magic Card and the Lucky Bonus: 649a.11(c)(8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

from bonus.law.meter_terms import MeterTerms
from bonus.settling.payouts import JudgedCards, PlainLines, Turns
from bonus.settling.progressives import plain_line, settle_row
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Line, Outcome, PercentWon, encode_line
from bonus.wagers import LUCKY_BONUS, MAGIC_CARD


@dataclass(frozen=True, slots=True, eq=False)
class DealerBonus:
    """The step of settlement for a Five Card Hand Bonus wager on the dealer's hand.

    The wager on the player's own hand is settled first (reading T18), by the step
    ``ProgressiveWager``. A fold forfeits neither (649a.11(b)(3)). If the player's hand was declared
    to win nothing, the wager on the dealer's hand is still settled by the dealer's cards.
    ``divided`` is the subsection under which a jackpot is divided.
    """

    wager: str
    meter: str
    judged: JudgedCards
    divided: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made

    def plain(
        self, position: int, wagered_cents: int, terms: Mapping[str, MeterTerms]
    ) -> PlainLines:
        line_of = partial(plain_line, self.wager, terms[self.meter], position, wagered_cents)
        return self.judged, line_of

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle a position's wager on the dealer's hand.

        A percentage of the meter is one jackpot for all players who wagered on the dealer's hand.
        It is subtracted when the first of them is paid, and divided equally. A player receives one
        share, at the position that is paid first; the wagers at their other positions are
        collected, because the share includes them (649a.12(i)(2), reading T17).
        """
        if self.wager not in box.wagers:
            return
        terms = turns.terms[self.meter]
        row = terms.rows[turns.hand(self.judged)]
        percent = row.percent_of(self.meter)
        if not percent:
            settle_row(turns, self.wager, row, terms)
        elif box.player in turns.had_share:
            turns.collect(self.wager, self.divided, row.hand)
        else:
            if turns.divided_take is None:
                players = {bettor.player for bettor in turns.bettors(self.wager)}
                turns.takes.append(PercentWon(terms.kind, percent, len(players)))
                turns.divided_take = len(turns.takes) - 1
            turns.had_share.add(box.player)
            settle_row(turns, self.wager, row, terms, take=turns.divided_take)


@dataclass(frozen=True, slots=True, eq=False)
class BonusDraws:
    """The step of settlement for the Magic Card and the Lucky Bonus.

    They are paid after both wagers of the Five Card Hand Bonus, ``wager`` on the player's hand and
    ``dealers`` on the dealer's. A fold does not forfeit them (reading T19).
    """

    wager: str
    dealers: str
    meter: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made or self.dealers in made

    def plain(self, *_: object) -> None:
        """Return None: no hand decides the draws."""

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Pay what the draws of the table game system add to the wagers of a position.

        A player's hand that was declared to win nothing has neither bonus.
        """
        own = self.wager in box.wagers and not box.no_win
        dealers = self.dealers in box.wagers
        draw = turns.played.draw
        if draw.magic_card is not None:
            if own and draw.magic_card in turns.cards("hand_and_community"):
                self._pay_draw(turns, box, "player", MAGIC_CARD)
            if dealers and draw.magic_card in turns.cards("dealer_and_community"):
                self._pay_draw(turns, box, "dealer", MAGIC_CARD)
        if own and draw.lucky_position == box.position:
            self._pay_draw(turns, box, "player", LUCKY_BONUS)
        if dealers and draw.lucky_position == "dealer":
            self._pay_draw(turns, box, "dealer", LUCKY_BONUS)

    def _pay_draw(
        self,
        turns: Turns,
        box: RoundPosition,
        on: Literal["player", "dealer"],
        item: str,
    ) -> None:
        turns.dues.append(_draw_due(turns.terms[self.meter], box.position, on, item))


# All wagers on a meter have the same amount, so there are few different lines.
@lru_cache(maxsize=1_024)
def _draw_due(terms: MeterTerms, position: int, on: Literal["player", "dealer"], item: str) -> Due:
    """Return the line of a Magic Card or a Lucky Bonus."""
    for_1 = terms.magic_card_for_1 if item == MAGIC_CARD else terms.lucky_bonus_for_1
    line = Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        wagered=terms.wager_cents,
        paid=for_1 * terms.wager_cents,
        returned=0,
        paid_from=terms.paid_from,
        rule=terms.draw_rule,
        on=on,
    )
    return Due(line, text=encode_line(line))
