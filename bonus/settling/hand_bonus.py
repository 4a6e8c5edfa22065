"""The Five Card Hand Bonus, the Magic Card and the Lucky Bonus: 649a.11(c)(8)."""

from dataclasses import dataclass
from typing import Literal

from bonus.law.meter_terms import MeterTerms, Row
from bonus.settling.payouts import Judge, Turns
from bonus.settling.progressives import pay_row
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Due, Item, Line, Outcome, PercentWon
from bonus.wagers import MeterKind


@dataclass(frozen=True, slots=True)
class HandBonus:
    """The step of settlement for the Five Card Hand Bonus.

    A player can wager on their own hand and on the dealer's hand. The wager on the player's own
    hand is settled first (reading T18). Then the wager on the dealer's hand is settled, then the
    Magic Card and the Lucky Bonus.

    A fold does not forfeit these wagers (649a.11(b)(3)). It also does not forfeit the Magic Card
    and the Lucky Bonus (reading T19).

    Attributes:
        own: the name of the wager on the player's hand.
        dealers: the name of the wager on the dealer's hand.
        meter: the kind of meter that both wagers feed.
        judge: function that returns the hand that cards form.
        divided: the subsection under which a jackpot on the dealer's hand is divided.
    """

    own: str
    dealers: str
    meter: MeterKind
    judge: Judge
    divided: str

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle both wagers of a position, then the Magic Card and the Lucky Bonus.

        If the player's hand was declared to win nothing, the wager on the player's hand is
        collected. The wager on the dealer's hand is still settled according to the dealer's cards.
        """
        own, dealers = self.own in box.wagers, self.dealers in box.wagers
        if not own and not dealers:
            return
        terms = turns.terms[self.meter]
        if own and box.no_win:
            turns.collect(box, self.own, terms.rule)
            own = False
        if own:
            row = terms.rows[turns.hand(self.judge, "hand_and_community", box)]
            pay_row(turns, box, self.own, row, terms)
        if dealers:
            row = terms.rows[turns.hand(self.judge, "dealer_and_community", box)]
            self._pay_on_dealer(turns, box, row, terms)
        draw = turns.played.draw
        if draw.magic_card is not None:
            if own and draw.magic_card in turns.cards("hand_and_community", box):
                self._pay_draw(turns, box, "player", Item.MAGIC_CARD, terms)
            if dealers and draw.magic_card in turns.cards("dealer_and_community", box):
                self._pay_draw(turns, box, "dealer", Item.MAGIC_CARD, terms)
        if own and draw.lucky_position == box.position:
            self._pay_draw(turns, box, "player", Item.LUCKY_BONUS, terms)
        if dealers and draw.lucky_position == "dealer":
            self._pay_draw(turns, box, "dealer", Item.LUCKY_BONUS, terms)

    def _pay_on_dealer(self, turns: Turns, box: RoundPosition, row: Row, terms: MeterTerms) -> None:
        """Pay a position's wager on the dealer's hand.

        If the dealer's hand wins a percentage of the meter, the percentage is one jackpot for all
        players who wagered on the dealer's hand. The jackpot is subtracted from the meter when the
        first of these players is paid. It is divided equally among these players.

        A player receives one share, at the position that is paid first. The wagers at the player's
        other positions are collected, because the share includes them (649a.12(i)(2), reading T17).
        """
        if not row.percent:
            pay_row(turns, box, self.dealers, row, terms)
        elif box.player in turns.had_share:
            turns.collect(box, self.dealers, self.divided, row.hand)
        else:
            if turns.divided_take is None:
                players = {bettor.player for bettor in turns.bettors(self.dealers)}
                turns.takes.append(PercentWon(terms.kind, row.percent, len(players)))
                turns.divided_take = len(turns.takes) - 1
            turns.had_share.add(box.player)
            pay_row(turns, box, self.dealers, row, terms, take=turns.divided_take)

    def _pay_draw(
        self,
        turns: Turns,
        box: RoundPosition,
        on: Literal["player", "dealer"],
        item: Item,
        terms: MeterTerms,
    ) -> None:
        magic = item is Item.MAGIC_CARD
        for_1 = terms.magic_card_for_1 if magic else terms.lucky_bonus_for_1
        line = Line(
            position=box.position,
            item=item,
            outcome=Outcome.PAID,
            wagered=terms.wager_cents,
            paid=for_1 * terms.wager_cents,
            returned=0,
            paid_from=terms.paid_from,
            rule=terms.draw_rule,
            on=on,
        )
        turns.dues.append(Due(line))
