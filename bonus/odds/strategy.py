"""The optimal strategy of a main game, computed for each hand of the player.

For each hand, the loss of a fold is compared with the average gain of each wager that keeps the
player in the game. Amounts are in units of the Ante. Each deal's amount is a whole number, so none
is rounded (649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2)).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import Bonus, Main
from bonus.law.paytables import Payout, Paytable, paytables_of, read_payout, rows_of
from bonus.odds.dealer_duels import Duel
from bonus.odds.hand_counts import Integers

Outcome = Literal["not_qualified", "higher", "equal", "lower"]
"""Result of the player's hand, or ``not_qualified`` if the dealer's hand does not qualify."""

OUTCOMES: Final[tuple[Outcome, ...]] = ("not_qualified", "higher", "equal", "lower")
FOLD: Final = 0
_SUM_BELOW: Final = 1 << 63
_NOTHING: Final = Payout()


@dataclass(frozen=True, slots=True)
class BonusPays:
    bonus: Bonus
    pays: Mapping[str, Payout]

    def of(self, hand: str) -> Payout:
        return self.pays.get(hand, _NOTHING)


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


def bonus_pays(main: Main, paytables: Iterable[Paytable]) -> tuple[BonusPays, ...]:
    """Return the payouts of each bonus; ``paytables`` has one for each, in the same order."""
    found = []
    for bonus, paytable in zip(main.bonus, paytables, strict=True):
        rows = rows_of(paytable, RANKINGS[bonus.ranking].names)
        found.append(BonusPays(bonus, {hand: payout for hand, (_, payout) in rows.items()}))
    return tuple(found)


def play_best(main: Main, bonuses: tuple[BonusPays, ...], duel: Duel) -> Best:
    """Return the strategy with the best wager for each hand, and its results.

    If two wagers are equally good, the strategy uses the smaller one.
    """
    worths = _worths(main, bonuses, duel)
    best, times = worths[FOLD].copy(), np.full(len(duel.hands), FOLD, np.int64)
    for wager in main.times:
        better = worths[wager] > best
        best[better], times[better] = worths[wager][better], wager
    return _played(duel, worths, times)


def play_by_rank(main: Main, bonuses: tuple[BonusPays, ...], duel: Duel) -> Best:
    """Return the best strategy that uses only the rank of the hand, and its results.

    Under this strategy, a higher hand never wagers less than a lower hand. The player can ignore
    suits and cards that are not part of the best hand.
    """
    worths = _worths(main, bonuses, duel)
    by_strength: dict[int, list[int]] = {}
    for row, strength in enumerate(duel.strength):
        by_strength.setdefault(strength, []).append(row)
    ways = (FOLD, *main.times)
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
    way = _highest(totals)
    times = np.full(len(duel.hands), FOLD, np.int64)
    for strength, from_way in zip(sorted(by_strength, reverse=True), reversed(before), strict=True):
        times[by_strength[strength]] = ways[way]
        way = from_way[way]
    return _played(duel, worths, times)


def _highest(totals: Sequence[int]) -> int:
    """Return the index of the highest total; of equally high totals, the first one counts."""
    return totals.index(max(totals))


def _worths(main: Main, bonuses: tuple[BonusPays, ...], duel: Duel) -> dict[int, Integers]:
    """Return the total gain of each row of the duel, for each wager after the Ante.

    It is summed over all of the dealer's hands, in units of the Ante. Odds so high that the sum
    would not fit in 64 bits are refused with ValueError.
    """
    game = _Game(main, bonuses)
    against = _outcomes(duel)
    worths = {FOLD: np.full(len(duel.hands), -duel.deals, np.int64)}
    for wager in main.times:
        nets = {outcome: game.net(duel.hand, outcome, wager) for outcome in OUTCOMES}
        highest = max(int(np.abs(net).max()) for net in nets.values())
        if highest * duel.deals * sum(duel.hands) >= _SUM_BELOW:
            raise ValueError(f"odds of {highest} to 1 are too high to count")
        worths[wager] = sum(
            (against[outcome] * nets[outcome] for outcome in OUTCOMES),
            start=np.zeros(len(duel.hands), np.int64),
        )
    return worths


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


class _Game:
    """Gains and losses of the player's hands that are not folded, by outcome."""

    def __init__(self, main: Main, bonuses: tuple[BonusPays, ...]) -> None:
        self._main = main
        self._bonuses = bonuses
        self._even = read_payout(main.odds)
        self._follow: Mapping[str, Payout] = {}
        if main.follow_pays:
            hands = RANKINGS[main.ranking].names
            paytable = paytables_of(main.follow_pays, hands)[0]
            self._follow = {hand: pays for hand, (_, pays) in rows_of(paytable, hands).items()}

    def net(self, hands: list[str], outcome: Outcome, times: int) -> Integers:
        """Return the gain of each hand for one outcome, in units of the Ante.

        ``times`` is the wager after the Ante, as a multiple of it.
        """
        gains = {hand: self._net(hand, outcome, times) for hand in set(hands)}
        return np.array([gains[hand] for hand in hands], np.int64)

    def _net(self, hand: str, outcome: Outcome, times: int) -> int:
        match outcome:
            case "not_qualified":
                gain = self._not_qualified(times)
            case "lower":
                gain = self._lower(hand, times)
            case "equal" if not self._main.tie.pays:
                gain = 0
            case _:
                follow = self._follow.get(hand, self._even)
                gain = self._even.times + follow.times * times
                gain += self._paid("not_lower", hand, times)
        return gain + self._paid("played", hand, times)

    def _not_qualified(self, times: int) -> int:
        """Return the gain of a hand if the dealer's hand does not qualify.

        One main wager is paid, and the other returned (649a.11(c)(3)(i), 679a.11(c)(3)(i), reading
        P7).
        """
        main = self._main
        if main.not_qualified and main.not_qualified.returns == main.stake:
            return self._even.times * times
        return self._even.times

    def _lower(self, hand: str, times: int) -> int:
        """Return the gain of a hand that is lower than the dealer's hand.

        Both main wagers are lost, except a wager that a Bad Beat Bonus replaces or returns
        (readings P1, F3).
        """
        due = [
            bonus.bonus for bonus in self._bonuses
            if bonus.bonus.when == "lower" and bonus.of(hand).wins
        ]  # fmt: skip
        kept = {bonus.returns for bonus in due} | {bonus.item for bonus in due}
        lost = (self._main.stake not in kept) + times * (self._main.follow not in kept)
        return self._paid("lower", hand, times) - lost

    def _paid(self, when: str, hand: str, times: int) -> int:
        paid = 0
        for bonus in self._bonuses:
            if bonus.bonus.when == when:
                paid += bonus.of(hand).times * (times if bonus.bonus.on == self._main.follow else 1)
        return paid
