"""The main games: edges to the last digit, decisions, and words."""

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from random import Random
from typing import cast

import pytest
from msgspec.structs import replace

from bonus.cards import DECK, Card, card_name, parse_card
from bonus.hands.rankings import COMPARES
from bonus.hands.three import three_card
from bonus.law.chapter_file import PrintedTable
from bonus.law.games import chapters, load_chapter
from bonus.odds.dealer_duels import Duel
from bonus.odds.enumerations import Enumerator, duel
from bonus.odds.main_edges import best_play, folded_strengths, main_wagers, play_best, play_by_rank
from bonus.odds.offers import main_choices
from bonus.odds.strategy_text import FOLD, name_hand, strategy_in_words
from tests.naive.settle import settle
from tests.naive.shapes import Box, Round

QUEEN_SIX_FOUR = "Qc 6d 4h"


def cards(names: str) -> list[Card]:
    return [parse_card(name) for name in names.split()]


_LEAST = three_card(cards(QUEEN_SIX_FOUR))[1]


def test_three_card_poker_as_published(counted: Enumerator) -> None:
    """3.37 % of the Ante and 2.01 % of all that is wagered, at 5, 4 and 1 to 1."""
    best = best_play(load_chapter("649a"), "b-A", counted)
    assert round(best.house_edge * 10**6) == 33_730
    assert round(best.element_of_risk * 10**4) == 201
    assert best.average_wager == Fraction(370, 221)
    assert sum(best.deals.values()) == best.of


def test_hands_of_one_strength_may_be_played_both_ways(counted: Enumerator) -> None:
    with pytest.raises(ValueError, match="one strength"):
        folded_strengths(load_chapter("679a"), counted)


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(3)", "679a.11(c)(3)", "682a.11(d)(2)")
@pytest.mark.parametrize(
    ("game", "paytables"),
    [
        ("three_card_poker", {"ante_bonus": "b-A"}),
        ("three_card_prime", {"bad_beat": "D"}),
        ("four_card_prime", {"bad_beat": "A"}),
        ("four_card_prime", {"bad_beat": "D"}),
    ],
)
def test_rounds_dealt_at_random_come_to_the_edge(
    game: str, paytables: Mapping[str, str], counted: Enumerator
) -> None:
    """The second implementation settles them.

    The strategy is a simple one that costs less than the random error: in the games of three cards,
    play with queen-six-four; in Four Card Prime, raise 3 times from tens, and once down to threes.
    """
    random = Random(game)
    four = game == "four_card_prime"
    hand, dealer, follow = (5, 6, "raise") if four else (3, 3, "play")
    compare = COMPARES["four_card" if four else "three_card"]
    once, thrice = (1 << 16 | 1 << 12, 1 << 16 | 8 << 12) if four else (_LEAST, 1 << 30)
    total = squares = 0
    trials = 60_000
    for _ in range(trials):
        dealt = random.sample(DECK, hand + dealer)
        strength = compare(dealt[:hand])[1]
        times = 3 if strength >= thrice else 1 if strength >= once else 0
        box: Box = {
            "position": 1, "folded": not times, "cards": [*map(card_name, dealt[:hand])],
            "wagers": {"ante": 1} | ({follow: times} if times else {}),
        }  # fmt: skip
        played = {"game": game, "paytables": paytables, "positions": [box]}
        played["dealer"] = [*map(card_name, dealt[hand:])]
        lines = settle(cast("Round", played))["lines"]
        net = sum(line["paid"] + line["returned"] for line in lines) - 1 - times
        total += net
        squares += net * net
    best = best_play(chapters()[game], next(iter(paytables.values())), counted)
    assert abs(total + trials * best.house_edge) < 5 * isqrt(squares)


def small_duel(**columns: list[int]) -> Duel:
    size = len(columns["higher"])
    return Duel(
        hand=["pair", "high_card"][:size],
        strength=[2, 1][:size],
        suits=[(3,)] * size,
        hands=[1] * size,
        not_qualified=columns.get("not_qualified", [0] * size),
        equal=columns.get("equal", [0] * size),
        higher=columns["higher"],
        deals=100,
        examples={2: (0, 1, 8), 1: (0, 5, 14)},
    )


@pytest.mark.section("682a.11(d)(2)")
@pytest.mark.reading("F1")
def test_what_each_outcome_is_worth() -> None:
    """One hand, one kind of outcome at a time."""

    def edge(chapter: str, times: int = 0, **columns: list[int]) -> Fraction:
        game = load_chapter(chapter)
        main = game.main_game
        pays = PrintedTable(rule="", pays={"pair": f"{times} to 1"})
        bonuses = tuple(replace(bonus, choice="", table=(pays,)) for bonus in main.bonus if times)
        played = main_wagers(replace(game, main=replace(main, bonus=bonuses)), None)
        return play_best(played, main.times, small_duel(**columns)).house_edge

    # Without a qualified dealer the Ante wins in 649a, the Play in 679a.
    assert edge("649a", higher=[0], not_qualified=[100]) == -1
    assert edge("679a", higher=[0], not_qualified=[100]) == -1
    # Ties return in 649a and win in the others. Three times the Ante is raised if that wins.
    assert edge("649a", higher=[0], equal=[100]) == 0
    assert edge("679a", higher=[0], equal=[100]) == -2
    assert edge("682a", higher=[0], equal=[100]) == -4
    # A losing hand is folded. A hand that is better than a fold because of a bonus is not.
    assert edge("649a", higher=[100]) == 1
    assert edge("649a", 5, higher=[100]) == 2 - 5
    assert edge("649a", 5, higher=[0], equal=[100]) == -5
    assert edge("679a", 12, higher=[100]) == 1 - 12
    # The Bad Beat Bonus of 682a loses the Raise, so the smallest is made; Win Bonus on a tie.
    assert edge("682a", 25, higher=[100]) == 1 - 25
    assert edge("682a", 25, higher=[0], equal=[100]) == -4 - 25


