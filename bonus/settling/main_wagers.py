"""The game against the dealer: the Ante, the wager that follows it, and the bonuses on either.

649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2); a chapter says in its ``main`` what becomes of each.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bonus.hands.rankings import Compare
from bonus.settling.payouts import PayRow, Turns
from bonus.settling.rounds import RoundPosition
from bonus.wagers import PaidFrom


@dataclass(frozen=True, slots=True)
class BonusTerms:
    """What is paid on one of the two wagers, beside it or in its place.

    Attributes:
        item: the line's item.
        on: the wager that it is a multiple of.
        rows: what each hand pays; hands that it does not pay are left out.
        procedure: the subsection of what becomes of the two wagers.
        returns: which of them returns then, or empty.
    """

    item: str
    on: str
    rows: Mapping[str, PayRow]
    procedure: str
    returns: str


@dataclass(frozen=True, slots=True)
class MainWagers:
    """The step of the two main wagers.

    Attributes:
        stake: the wager before the deal.
        follow: the wager after it.
        compare: by which hands are named and compared.
        names: what the chapter calls each hand that ``compare`` names.
        qualifies: the strength from which the dealer's hand qualifies.
        pays: what a winning wager of either kind pays, by the hand.
        follow_pays: what the second wager pays when the dealer's hand qualifies, by the hand.
        not_qualified_returns: the wager that returns when the dealer's hand does not qualify.
        not_qualified_rule: the subsection of that.
        tie_pays: whether equal hands are paid.
        tie_rule: the subsection of that.
        lower: the subsection by which a lower hand is collected.
        forfeited: the subsection by which a folded stake is.
        played: the bonuses of every hand that was not folded.
        not_lower: those of a hand that is not lower than the dealer's.
        beaten: those of a lower one.
    """

    stake: str
    follow: str
    compare: Compare
    names: Mapping[str, str]
    qualifies: int
    pays: Mapping[str, PayRow]
    follow_pays: Mapping[str, PayRow]
    not_qualified_returns: str
    not_qualified_rule: str
    tie_pays: bool
    tie_rule: str
    lower: str
    forfeited: str
    played: tuple[BonusTerms, ...]
    not_lower: tuple[BonusTerms, ...]
    beaten: tuple[BonusTerms, ...]

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the two wagers of a position, then what is paid on them beside."""
        if self.stake not in box.wagers:
            return
        if box.folded:
            turns.collect(box, self.stake, self.forfeited)
            return
        hand, strength = self.compare(turns.cards("hand", box))
        dealers = self.compare(turns.dealer())[1]
        if dealers < self.qualifies:
            self._pay_one(turns, box, hand)
        elif strength < dealers:
            self._lose(turns, box, hand)
        elif strength == dealers and not self.tie_pays:
            for wager in (self.stake, self.follow):
                turns.give_back(box, wager, self.tie_rule, self.names[hand])
        else:
            self._win(turns, box, hand)
        for bonus in self.played:
            self._pay_bonus(turns, box, bonus, hand)

    def _pay_one(self, turns: Turns, box: RoundPosition, hand: str) -> None:
        """The dealer does not qualify: one wager wins, whatever the hand; the other returns.

        649a.11(c)(3)(i), 679a.11(c)(3)(i); readings T26, P3, P7.
        """
        for wager in (self.stake, self.follow):
            if wager == self.not_qualified_returns:
                turns.give_back(box, wager, self.not_qualified_rule, self.names[hand])
            else:
                self._pay_wager(turns, box, wager, self.pays[hand])

    def _win(self, turns: Turns, box: RoundPosition, hand: str) -> None:
        self._pay_wager(turns, box, self.stake, self.pays[hand])
        self._pay_wager(turns, box, self.follow, self.follow_pays[hand])
        for bonus in self.not_lower:
            self._pay_bonus(turns, box, bonus, hand)

    def _lose(self, turns: Turns, box: RoundPosition, hand: str) -> None:
        """A lower hand loses both wagers, save for what a Bad Beat Bonus leaves or pays.

        679a.11(c)(3)(iii) and (iv), 682a.11(d)(2)(ii); readings P1, F3.
        """
        due = [bonus for bonus in self.beaten if hand in bonus.rows]
        rule = due[0].procedure if due else self.lower
        in_place = {bonus.item: bonus for bonus in due}
        for wager in (self.stake, self.follow):
            if wager in in_place:
                self._pay_bonus(turns, box, in_place[wager], hand)
            elif any(bonus.returns == wager for bonus in due):
                turns.give_back(box, wager, rule, self.names[hand])
            else:
                turns.collect(box, wager, rule, self.names[hand])
        for bonus in due:
            if bonus.item not in {self.stake, self.follow}:
                self._pay_bonus(turns, box, bonus, hand)

    def _pay_wager(self, turns: Turns, box: RoundPosition, wager: str, row: PayRow) -> None:
        cents = box.wagers[wager]
        turns.pay(box, wager, row, PaidFrom.TABLE_INVENTORY, cents, is_wager=True)

    def _pay_bonus(self, turns: Turns, box: RoundPosition, bonus: BonusTerms, hand: str) -> None:
        row = bonus.rows.get(hand)
        if row is None:
            return
        is_wager = bonus.item in {self.stake, self.follow}
        cents = box.wagers[bonus.on]
        turns.pay(box, bonus.item, row, PaidFrom.TABLE_INVENTORY, cents, is_wager=is_wager)
