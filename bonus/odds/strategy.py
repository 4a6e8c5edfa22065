"""The optimal strategy of a main game, computed for each hand of the player.

For each hand, the loss of a fold is compared with the average gain of each wager that keeps the
player in the game. Amounts are in units of the Ante. Each deal's amount is a whole number, so none
is rounded (649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2)).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from bonus.odds.dealer_duels import Duel
from bonus.odds.hand_counts import Integers
from bonus.settling.wagers_at_odds import Decisions, MainWagers

Outcome = Literal["not_qualified", "higher", "equal", "lower"]
"""Result of the player's hand, or ``not_qualified`` if the dealer's hand does not qualify."""

OUTCOMES: Final[tuple[Outcome, ...]] = ("not_qualified", "higher", "equal", "lower")
FOLD: Final = 0
_SUM_BELOW: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Best:
    """A strategy for a main game, and its results.

    Attributes:
        house_edge: the average gain of the house, in units of the Ante.
        average_wager: the average sum of the Ante and the wager after it, in units of the Ante.
        times: for each row of a ``Duel``, the wager after the Ante as a multiple of the Ante; 0 for
            a fold.
        deals: the number of deals for a fold, and for each outcome of hands that are not folded. A
            deal is a hand of the player and a hand of the dealer.
    """

    house_edge: Fraction
    average_wager: Fraction
    times: npt.NDArray[np.int64]
    deals: Mapping[str, int]
    of: int

    @property
    def element_of_risk(self) -> Fraction:
        """Average gain of the house, divided by the average total wager."""
        return self.house_edge / self.average_wager


def play_best(game: MainWagers, ways: Sequence[int], duel: Duel) -> Best:
    """Return the strategy with the best wager for each hand, and its results.

    If two of ``ways``, the allowed multiples of the Ante, are equally good, the strategy uses the
    smaller one.
    """
    worths = _worths(game, ways, duel)
    best, times = worths[FOLD].copy(), np.full(len(duel.hands), FOLD, np.int64)
    for wager in ways:
        better = worths[wager] > best
        best[better], times[better] = worths[wager][better], wager
    return _played(duel, worths, times)


def play_by_rank(game: MainWagers, ways: Sequence[int], duel: Duel) -> Best:
    """Return the best strategy that uses only the rank of the hand, and its results.

    Under this strategy, a higher hand never wagers less than a lower hand. The player can ignore
    suits and cards that are not part of the best hand.
    """
    worths = _worths(game, ways, duel)
    ways = (FOLD, *ways)
    by_strength: dict[int, list[int]] = {}
    for row, strength in enumerate(duel.strength):
        by_strength.setdefault(strength, []).append(row)
    # For each way to play: the best total of the hands so far, if the last hand is played this way.
    totals = [0] * len(ways)
    before: list[list[int]] = []
    for strength in sorted(by_strength):
        rows = by_strength[strength]
        from_way = [
            max(range(way + 1), key=lambda at: (totals[at], -at)) for way in range(len(ways))
        ]
        before.append(from_way)
        totals = [
            totals[from_way[way]] + sum(int(worths[wager][row]) * duel.hands[row] for row in rows)
            for way, wager in enumerate(ways)
        ]
    way = totals.index(max(totals))
    times = np.full(len(duel.hands), FOLD, np.int64)
    for strength, from_way in zip(sorted(by_strength, reverse=True), reversed(before), strict=True):
        times[by_strength[strength]] = ways[way]
        way = from_way[way]
    return _played(duel, worths, times)


def _worths(game: MainWagers, ways: Sequence[int], duel: Duel) -> dict[int, Integers]:
    """Return the total gain of each row of the duel, for each wager after the Ante.

    It is summed over all of the dealer's hands, in units of the Ante. Odds so high that the sum
    would not fit in 64 bits are refused with ValueError.
    """
    against = _outcomes(duel)
    worths = {FOLD: np.full(len(duel.hands), -duel.deals, np.int64)}
    decisions: dict[Outcome, Decisions] = {
        "not_qualified": game.not_qualified,
        "higher": game.higher,
        "equal": game.higher if game.tie_pays else game.equal,
        "lower": game.lower,
    }
    for wager in ways:
        nets = {
            outcome: _nets(game.stake, by_hand, wager, duel.hand)
            for outcome, by_hand in decisions.items()
        }
        highest = max(int(np.abs(net).max()) for net in nets.values())
        if highest * duel.deals * sum(duel.hands) >= _SUM_BELOW:
            raise ValueError(f"odds of {highest} to 1 are too high to count")
        worths[wager] = sum(
            (against[outcome] * nets[outcome] for outcome in OUTCOMES),
            start=np.zeros(len(duel.hands), np.int64),
        )
    return worths


def _nets(stake: str, by_hand: Decisions, times: int, hands: Sequence[str]) -> Integers:
    """Return the gain of each hand for one outcome, in units of the Ante, as settlement pays it.

    ``times`` is the wager after the Ante, as a multiple of it.
    """
    gains = {
        hand: sum(
            (each.times + each.stake_back) * (1 if each.wager == stake else times)
            for each in by_hand[hand]
        )
        - 1
        - times
        for hand in set(hands)
    }
    return np.array([gains[hand] for hand in hands], np.int64)


def _played(duel: Duel, worths: Mapping[int, Integers], times: npt.NDArray[np.int64]) -> Best:
    """Return a strategy with its results; ``times`` has its wager for each row of the duel."""
    hands = np.array(duel.hands, np.int64)
    against = _outcomes(duel)
    won = np.choose(np.searchsorted(sorted(worths), times), [worths[at] for at in sorted(worths)])
    of = int(hands.sum()) * duel.deals
    played = times != FOLD
    deals = {"fold": int(hands[~played].sum()) * duel.deals}
    deals |= {outcome: int((hands * against[outcome])[played].sum()) for outcome in OUTCOMES}
    return Best(
        house_edge=Fraction(-int((hands * won).sum()), of),
        average_wager=1 + Fraction(int((hands * times).sum()), int(hands.sum())),
        times=times,
        deals=deals,
        of=of,
    )


def _outcomes(duel: Duel) -> dict[Outcome, Integers]:
    not_qualified, equal, dealer_higher = (
        np.array(column, np.int64) for column in (duel.not_qualified, duel.equal, duel.higher)
    )
    higher = duel.deals - not_qualified - equal - dealer_higher
    return {
        "not_qualified": not_qualified,
        "higher": higher,
        "equal": equal,
        "lower": dealer_higher,
    }