@pytest.mark.section("679a.12(a)")
@pytest.mark.reading("P7")
def test_every_unit_of_play_is_paid_if_the_dealer_does_not_qualify() -> None:
    """This shows if Play may be more than the Ante, which no chapter allows yet."""
    played = main_wagers(load_chapter("679a"), "A")
    best = play_best(played, (1, 3), small_duel(higher=[0], not_qualified=[100]))
    assert (best.house_edge, best.average_wager) == (Fraction(-3), Fraction(4))


def test_the_smaller_wager_is_made_if_two_are_equal() -> None:
    best = play_best(
        main_wagers(load_chapter("682a"), "A"), (1, 2, 3), small_duel(higher=[50, 100])
    )
    assert best.times.tolist() == [1, FOLD]
    assert best.average_wager == Fraction(3, 2)
    assert best.deals == {"fold": 100, "not_qualified": 0, "higher": 50, "equal": 0, "lower": 50}


@pytest.mark.parametrize(
    ("ranking", "hand", "group", "full"),
    [
        ("three_card", QUEEN_SIX_FOUR, "queen high", "queen-six-four"),
        ("three_card", "6c 6d Ah", "a pair of sixes", "a pair of sixes with ace"),
        ("three_card", "Ac 2d 3h", "a straight to the three", "a straight to the three"),
        ("three_card", "Ac Kc Qc", "a straight flush to the ace", "a straight flush to the ace"),
        ("three_card", "9c 7c 2c", "a flush, nine high", "a flush of nine-seven-two"),
        ("three_card", "9c 9d 9h", "three nines", "three nines"),
        ("four_card", "Tc Td Ah 4s 2c", "a pair of tens", "a pair of tens with ace-four"),
        ("four_card", "Tc Td 9h 9s 2c", "two pairs, tens and nines", "two pairs, tens and nines"),
        ("four_card", "Tc Td Th 9s 2c", "three tens", "three tens with nine"),
        ("four_card", "6c 6d 6h 6s 2c", "four sixes", "four sixes"),
        ("four_card", "Ac 2d 3h 4s 9c", "a straight to the four", "a straight to the four"),
        ("four_card", "Kc Jd 9h 7s 5c", "king high", "king-jack-nine-seven"),
    ],
)
def test_hands_by_name(ranking: str, hand: str, group: str, full: str) -> None:
    named = name_hand(ranking, cards(hand))
    assert (named.group, named.full) == (group, full)


@pytest.mark.section("649a.11(b)")
@pytest.mark.section("679a.11(b)")
def test_strategies_in_words(counted: Enumerator) -> None:
    words = {}
    for chapter in ("649a", "679a"):
        played = load_chapter(chapter)
        best = best_play(played, main_choices(played)[0], counted)
        found = counted.get(duel(played))
        words[chapter] = strategy_in_words("three_card", played.main_game, found, best.times)
    assert words["649a"] == ("Play with queen-six-four or better.", "Fold everything else.")
    assert " ".join(words["679a"]) == (
        "Play with queen-six-four or better, and with queen-six-three in three suits (24 of 60"
        " hands). Fold everything else."
    )


@pytest.mark.section("679a.11(b)")
@pytest.mark.section("649a.11(b)")
def test_the_best_by_the_rank_of_the_hand_alone(counted: Enumerator) -> None:
    """No rule that plays from some rank upwards is better. In 649a no rule at all is better."""
    for name, same in (("649a", True), ("679a", False)):
        chapter = load_chapter(name)
        main = chapter.main_game
        against = counted.get(duel(chapter))
        for choice in main_choices(chapter):
            game = main_wagers(chapter, choice)
            plain = play_by_rank(game, main.times, against)
            best = play_best(game, main.times, against)
            assert (plain.house_edge == best.house_edge) is same
            assert plain.house_edge >= best.house_edge
            by_strength: dict[int, set[int]] = {}
            for strength, times in zip(against.strength, plain.times.tolist(), strict=True):
                by_strength.setdefault(strength, set()).add(times)
            assert all(len(times) == 1 for times in by_strength.values())
            ways = [min(by_strength[strength]) for strength in sorted(by_strength)]
            assert ways == sorted(ways)
            assert (
                name_hand(
                    main.ranking,
                    [Card(card) for card in against.examples[sorted(by_strength)[ways.index(1)]]],
                ).full
                == "queen-six-four"
            )


@pytest.mark.slow
@pytest.mark.section("682a.11(b)")
def test_the_strategy_of_four_card_prime_in_words(counted: Enumerator) -> None:
    chapter = load_chapter("682a")
    for choice in main_choices(chapter):
        best = best_play(chapter, choice, counted)
        words = strategy_in_words(
            "four_card", chapter.main_game, counted.get(duel(chapter)), best.times
        )
        assert " ".join(words) == (
            "Raise 3 times the Ante with a pair of tens with ace-four or better, and with 40,140 of"
            " 87,048 hands of a pair of tens with ace-three down to a pair of nines with king-jack"
            " (a pair of tens: 38,292 of 60,264; a pair of nines: 1,848 of 26,784), as the suits"
            " and the cards that do not play decide."
            " Raise 1 time the Ante with the rest down to a pair of threes."
            " Fold everything else."
        )
