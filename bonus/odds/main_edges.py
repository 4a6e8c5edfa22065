"""The house edges of the main games (the games against the dealer) under the optimal strategy."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import Chapter, Main
from bonus.law.choices import MINI_ROYAL
from bonus.law.paytables import Paytable, paytables_of, rows_of, with_mini_royal
from bonus.odds.dealer_duels import Duel
from bonus.odds.enumerations import Enumerator, duel
from bonus.odds.odds_entries import ByRank, HandLine, MixedHand, OddsEntry, OutcomeLine
from bonus.odds.offers import Offer, choose, main_choice, main_choices
from bonus.odds.strategy import FOLD, OUTCOMES, Best, play_best, play_by_rank
from bonus.odds.strategy_text import mixed_hands, strategy_in_words
from bonus.settling.table_rules import table_rules
from bonus.settling.wagers_at_odds import MainWagers


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
    """Return which bonus the paytables pay, and when; empty if the casino has no choice."""
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
    """Return how a table with a paytable, and perhaps a mini-royal, settles the main wagers."""
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

    The paytables differ only in payouts for hands that are always played, so the strategy, computed
    with the first, is the same with each (649a.12(b), (c)).

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
    """Return the paytable of each bonus, by the name of the casino's choice, or of the bonus."""
    found = {}
    for bonus in chapter.main_bonuses:
        paytable = choose(bonus.table, bonus.ranking, choice if bonus.choice else None)
        if mini_royal and bonus.mini_royal:
            paytable = with_mini_royal(paytable, mini_royal)
        found[bonus.choice or bonus.item] = paytable
    return found


def _chosen(chapter: Chapter, paytables: Mapping[str, Paytable]) -> str:
    """Return the key of the bonus whose paytable the casino chooses.

    Without a choice, it is the first key; empty if there is none.
    """
    choices = [bonus.choice for bonus in chapter.main_bonuses if bonus.choice]
    return next(iter([*choices, *paytables]), "")


def _hand_lines(
    chapter: Chapter, paytables: Mapping[str, Paytable], against: Duel
) -> Iterator[HandLine]:
    """Yield a line for each hand of the player; hands that every paytable pays alike share one."""
    main = chapter.main_game
    hands = RANKINGS[main.ranking].names
    printed = dict(paytables)
    if main.follow_pays:
        printed[main.follow] = paytables_of(main.follow_pays, hands)[0]
    names = [rows_of(paytable, hands) for paytable in printed.values()]
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
