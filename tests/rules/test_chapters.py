"""The chapters' files: all three load, each error is refused, and a new chapter is a file."""

import re
from importlib.resources import files

import pytest

from bonus.law.choices import choice_problem, offered
from bonus.law.games import chapters, read_chapter
from bonus.law.meter_terms import terms_in
from bonus.law.paytables import ChapterError
from bonus.rounds import Round, RoundPosition
from bonus.settling.round_checks import check_round
from bonus.settling.settlement import resolve, settle_round
from bonus.settling.table_rules import table_rules
from tests.rules.dealing import cards

FURTHER = """
chapter = "690a"
game = "river_poker"
title = "River Poker"

[deal]
deck_rule = "690a.3(a)"
rule = "690a.8(c)"
positions = 5
positions_rule = "690a.2(a)"
hand = 5
dealer = 5

[main]
stake = "blind"
follow = "call"
times = [2, 4]
placing = "690a.7(d)(1)"
asking = "690a.11(b)"
ranking = "four_card"
highest = "four_of_a_kind"
odds = "3 to 1"
odds_rule = "690a.12(a)"
lower = "690a.11(c)(2)"
tie = { rule = "690a.11(c)(3)", pays = false }

[[wager]]
names = ["river_bonus"]
ranking = "five_card"
cards = ["hand"]
placing = "690a.7(d)(2)"
needs = ["blind"]
forfeited = "690a.11(b)(1)"
lowest = "flush"
paid_from = "table_inventory"

[[wager.table]]
rule = "690a.12(b)"
choices = ["A", "B"]
[wager.table.pays]
royal_flush = ["500 to 1", "400 to 1"]
straight_flush = ["100 to 1", "90 to 1"]
four_of_a_kind = ["50 to 1", "40 to 1"]
full_house = ["9 to 1", "9 to 1"]
flush = ["6 to 1", "5 to 1"]

[irregular]
void = "690a.13"
dealer_exposed = "690a.13(d)"
settled = ["river_bonus"]
"""

PRINTED = {
    name: files("bonus.law").joinpath("chapters", f"{name}.toml") for name in ("649a", "679a")
}


def test_a_further_chapter_is_a_file() -> None:
    """A new game with known kinds of wagers can be wagered, checked and settled."""
    chapter = read_chapter(FURTHER)
    assert list(offered(chapter)) == ["river_bonus"]
    assert list(offered(chapter)["river_bonus"]) == ["A", "B"]
    assert choice_problem(chapter, "river_bonus", "B", {}) is None
    rules = table_rules(chapter, {"river_bonus": "B"})
    played = Round(
        positions=(
            RoundPosition(
                4,
                None,
                cards("As Ks 9s 4s 2s"),
                folded=False,
                wagers={"blind": 100, "call": 400, "river_bonus": 10},
            ),
            RoundPosition(2, None, None, folded=True, wagers={"blind": 100, "river_bonus": 10}),
        ),
        dealer=cards("Qc Qd Qh 3c 5d"),
    )
    check_round(played, rules, {})
    dues, _ = resolve(settle_round(played, rules, {}), {}, {})
    lines = [due.line for due in dues]
    assert [(line.position, line.item, line.paid, line.returned, line.rule) for line in lines] == [
        (4, "blind", 0, 0, "690a.11(c)(2)"),
        (4, "call", 0, 0, "690a.11(c)(2)"),
        (4, "river_bonus", 50, 10, "690a.12(b)"),
        (2, "blind", 0, 0, "690a.11(b)"),
        (2, "river_bonus", 0, 0, "690a.11(b)(1)"),
    ]


def test_a_further_chapter_pays_its_meters_by_its_own_tables() -> None:
    text = PRINTED["649a"].read_text("utf-8").replace("649a.", "650a.")
    text = text.replace('chapter = "649a"', 'chapter = "650a"').replace("three_card_poker", "other")
    chapter = read_chapter(text.replace('["70 for 1"', '["99 for 1"'))
    terms = {"progressive": terms_in(chapter, "progressive", 100, "A")}
    rules = table_rules(chapter, {"progressive": "A", "pair_plus": "A"})
    box = RoundPosition(
        3, None, cards("9s 8s 7s"), folded=False, wagers={"pair_plus": 5, "progressive": 100}
    )
    played = Round((box,), cards("2c 3d 9h"))
    check_round(played, rules, terms)
    dues, _ = resolve(settle_round(played, rules, terms), {}, terms)
    lines = [due.line for due in dues]
    assert [(line.item, line.paid, line.rule) for line in lines] == [
        ("pair_plus", 5 * 35, "650a.12(d)"),
        ("progressive", 9_900, "650a.12(e)(1)"),
    ]


