"""The game against the dealer: the Ante, the wager after the Ante, and the bonuses on both.

649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2). The rules are in the ``main`` part of a chapter's file.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bonus.hands.rankings import Compare
from bonus.settling.payouts import PayRow, Turns
from bonus.settling.rounds import RoundPosition
from bonus.wagers import PaidFrom


@dataclass(frozen=True, slots=True)
class BonusTerms:
    """Terms of a bonus on one of the two main wagers.

    The bonus is paid in addition to the payout of this main wager, or instead of this payout.

    Attributes:
        item: the name of the bonus in settlement lines.
        on: the name of a main wager. The bonus is a multiple of its amount.
        rows: the payout of each hand that the bonus pays.
        procedure: the subsection that says what happens to the two main wagers when the bonus is
            paid.
        returns: the main wager that is returned when the bonus is paid. Empty if none is returned.
    """

    item: str
    on: str
    rows: Mapping[str, PayRow]
    procedure: str
    returns: str


@dataclass(frozen=True, slots=True)
class MainWagers:
    """The step of settlement for the two main wagers.

    Attributes:
        stake: the name of the first wager, before the deal.
        follow: the name of the second wager, after the deal.
        compare: function that names a hand and returns its strength.
        names: the chapter's name for each hand that ``compare`` returns.
        qualifies: the lowest strength of a dealer's hand that qualifies.
        pays: the payout of either wager when it wins, by the player's hand.
        follow_pays: the payout of the second wager when the dealer's hand qualifies, by the
            player's hand.
        not_qualified_returns: the wager that is returned if the dealer's hand does not qualify.
            Empty if every hand qualifies.
        not_qualified_rule: the subsection under which that wager is returned.
        tie_pays: true if the player is paid when the hands are equal.
        tie_rule: the subsection under which both wagers are returned when the hands are equal.
        lower: the subsection under which the wagers are collected if the player's hand is lower.
        forfeited: the subsection under which the first wager of a folded hand is collected.
        played: the bonuses for every hand that was not folded.
        not_lower: the bonuses for a hand that is not lower than the dealer's hand.
        beaten: the bonuses for a hand that is lower than the dealer's hand.
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
        """Settle the two main wagers of a position, then the bonuses on them."""
        if self.stake not in box.wagers:
            return
        if box.folded:
            turns.collect(box, self.stake, self.forfeited)
            return
        if box.no_win:
            for wager in (self.stake, self.follow):
                turns.collect(box, wager, self.lower)
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
        """Settle both wagers when the dealer's hand does not qualify.

        One wager wins, whatever the player's hand is. The other wager is returned:
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
        """Settle both wagers of a hand that is lower than the dealer's hand.

        Both wagers lose, except a wager that a Bad Beat Bonus returns or pays: 679a.11(c)(3)(iii)
        and (iv), 682a.11(d)(2)(ii); readings P1, F3.
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
