"""The optimal strategy of a main game (the game against the dealer), and its house edges.

For each hand of the player, the loss of a fold is compared with the average gain of each wager that
keeps the player in the game. Amounts are in units of the Ante. The amount of each deal is a whole
number, so nothing is rounded (649a.11(c)(3), 679a.11(c)(3), 682a.11(d)(2)).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from bonus.law.chapter_file import Chapter, Main
from bonus.law.choices import MINI_ROYAL
from bonus.law.game_rankings import ranking_of
from bonus.law.paytables import Paytable, paytables_of, rows_of, with_mini_royal
from bonus.odds.dealer_duels import Duel
from bonus.odds.enumerations import Enumerator, duel
from bonus.odds.hand_counts import Integers
from bonus.odds.odds_entries import ByRank, HandLine, MixedHand, OddsEntry, OutcomeLine
from bonus.odds.offers import Offer, choose, main_choice, main_choices
from bonus.odds.strategy_text import FOLD, mixed_hands, strategy_in_words
from bonus.settling.table_rules import table_rules
from bonus.settling.wagers_at_odds import Comparison, Decisions, MainWagers

OUTCOMES: Final[tuple[Comparison, ...]] = ("not_qualified", "higher", "equal", "lower")
_SUM_BELOW: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Best:
    """A strategy for a main game, and its results.

    Attributes:
        house_edge: the average gain of the house, in units of the Ante; ``average_wager`` is the
            average sum of the Ante and the wager after it.
        times: for each row of a ``Duel``, the wager after the Ante as a multiple of the Ante; 0 for
            a fold.
        deals: the number of deals (a hand of the player and a hand of the dealer) for a fold, and
            for each outcome of hands that are not folded. ``of`` is the number of all deals.
    """

    house_edge: Fraction
    average_wager: Fraction
    times: npt.NDArray[np.int64]
    deals: Mapping[str, int]
    of: int

    @property
    def element_of_risk(self) -> Fraction:
        return self.house_edge / self.average_wager


def play_best(game: MainWagers, ways: Sequence[int], duel: Duel) -> Best:
    """Return the strategy with the best wager for each hand, and its results.

    ``ways`` are the allowed multiples of the Ante. If two of them are equally good, the strategy
    uses the smaller one.
    """
    worths = _worths(game, ways, duel)
    best, times = worths[FOLD].copy(), np.full(len(duel.hands), FOLD, np.int64)
    for wager in ways:
        better = worths[wager] > best
        best[better], times[better] = worths[wager][better], wager
    return _played(duel, worths, times)


def play_by_rank(game: MainWagers, ways: Sequence[int], duel: Duel) -> Best:
    """Return the best strategy that uses only the rank of the hand, and its results.

    With a higher hand, the player never wagers less than with a lower hand. The player can ignore
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

    A gain is summed over all of the dealer's hands, in units of the Ante. If the odds are so high
    that the sum would not fit in 64 bits, raise ValueError.
    """
    against = _outcomes(duel)
    worths = {FOLD: np.full(len(duel.hands), -duel.deals, np.int64)}
    for wager in ways:
        nets = {
            outcome: _nets(game.stake, by_hand, wager, duel.hand)
            for outcome, by_hand in game.decisions.items()
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

    ``times`` is the wager after the Ante, as a multiple of the Ante.
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


def _outcomes(duel: Duel) -> dict[Comparison, Integers]:
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


def main_entry(offer: Offer, counted: Enumerator) -> OddsEntry:
    chapter = offer.chapter
    main = chapter.main_game
    against = counted.get(duel(chapter))
    paytables = _paytables(chapter, offer.paytable, offer.mini_royal)
    game = main_wagers(chapter, offer.paytable, offer.mini_royal)
    best = play_best(game, main.times, against)
    outcomes = [outcome for outcome in OUTCOMES if outcome != "not_qualified" or main.not_qualified]
    chosen = _chosen(chapter, paytables)
    return OddsEntry(
        game=chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=best.house_edge,
        hands=tuple(_hand_lines(chapter, paytables, against)),
        rule=paytables[chosen].rule if chosen else main.odds_rule,
        mini_royal=offer.mini_royal_cell,
        note=_note(offer, paytables.get(chosen)),
        tables=offer.at,
        pays_what=_pays_what(chapter),
        strategy=strategy_in_words(main.ranking, main, against, best.times),
        mixed=tuple(
            MixedHand(hand=hand, hands={str(times): number for times, number in ways.items()})
            for hand, ways in mixed_hands(main.ranking, against, best.times)
        ),
        by_rank=_by_rank(main, game, against, best),
        element_of_risk=best.element_of_risk,
        average_wager=best.average_wager,
        outcomes=tuple(
            OutcomeLine(outcome=outcome, combinations=best.deals[outcome], of=best.of)
            for outcome in ("fold", *outcomes)
        ),
    )


_TO_WHOM: Final = {
    "played": "paid if the player does not fold",
    "not_lower": "paid if the player's hand is not lower",
    "lower": "paid if the player's hand is lower",
}


def _pays_what(chapter: Chapter) -> str:
    bonus = main_choice(chapter)
    if bonus is None:
        return ""
    return f"{bonus.choice.replace('_', ' ')}, on the {bonus.on}, {_TO_WHOM[bonus.when]}"


def _by_rank(main: Main, game: MainWagers, against: Duel, best: Best) -> ByRank | None:
    plain = play_by_rank(game, main.times, against)
    if plain.house_edge == best.house_edge:
        return None
    return ByRank(
        strategy=strategy_in_words(main.ranking, main, against, plain.times),
        house_edge=plain.house_edge,
    )


def _note(offer: Offer, paytable: Paytable | None) -> str:
    notes = []
    versions = offer.chapter.version
    if paytable and versions:
        rule = versions[0].rule.rpartition("(")[0]
        which = "with" if paytable.version else "without"
        notes.append(f"This paytable is for tables {which} a version of {rule}.")
    return " ".join([*notes, *offer.limit_notes({offer.chapter.main_game.odds_rule})])


def main_wagers(chapter: Chapter, choice: str | None, mini_royal: int = 0) -> MainWagers:
    """Return how a table settles the main wagers.

    ``mini_royal`` has the odds to 1 of an added mini-royal, or 0.
    """
    bonus = main_choice(chapter)
    choices: dict[str, str | dict[str, int]] = {}
    if bonus and choice:
        choices = {bonus.choice: choice}
        if mini_royal:
            choices[MINI_ROYAL] = {bonus.item: mini_royal}
    steps = table_rules(chapter, choices).steps
    return next(step for step in steps if isinstance(step, MainWagers))


def best_play(chapter: Chapter, choice: str | None, counted: Enumerator) -> Best:
    game = main_wagers(chapter, choice)
    return play_best(game, chapter.main_game.times, counted.get(duel(chapter)))


def folded_strengths(chapter: Chapter, counted: Enumerator) -> frozenset[int]:
    """Return the strengths of the hands that the optimal strategy folds.

    The strategy is computed with the first paytable. The paytables of 649a.12(b) and (c) differ
    only in payouts for hands that are always played.

    Raises:
        ValueError: some hands of one strength are folded and others are not.
    """
    times = best_play(chapter, main_choices(chapter)[0], counted).times.tolist()
    by_strength: dict[int, set[bool]] = {}
    strengths = counted.get(duel(chapter)).strength
    for strength, wager in zip(strengths, times, strict=True):
        by_strength.setdefault(strength, set()).add(wager == FOLD)
    if any(len(folds) > 1 for folds in by_strength.values()):
        raise ValueError("some hands of one strength are folded and some are not")
    return frozenset(strength for strength, folds in by_strength.items() if True in folds)


def _paytables(chapter: Chapter, choice: str | None, mini_royal: int) -> dict[str, Paytable]:
    found = {}
    for bonus in chapter.main_bonuses:
        ranking = ranking_of(chapter, bonus.ranking)
        paytable = choose(bonus.table, ranking, choice if bonus.choice else None)
        if mini_royal and bonus.mini_royal:
            paytable = with_mini_royal(paytable, mini_royal)
        found[bonus.choice or bonus.item] = paytable
    return found


def _chosen(chapter: Chapter, paytables: Mapping[str, Paytable]) -> str:
    """Return the key of the chosen paytable, or else of the first one; empty if there is none."""
    choices = [bonus.choice for bonus in chapter.main_bonuses if bonus.choice]
    return next(iter([*choices, *paytables]), "")


def _hand_lines(
    chapter: Chapter, paytables: Mapping[str, Paytable], against: Duel
) -> Iterator[HandLine]:
    """Yield a line for each hand of the player; royals that no paytable lists share a line."""
    main = chapter.main_game
    ranking = ranking_of(chapter, main.ranking)
    hands = ranking.names
    printed = dict(paytables)
    if main.follow_pays:
        printed[main.follow] = paytables_of(main.follow_pays, hands)[0]
    names = [rows_of(paytable, ranking) for paytable in printed.values()]
    shown = {
        hand: min((rows[hand][0] for rows in names), key=hands.index, default=hand)
        for hand in hands
    }
    deals: Counter[str] = Counter()
    for hand, number in zip(against.hand, against.hands, strict=True):
        deals[shown[hand]] += number
    chosen = _chosen(chapter, paytables)
    for hand in (hand for hand in hands if hand in deals):
        cells = {name: paytable.cells.get(hand, "") for name, paytable in printed.items()}
        yield HandLine(
            hand=hand,
            combinations=deals[hand],
            of=deals.total(),
            pays=cells.get(chosen, main.odds),
            beside={name: cell for name, cell in cells.items() if cell and name != chosen},
        )