def test_each_of_several_wagers_with_one_table_is_settled() -> None:
    text = FURTHER.replace('["river_bonus"]\nranking', '["river_bonus", "bonus_dealer"]\nranking')
    chapter = read_chapter(text.replace('cards = ["hand"]', 'cards = ["hand", "hand"]'))
    rules = table_rules(chapter, {"river_bonus": "A"})
    wagers = {"blind": 100, "call": 400, "river_bonus": 10, "bonus_dealer": 20}
    box = RoundPosition(1, None, cards("As Ks 9s 4s 2s"), folded=False, wagers=wagers)
    played = Round((box,), cards("Qc Qd Qh 3c 5d"))
    check_round(played, rules, {})
    dues, _ = resolve(settle_round(played, rules, {}), {}, {})
    lines = [due.line for due in dues]
    assert [(line.item, line.paid) for line in lines[2:]] == [
        ("river_bonus", 60),
        ("bonus_dealer", 120),
    ]


@pytest.mark.section("649a.12")
@pytest.mark.section("679a.12")
@pytest.mark.section("682a.12")
def test_the_three_chapters_load_by_their_games() -> None:
    assert {game: chapter.chapter for game, chapter in chapters().items()} == {
        "three_card_poker": "649a",
        "three_card_prime": "679a",
        "four_card_prime": "682a",
    }


