"""Optional wagers that feed no meter, such as Pair Plus, Six Card Bonus, Prime and Pair Bonus.

Each has a posted paytable. They are settled under 649a.11(c)(4) and (6), 679a.11(d), 682a.11(e).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from bonus.cards import rank_of
from bonus.law.meter_terms import MeterTerms
from bonus.settling.payouts import Decision, JudgedCards, PlainLines, Turns, decided
from bonus.settling.rounds import RoundPosition
from bonus.settling.settlement_lines import Line


@dataclass(frozen=True, slots=True, eq=False)
class OptionalWager:
    """The step of settlement for an optional wager that feeds no meter.

    Attributes:
        lost: the decision about a hand that was declared to win nothing.
        folded: the decision about a folded hand; None if a fold does not forfeit the wager.
        fourth_rank: the rank of a fourth card with which ``by_hand_fourth`` decides; None if the
            payouts do not depend on a fourth card.
    """

    wager: str
    judged: JudgedCards
    by_hand: Mapping[str, Decision]
    lost: Decision
    folded: Decision | None
    fourth_rank: int | None
    by_hand_fourth: Mapping[str, Decision]

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made

    def plain(
        self, position: int, wagered_cents: int, _: Mapping[str, MeterTerms]
    ) -> PlainLines | None:
        if self.fourth_rank is not None:
            return None
        return self.judged, partial(self._plain_line, position, wagered_cents)

    def _plain_line(self, position: int, wagered_cents: int, hand: str) -> Line | None:
        decision = self.by_hand[hand]
        return None if decision.limited else decided(decision, position, wagered_cents)

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager at a position, whatever the result of the Ante is."""
        if self.wager not in box.wagers:
            return
        if box.folded and self.folded:
            turns.settle(self.folded)
        elif box.no_win:
            turns.settle(self.lost)
        else:
            hand = turns.hand(self.judged)
            # The fourth card only selects the payouts, and is not part of the hand
            # (679a.11(d)(2)(ii), reading P5).
            fourth = self.fourth_rank
            if fourth is None or rank_of(turns.fourth_card()) != fourth:
                turns.settle(self.by_hand[hand])
            else:
                turns.settle(self.by_hand_fourth[hand])
