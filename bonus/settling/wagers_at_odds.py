"""The wagers that feed no meter, in the game against the dealer and beside it.

The game against the dealer (``main`` of a chapter's file) has the Ante, the wager after it, and the
bonuses on both: 649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2). Optional wagers, such as Pair Plus,
Six Card Bonus, Prime and Pair Bonus, have posted paytables: 649a.11(c)(4) and (6), 679a.11(d),
682a.11(e).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bonus.cards import rank_of
from bonus.hands.rankings import Compare
from bonus.law.chapter_file import DEALERS_ALONE, Bonus, Main
from bonus.rounds import RoundPosition
from bonus.settling.payouts import Decision, Fact, JudgedCards, Turns, collected, returned


@dataclass(frozen=True, slots=True)
class MainTerms:
    """Terms of the two main wagers, from which all their decisions follow.

    Each method returns the decisions about a hand for one result of the comparison with the
    dealer's hand: first about the two wagers, then about the bonuses on them.

    Attributes:
        names: the chapter's name for each hand of the ranking.
        pays: the decisions to pay either wager when it wins, by the player's hand.
        follow_pays: the decisions to pay the second wager when the dealer's hand qualifies.
        bonuses: each bonus with the decisions to pay it.
    """

    main: Main
    names: Mapping[str, str]
    pays: tuple[Mapping[str, Decision], Mapping[str, Decision]]
    follow_pays: Mapping[str, Decision]
    bonuses: tuple[tuple[Bonus, Mapping[str, Decision]], ...]

    def not_qualified(self, hand: str) -> tuple[Decision, ...]:
        """Return the decisions when the dealer's hand does not qualify.

        One wager wins, whatever the player's hand is, and the other is returned: 649a.11(c)(3)(i),
        679a.11(c)(3)(i); readings T26, P3, P7.
        """
        below = self.main.not_qualified
        wagers = (
            returned(below.returns, below.rule, self.names[hand])
            if below and by_hand[hand].wager == below.returns
            else by_hand[hand]
            for by_hand in self.pays
        )
        return (*wagers, *self._paid("played", hand))

    def higher(self, hand: str) -> tuple[Decision, ...]:
        return (
            self.pays[0][hand],
            self.follow_pays[hand],
            *self._paid("not_lower", hand),
            *self._paid("played", hand),
        )

    def equal(self, hand: str) -> tuple[Decision, ...]:
        main, name = self.main, self.names[hand]
        if main.tie.pays:
            return self.higher(hand)
        wagers = (returned(wager, main.tie.rule, name) for wager in (main.stake, main.follow))
        return (*wagers, *self._paid("played", hand))

    def lower_than_dealers(self, hand: str) -> tuple[Decision, ...]:
        """Return the decisions when the player's hand is lower than the dealer's hand.

        Both wagers lose, except a wager that a Bad Beat Bonus returns or pays: 679a.11(c)(3)(iii)
        and (iv), 682a.11(d)(2)(ii); readings P1, F3.
        """
        main, name = self.main, self.names[hand]
        due = [bonus for bonus, pays in self.bonuses if bonus.when == "lower" and hand in pays]
        rule = due[0].procedure if due else main.lower
        wagers = {wager: collected(wager, rule, name) for wager in (main.stake, main.follow)}
        for bonus in due:
            if bonus.returns:
                wagers[bonus.returns] = returned(bonus.returns, rule, name)
        # A bonus with the name of a main wager replaces the line of this wager.
        wagers |= {paid.item: paid for paid in self._paid("lower", hand)}
        return (*wagers.values(), *self._paid("played", hand))

    def _paid(self, when: str, hand: str) -> tuple[Decision, ...]:
        return tuple(
            pays[hand] for bonus, pays in self.bonuses if bonus.when == when and hand in pays
        )


Comparison = Literal["not_qualified", "higher", "equal", "lower"]
"""Result of the player's hand, or ``not_qualified`` if the dealer's hand does not qualify."""

Decisions = Mapping[str, tuple[Decision, ...]]
"""The decisions about a position's main wagers, by the player's hand."""


@dataclass(frozen=True, slots=True, eq=False)
class MainWagers:
    """The step of settlement for the two main wagers.

    ``qualifies`` is the lowest strength of a dealer's hand that qualifies. ``lost`` has the
    decisions about a hand that was declared to win nothing.
    """

    stake: str
    follow: str
    judged: JudgedCards
    compare: Compare
    qualifies: int
    folded: Decision
    lost: tuple[Decision, ...]
    decisions: Mapping[Comparison, Decisions]

    def concerns(self, made: frozenset[str]) -> bool:
        return self.stake in made

    def decided_by(self, box: RoundPosition, *, shown: bool) -> Fact | None:
        if self.stake not in box.wagers or box.folded or box.no_win:
            return None
        return self._compare

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        if self.stake not in box.wagers:
            return
        if box.folded:
            turns.settle(self.folded)
            return
        for decision in self.lost if box.no_win else self._compare(turns, box):
            turns.settle(decision)

    def _compare(self, turns: Turns, _: RoundPosition) -> tuple[Decision, ...]:
        hand, strength, dealers = turns.compared(self.judged, self.compare)
        result: Comparison = "higher"
        if dealers < self.qualifies:
            result = "not_qualified"
        elif strength <= dealers:
            result = "equal" if strength == dealers else "lower"
        return self.decisions[result][hand]


@dataclass(frozen=True, slots=True, eq=False)
class OptionalWager:
    """The step of settlement for an optional wager that feeds no meter.

    Attributes:
        lost: the decision about a hand that was declared to win nothing.
        folded: None if a fold does not forfeit the wager.
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

    def decided_by(self, box: RoundPosition, *, shown: bool) -> JudgedCards | Fact | None:
        if self.wager not in box.wagers or (box.folded and self.folded) or self._lost(box):
            return None
        return self.judged if self.fourth_rank is None else self._by_cards

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        if self.wager not in box.wagers:
            return
        if box.folded and self.folded:
            turns.settle(self.folded)
        elif self._lost(box):
            turns.settle(self.lost)
        else:
            turns.settle(self._by_cards(turns, box))

    def _lost(self, box: RoundPosition) -> bool:
        """Return whether the declaration that a hand wins nothing decides the wager."""
        return box.no_win and self.judged.cards not in DEALERS_ALONE

    def _by_cards(self, turns: Turns, _: RoundPosition) -> Decision:
        hand, fourth = turns.hand(self.judged), self.fourth_rank
        # The fourth card only selects the payouts, and is not part of the hand (679a.11(d)(2)(ii),
        # reading P5).
        if fourth is None or rank_of(turns.fourth_card()) != fourth:
            return self.by_hand[hand]
        return self.by_hand_fourth[hand]