@pytest.mark.section("649a.7(d)")
@pytest.mark.section("679a.7(d)")
@pytest.mark.section("682a.7(d)")
def test_the_wagers_of_each_chapter_are_in_the_order_of_settling() -> None:
    def wagers(game: str) -> list[str]:
        return list(table_rules(chapters()[game], {}).placings)

    assert wagers("three_card_poker") == [
        "ante",
        "play",
        "pair_plus",
        "progressive",
        "six_card_bonus",
        "five_card_progressive",
        "five_card_hand_bonus",
        "five_card_hand_bonus_dealer",
        "five_of_six_progressive",
    ]
    assert wagers("three_card_prime") == ["ante", "play", "prime", "pair_bonus", "all_six"]
    assert wagers("four_card_prime") == ["ante", "raise", "prime", "aces_bonus", "all_six"]


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('straight_flush = ["100 to 1", "90 to 1"]\n', "", "straight_flush missing"),
        ('["100 to 1", "90 to 1"]', '["100 to 1"]', "has 1 cells, but the table has 2 choices"),
        ('["100 to 1", "90 to 1"]', '["100 to 1", ""]', "straight_flush pays less than four"),
        ('["100 to 1", "90 to 1"]', '["100 to 1", "x"]', "'x' is not a payout"),
        ('["100 to 1", "90 to 1"]', '["100 for 1", "90 to 1"]', "both 'to 1' and 'for 1'"),
        ('["100 to 1", "90 to 1"]', '["10% of meter", "90 to 1"]', "feeds no meter"),
        ('["500 to 1", "400 to 1"]', '["", "400 to 1"]', "begin with the highest hand"),
        ('["500 to 1", "400 to 1"]', '["99 to 1", "400 to 1"]', "royal_flush pays less than"),
        ('["500 to 1", "400 to 1"]', '["5% of meter", "400 to 1"]', "a percentage of meter, but"),
        ("full_house =", "fullhouse =", "'fullhouse' is not a hand of five_card"),
        ('lowest = "flush"', 'lowest = "straight"', "straight missing"),
        ('lowest = "flush"', 'lowest = "pairs"', "is not a hand of the ranking"),
        ('ranking = "five_card"', 'ranking = "six_card"', "not formed from hand"),
        ('ranking = "five_card"', 'ranking = "whist"', "no ranking 'whist'"),
        ('cards = ["hand"]', 'cards = ["hand", "hand"]', "cards needs an entry for each of"),
        ('cards = ["hand"]', 'cards = ["hole"]', "Invalid enum value 'hole'"),
        ('needs = ["blind"]', 'needs = ["ante"]', "needs 'ante', which cannot be placed first"),
        ('names = ["river_bonus"]', 'names = ["call"]', "call has two entries"),
        ('choices = ["A", "B"]', 'choices = ["A", "A"]', "need different names"),
        ("times = [2, 4]", "times = [4, 2]", "times must be rising numbers"),
        ("times = [2, 4]", "times = []", "times must be rising numbers"),
        ('highest = "four_of_a_kind"', 'highest = "pair"', "four_card hands cannot begin with"),
        ('odds = "3 to 1"', 'odds = "3 for 1"', "does not have the form 'N to 1'"),
        ("dealer = 5\n", "dealer = 3\n", "hands are not formed from 3 cards"),
        ('settled = ["river_bonus"]', 'settled = ["blind"]', "'blind' must be an optional wager"),
        ('rule = "690a.12(b)"', 'rule = "649a.12(b)"', "names no subsection of 690a"),
        ('asking = "690a.11(b)"', 'asking = "section 11"', "names no subsection of 690a"),
        ('ranking = "four_card"', 'ranking = "five_card"', "five_card hands cannot be compared"),
        ("positions = 5", "positions = 0", "a deal needs a position"),
        ("positions = 5", "positions = 10", "one deck is not enough for 10 hands"),
        ('needs = ["blind"]', 'needs = ["call"]', "which cannot be placed first"),
        ('needs = ["blind"]', 'needs = ["river_bonus"]', "which cannot be placed first"),
        ('paid_from = "table_inventory"', 'paid_from = "hand_pay"', "is a hand pay"),
        ('rule = "690a.11(c)(3)", pays = false', "pays = false", "returns wagers must name a"),
        ('(c)(3)", pays = false', '(c)(3)", pays = true', "a tie that pays must not name a"),
        ('title = "River Poker"', "", "missing required field `title`"),
        ('title = "River Poker"', 'title = "River Poker"\nseats = 5', "unknown field `seats`"),
        ('tie = { rule = "690a.11(c)(3)", pays = false }\n', "", "missing required field `tie`"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(was: str, becomes: str, reason: str) -> None:
    assert was in FURTHER
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(FURTHER.replace(was, becomes, 1))


@pytest.mark.parametrize(
    ("chapter", "was", "becomes", "reason"),
    [
        (
            "649a",
            'among = "649a.12(d)"',
            'among = "649a.12(e)"',
            "no paytable to which a mini-royal",
        ),
        ("649a", 'least = "40 to 1"', 'least = "40"', "does not have the form"),
        ("649a", 'of = "ante"', 'of = "antes"', "limit a wager to 1 or more times"),
        ("649a", 'returns = "play"', 'returns = "pair_plus"', "'pair_plus' is neither of these"),
        (
            "649a",
            "settled = []",
            'settled = ["progressive"]',
            "must be an optional wager that feeds no meter",
        ),
        ("649a", 'on = "ante"', 'on = "pair_plus"', "on and returns must name ante or play"),
        ("649a", 'name = "2"', 'name = "1"', "1 is the name of two versions"),
        (
            "649a",
            'choices = ["A", "B", "C", "D", "E"]',
            'choices = ["A", "B", "C", "D", "E"]\nversion = true',
            "version is for the paytables of a bonus",
        ),
        (
            "679a",
            'choices = ["A", "B", "C", "D"]',
            'choices = ["A", "B", "C", "D"]\nversion = true',
            "in a game with [[version]]",
        ),
        ("649a", 'choice = "ante_bonus"', 'choice = "pair_plus"', "is the name of two choices"),
        ("649a", 'divided = "649a.12(i)(2)"\n', "", "that divides a jackpot"),
        (
            "649a",
            '["hand_and_community", "dealer_and_community"]',
            '["dealer_and_community", "hand_and_community"]',
            "draws need wagers on the player's and",
        ),
        ("649a", 'meter = "progressive"', 'meter = "five_of_six_progressive"', "fed by two"),
        ("649a", 'names = ["progressive"]', 'names = ["a_envy"]', "only an Envy Bonus has a name"),
        (
            "649a",
            'names = ["progressive"]',
            'names = ["a_dealer"]',
            "and no other, has a name that ends with _dealer",
        ),
        ("649a", 'name = "progressive"', 'name = "jackpot"', "there is no [[meter]] with the name"),
        ("649a", "[deal]", '[[meter]]\nname = "x"\ntitle = "X"\n\n[deal]', "x: no wager feeds"),
        ("649a", 'name = "progressive"', 'name = "five_card_hand_bonus"', "the name of two meters"),
        ("649a", 'short = ["Hand", "Dealer"]', 'short = ["Hand"]', "needs one short name"),
        ("649a", 'least = "500 for 1"', 'least = "500 to 1"', "does not have the form"),
        ("649a", 'stays = "649a.11(c)(5)(iv)"', 'stays = "649.1"', "names no subsection"),
        ("649a", 'three_of_a_kind = "9 for 1"\n', "", "three_of_a_kind missing"),
        ("649a", 'mini_royal = ["500', 'mini_royals = ["500', "'mini_royals' is not a hand"),
        (
            "649a",
            '"10% of meter"',
            '"301 for 1"\npair = "1 for 1"',
            "four_of_a_kind ranks above pair here",
        ),
        ("649a", '"25% of meter"', '"101% of meter"', "is not a payout"),
        ("649a", '"25% of meter"', '"0% of meter"', "is not a payout"),
        ("649a", '= "$100"', '= "$24"', "mini_royal_spades pays less than mini_royal"),
        ("649a", ', mini_royal = "$25"', "", "mini_royal missing"),
        ("649a", 'wager = "$5"', 'wager = "$1"', "each wager amount needs one schedule"),
        ("649a", 'wager = "$5"', 'wager = "5"', "'5' is not a sum"),
        ("649a", 'primary = ["14%"', 'primary = ["0%"', "primary must be above 0%"),
        ("649a", 'reserve = "8%"', 'reserve = "79%"', "primary must be above 0%"),
        ("649a", 'primary = ["14%"', 'primary = ["14.555%"', "is not a rate"),
        ("649a", 'seed = ["$1,000 for 1"', 'seed = ["$0"', "the seed of a meter must be above $0"),
        ("649a", 'reseed = "$0"', 'reseed = "nothing"', "is not a seed"),
        ("649a", 'rule = "649a.12(e)(1)"', 'rule = "649a(e)"', "names no subsection"),
        ("649a", 'rule = "649a.12(e)(5)"', 'rule = "679a.12(e)(5)"', "names no subsection"),
        ("649a", 'lowest = "straight"', 'lowest = "straight"\nodds = 1', "unknown field `odds`"),
        ("649a", 'names = ["five_card_progressive"]', "names = []", "needs a name and a paytable"),
        ("649a", 'names = ["five_card_progressive"]', 'names = ["Jackpot"]', "Expected `str`"),
        ("649a", 'magic_card = "20 for 1"', 'magic_card = "N/A"', "'N/A' does not have the form"),
        ("649a", 'chapter = "649a"', "chapter = 649a", "Expected newline or end of document"),
        ("679a", "paid_from", "electronic = true\npaid_from", "it feeds no meter, so leave out"),
        (
            "679a",
            'covers = ["679a.12(a)", ',
            'covers = ["679a.12(z)", ',
            "the limit covers 679a.12(z), which pays nothing",
        ),
        ("679a", '["679a.12(a)", "679a.12(b)"]', "[]", "the limit covers nothing"),
        ("679a", 'choice = "payout_limit"', 'choice = "bad_beat"', "is the name of two choices"),
        ("679a", 'rank = "2"', 'rank = "23"', "the rank of the fourth card does not exist"),
        ("679a", 'rank = "2"', 'rank = "1"', "the rank of the fourth card does not exist"),
        ("679a", 'flush_or_lower = "1 to 1"', 'flush = "1 to 1"', "pair, high_card missing"),
        ("679a", 'flush_or_lower = "1 to 1"', 'flush_or_lower = "3 to 1"', "straight pays less"),
        ("679a", 'item = "play"', 'item = "ante"', "cannot have the name of another"),
        ("679a", 'choice = "bad_beat"\n', "", "write choice if its paytables have choices"),
        ("679a", 'least = "$50,000"', 'least = "50,000"', "is not a sum"),
    ],
)
def test_the_parts_that_only_some_chapters_have_are_checked_too(
    chapter: str, was: str, becomes: str, reason: str
) -> None:
    text = PRINTED[chapter].read_text("utf-8")
    assert was in text
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(text.replace(was, becomes, 1))
