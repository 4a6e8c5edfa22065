"""Games without cards: what their files can say, their chances, and who wins."""

import json
import random
import re
from collections import Counter
from fractions import Fraction
from itertools import product
from math import perm
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from bonus.law.games import Games, read_chapter
from bonus.law.meter_terms import meter_terms
from bonus.law.paytables import ChapterError
from bonus.law.results import chances_of, source_words
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from bonus.settling.winning_cards import winning_cards
from controllers.demo.resettlement import held_before
from meters.floor.game_files import read_games
from tests.games.naive import HOUSE, law_of, settled
from tests.games.rounds import GAMES
from tests.games.texts import game_text, wager_text

DICE, TRIPS = "keystone_dice", "keystone_trips"
TEXT: Final = {game: (HOUSE / f"{game}.toml").read_text() for game in (DICE, TRIPS)}


def wheel(last: int) -> str:
    """Return a game of a wheel, whose last result names the pockets 1 to `last`.

    Of these, 17 and the first dozen are named by earlier results.
    """

    def pockets(*names: object) -> str:
        return f"pockets = {json.dumps([str(name) for name in names])}"

    return (
        TEXT[DICE]
        .replace("dice = 2", pockets("00", *range(37)))
        .replace('rolls = ["6-6"]', pockets("0", "00"))
        .replace('rolls = ["4-4"]', pockets(17))
        .replace('rolls = ["sum 11"]', pockets(*range(1, 13)))
        .replace('rolls = ["sum 8"]', pockets(*range(1, last + 1)))
    )


def entry(game: str, wager: str) -> OddsEntry:
    offers = offers_of(GAMES[game], {}, DrawOdds())
    return next(
        found
        for offer in offers
        if (found := entry_of(offer, Enumerator())).wager == wager
    )  # fmt: skip


def random_results(game: str, rng: random.Random) -> dict[str, Any]:
    """Return a round with random wagers, in which every result is frequent."""
    law = law_of(game)
    names = [result["name"] for result in law["result"]] + ["other"]
    positions = []
    for number in rng.sample(range(1, law["deal"]["positions"] + 1), rng.randint(1, 5)):
        made = [wager["names"][0] for wager in law["wager"] if rng.random() < 0.8]
        wagers = {
            name: {"trips_progressive": 500, "eight_bet": 700}.get(name, 100) for name in made
        }
        box: dict[str, Any] = {"position": number, "wagers": wagers}
        if rng.random() < 0.5:
            box["patron"] = rng.choice(("ann", "bob"))
        if law["deal"]["hand"]:
            box |= {"cards": [rng.choice(names)]} if rng.random() < 0.9 else {"no_win": True}
        positions.append(box)
    meter, wager = law["meter"][0]["name"], 500 if game == TRIPS else 100
    held = {"wager": wager, "amount": rng.randrange(50_000, 900_000)}
    played = {"game": game, "positions": positions, "meters": {meter: held}}
    if game == DICE:
        held["reserve"] = rng.randrange(5_000)
        played["dealer"] = [rng.choice(names)]
    return played


@pytest.mark.parametrize("game", [DICE, TRIPS])
def test_a_second_settlement_of_the_file_agrees_line_by_line(game: str) -> None:
    rng = random.Random(38)
    seen: Counter[str] = Counter()
    for _ in range(400):
        played = random_results(game, rng)
        found = json.loads(msgspec.json.encode(settle_line(json.dumps(played).encode(), GAMES)))
        lines, meters = settled(played)
        assert found["lines"] == lines, played
        assert found["meters"] == meters, played
        seen.update(f"{line['outcome']} {line.get('hand')}" for line in lines)
    for result in (each["name"] for each in law_of(game)["result"]):
        assert seen[f"paid {result}"] + seen[f"collected {result}"] > 10, seen


def test_the_players_of_a_tables_result_divide_it_each_player_once() -> None:
    """By hand: two players divide $100.01, and the cent that is left stays in the meter."""
    bet = {"wagers": {"dice_bet": 100}}
    played = {
        "game": DICE,
        "positions": [
            {"position": 1, **bet}, {"position": 4, "patron": "ann", **bet},
            {"position": 6, "patron": "ann", **bet}, {"position": 8, "wagers": {"eight_bet": 100}},
        ],
        "dealer": ["twelve"],
        "meters": {"dice_jackpot": {"wager": 100, "amount": 10_001, "reserve": 300}},
    }  # fmt: skip
    found = settle_line(json.dumps(played).encode(), GAMES)
    assert [(line.position, line.outcome, line.paid, line.rule) for line in found.lines] == [
        (8, "collected", 0, "KD.6(b)"),
        (6, "paid", 5_000, "KD.4(a)"),
        (4, "collected", 0, "KD.3(b)"),
        (1, "paid", 5_000, "KD.4(a)"),
    ]
    assert found.meters["dice_jackpot"].amount == 1 + 1_000 + 300


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"dealer": ["As"]}, "bad_card"),
        ({"dealer": ["twelve", "twelve"]}, "wrong_cards"),
        ({"dealer": []}, "wrong_cards"),
        ({}, "cards_missing"),
        ({"dealer": ["twelve"], "community": ["Js", "Ts"]}, "wrong_field"),
        ({"dealer": ["twelve"], "draw": {"magic_card": "Js"}}, "wrong_field"),
    ],
)
def test_a_round_with_a_wrong_result_is_refused(wrong: dict[str, Any], code: str) -> None:
    positions = [{"position": 1, "wagers": {"dice_bet": 100}}]
    meters = {"dice_jackpot": {"wager": 100, "amount": 10_000}}
    played = {"game": DICE, "positions": positions, "meters": meters} | wrong
    with pytest.raises(RoundError) as refusal:
        settle_line(json.dumps(played).encode(), GAMES)
    assert refusal.value.code == code


def test_the_chances_of_dice_are_those_of_every_roll() -> None:
    counted: Counter[str] = Counter()
    for roll in product(range(1, 7), repeat=2):
        names = {"6-6": "twelve", "4-4": "hard_eight"}
        by_sum = {11: "eleven", 8: "easy_eight"}
        exact = names.get("-".join(map(str, roll)))
        counted[exact or by_sum.get(sum(roll), "other")] += 1
    every = {name: Fraction(number, 36) for name, number in counted.items()}
    assert chances_of(GAMES[DICE]) == every


def test_the_chances_of_a_wheel_count_each_pocket_once() -> None:
    assert chances_of(read_chapter(wheel(35))) == {
        "twelve": Fraction(2, 38), "hard_eight": Fraction(1, 38), "eleven": Fraction(12, 38),
        "easy_eight": Fraction(22, 38), "other": Fraction(1, 38),
    }  # fmt: skip


DRAGON: Final = """
chapter = "DL"
game = "dragon_link"
title = "Dragon Link"
[[meter]]
name = "dragon_jackpot"
title = "Dragon Jackpot"
[deal]
deck_rule = "DL.1"
rule = "DL.2"
positions = 9
positions_rule = "DL.2"
hand = 0
dealer = 1
[chances]
baccarat_decks = 8
[[result]]
name = "dragon_7"
baccarat = { winner = "banker", cards = [3], total = [7] }
[[result]]
name = "panda_8"
baccarat = { winner = "player", cards = [3], total = [8] }
[[result]]
name = "tie"
baccarat = { winner = "tie" }
[[result]]
name = "banker"
baccarat = { winner = "banker" }
[[wager]]
names = ["dragon_bet"]
meter = "dragon_jackpot"
short = ["Dragon"]
ranking = "results"
cards = ["dealer"]
placing = "DL.3"
divided = "DL.4(c)"
paid_from = "table_inventory"
validation = { rule = "DL.5(a)", stays = "DL.5(b)" }
[[wager.table]]
rule = "DL.4(a)"
[wager.table.pays]
dragon_7 = "100% of meter"
panda_8 = "10 for 1"
[wager.table.progression]
rule = "DL.4(b)"
seed = "$50 for 1"
reseed = "$50 for 1"
primary = "15%"
[irregular]
void = "DL.6"
dealer_exposed = "DL.6"
settled = []
"""


def dealers(*results: str, of: str = "blackjack_decks = 6") -> str:
    """Return a game whose results are a blackjack dealer's hands, the last of which wins."""
    named = "".join(
        f'[[result]]\nname = "r{number}"\n{have}\n' for number, have in enumerate(results, start=1)
    )
    cut = DRAGON.index("[[result]]"), DRAGON.index("[[wager]]")
    text = f"{DRAGON[: cut[0]]}{named}{DRAGON[cut[1] :]}"
    text = text.replace('panda_8 = "10 for 1"\n', "").replace("dragon_7", f"r{len(results)}")
    return text.replace("baccarat_decks = 8", of)


def test_the_published_numbers_of_baccarat_with_eight_decks() -> None:
    """Banker, player and tie are the counts that mathematicians published for this game."""
    chapter = read_chapter(DRAGON)
    chances = chances_of(chapter)
    deals = perm(416, 6)
    assert chances["tie"] * deals == 475_627_426_473_216
    assert (chances["banker"] + chances["dragon_7"]) * deals == 2_292_252_566_437_888
    assert (chances["other"] + chances["panda_8"]) * deals == 2_230_518_282_592_256
    assert chances["dragon_7"] == Fraction(19_129_247_848, 848_912_750_595)
    assert "every deal of baccarat from 8 full decks" in source_words(chapter)


def test_baccarat_dealt_card_by_card_agrees_with_the_odds() -> None:
    """A dealer of its own: shuffled shoes, and the drawing rules as a table prints them."""
    rng, found, coups = random.Random(88), Counter[str](), 200_000
    shoe = [min(number, 10) % 10 for number in range(1, 14)] * 32
    for _ in range(coups):
        cards = iter(rng.sample(shoe, 6))
        player, banker = [next(cards), next(cards)], [next(cards), next(cards)]
        p, b = sum(player) % 10, sum(banker) % 10
        if p < 8 and b < 8:
            third = None
            if p < 6:
                third = next(cards)
                player.append(third)
            draws = (
                b < 6
                if third is None
                else (
                    b < 3
                    or (b == 3 and third != 8)
                    or (b == 4 and 2 <= third <= 7)
                    or (b == 5 and 4 <= third <= 7)
                    or (b == 6 and third in {6, 7})
                )
            )
            if draws:
                banker.append(next(cards))
        p, b = sum(player) % 10, sum(banker) % 10
        if p == b:
            found["tie"] += 1
        elif b > p:
            found["dragon_7" if b == 7 and len(banker) == 3 else "banker"] += 1
        else:
            found["panda_8" if p == 8 and len(player) == 3 else "other"] += 1
    for name, chance in chances_of(read_chapter(DRAGON)).items():
        assert found[name] / coups == pytest.approx(float(chance), abs=0.004), name


@pytest.mark.parametrize("soft", [False, True])
def test_a_blackjack_dealer_who_draws_card_by_card_agrees_with_the_odds(*, soft: bool) -> None:
    results = (
        "blackjack = { cards = [2], total = [21] }", "blackjack = { total = [17] }",
        "blackjack = { bust = true, cards = [5, 6, 7, 8] }", "blackjack = { bust = true }",
    )  # fmt: skip
    of = f"blackjack_decks = 2\nhits_soft_17 = {str(soft).lower()}"
    chapter = read_chapter(dealers(*results, of=of))
    rule = "draws to" if soft else "stands on"
    assert f"2 full decks who {rule} a 17" in source_words(chapter)
    rng, found, hands = random.Random(22), Counter[str](), 150_000
    shoe = [11, *range(2, 10), 10, 10, 10, 10] * 8
    for _ in range(hands):
        cards = iter(rng.sample(shoe, 20))
        hand = [next(cards), next(cards)]
        while True:
            total, aces = sum(hand), hand.count(11)
            while total > 21 and aces:
                total, aces = total - 10, aces - 1
            if total > 17 or (total == 17 and not (soft and aces)):
                break
            hand.append(next(cards))
        if total == 21 and len(hand) == 2:
            found["r1"] += 1
        elif total == 17:
            found["r2"] += 1
        elif total > 21:
            found["r3" if len(hand) > 4 else "r4"] += 1
        else:
            found["other"] += 1
    for name, chance in chances_of(chapter).items():
        assert found[name] / hands == pytest.approx(float(chance), abs=0.005), name


def test_the_first_two_cards_of_a_dealer_are_a_blackjack_as_often_as_counted_by_hand() -> None:
    chapter = read_chapter(dealers("blackjack = { cards = [2], total = [21] }"))
    assert chances_of(chapter)["r1"] == Fraction(2 * 24 * 96, 312 * 311)


def test_a_simulation_with_dice_of_its_own_agrees_with_the_odds() -> None:
    """One player, with its own arithmetic in dollars, for 300,000 rolls."""
    dice = random.Random(8)
    meter, reserve, paid, other_paid = 20.0, 0.0, 0.0, 0
    rolls = 300_000
    for _ in range(rolls):
        one, two = dice.randint(1, 6), dice.randint(1, 6)
        meter, reserve = meter + 0.20, reserve + 0.05
        if one + two == 12:
            paid, meter, reserve = paid + meter, 10 + reserve, 0.0
        elif one == two == 4:
            paid, meter = paid + meter / 8, meter * 7 / 8
        elif one + two == 11:
            paid += 3
        if one + two == 8:
            other_paid += 10 if one == two else 6
    found = entry(DICE, "dice_bet").long_run
    assert found is not None
    assert 1 - paid / rolls == pytest.approx(float(found.house_edge), abs=0.02)
    eight = entry(DICE, "eight_bet")
    assert 1 - other_paid / rolls == pytest.approx(float(eight.house_edge), abs=0.02)
    assert eight.house_edge == 1 - Fraction(1 * 10 + 4 * 6, 36)


def test_the_odds_say_where_chances_come_from() -> None:
    declared = entry(TRIPS, "trips_progressive").source
    assert "declared by the house, and not calculated: Six decks" in declared
    assert "calculated from 2 dice with 6 sides" in entry(DICE, "dice_bet").source
    shared = entry(DICE, "dice_bet").when_shared
    assert [each.players for each in shared] == [*range(1, 9)]


def test_a_fixed_sum_does_not_hide_that_players_divide_the_meter() -> None:
    chapter = read_chapter(changed(DICE, '"3 for 1"', '"$3"'))
    (offer, *_) = offers_of(chapter, {}, DrawOdds())
    found = entry_of(offer, Enumerator())
    assert len(found.when_shared) == 8
    assert "they divide a percentage of the meter" in found.note


def test_two_wagers_on_one_result_divide_each_meter_by_its_own_players() -> None:
    """By hand: two players of the first wager get $50 each, and one of the second $80."""
    text = TEXT[DICE].replace("keystone_dice", "two_dice")
    title, of_meter = text[text.index("[[meter]]") : text.index("[deal]")], "dice_jackpot"
    wager = text[text.index('[[wager]]\nnames = ["dice') : text.index("# A wager that feeds no")]
    second = wager.replace("dice_bet", "box_bet").replace(of_meter, "box_jackpot")
    text = text.replace("[deal]", title.replace(of_meter, "box_jackpot") + "[deal]")
    text = text.replace("[irregular]", second + "[irregular]")
    games = Games([(read_chapter(text), "x")])
    both = {"dice_bet": 100, "box_bet": 100}
    played = {
        "game": "two_dice",
        "positions": [
            {"position": 1, "wagers": {"dice_bet": 100}},
            {"position": 2, "wagers": both},
        ],
        "dealer": ["twelve"],
        "meters": {
            of_meter: {"wager": 100, "amount": 10_000, "reserve": 0},
            "box_jackpot": {"wager": 100, "amount": 8_000, "reserve": 0},
        },
    }
    lines = settle_line(json.dumps(played).encode(), games).lines
    assert [(line.position, line.item, line.paid) for line in lines] == [
        (2, "dice_bet", 5_000), (2, "box_bet", 8_000), (1, "dice_bet", 5_000),
    ]  # fmt: skip
    meters = (of_meter, "box_jackpot")
    terms = {meter: meter_terms(meter, 100, None, "two_dice", games) for meter in meters}
    for meter, shares in ((of_meter, 2), ("box_jackpot", 1)):
        held = held_before(terms[meter], lines, 0)
        assert held is not None
        assert held.amount_micros // 10_000 in range(5_000 * shares, 10_001)


def test_an_old_result_of_a_table_that_now_plays_cards_is_shown_as_it_is() -> None:
    found = winning_cards(
        [GAMES["lucky_seven"]], "seven_progressive", hand=["twelve"], dealer=[], community=[]
    )
    assert found.winning == ("twelve",)


def changed(game: str, old: str, new: str) -> str:
    assert old in TEXT[game], old
    return TEXT[game].replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (changed(DICE, "dice = 2", ""), "[chances] with exactly one of source, dice, pockets,"),
        (changed(DICE, "dice = 2", 'dice = 2\nsource = "x"'), "exactly one of"),
        (changed(DICE, "[chances]\ndice = 2", ""), "exactly one of"),
        (changed(DICE, "dice = 2", "dice = 6"), "dice: 1 to 5 are possible"),
        (changed(DICE, '"6-6"', '"7-6"'), "'7-6' is not a roll of 2 dice: write '4-4' or 'sum 8'"),
        (changed(DICE, '"6-6"', '"6-6-6"'), "is not a roll of 2 dice"),
        (changed(DICE, '"sum 11"', '"sum 13"'), "'sum 13' is not a roll of 2 dice"),
        (changed(DICE, '"sum 8"', '"4-4"'), "easy_eight: no roll is left for this result"),
        (changed(DICE, 'rolls = ["6-6"]', 'chance = "1/36"'), "twelve: write `rolls`"),
        (changed(DICE, "hand = 0", "hand = 1"), "hand = 0 and dealer = 1 if the"),
        (changed(DICE, "dealer = 1", "dealer = 1\ncommunity = 2"), "no community cards"),
        (changed(DICE, '"easy_eight"', '"eleven"'), "eleven is the name of two results"),
        (changed(DICE, '"easy_eight"', '"other"'), "other has a meaning: choose another name"),
        (changed(DICE, 'divided = "KD.3(b)"\n', ""), "name the section under which they divide"),
        (changed(DICE, "divided", "forfeited = \"KD.3\"\ndivided"), "a fold does not forfeit"),
        (changed(DICE, "positions = 8", "positions = 100"), "at most 99 positions are possible"),
        (changed(DICE, '"twelve"', '"' + "t" * 33 + '"'), "has more than 32 characters"),
        (changed(DICE, 'names = ["dice_bet"]', 'names = ["dice_dealer"]'), "ends with _dealer"),
        (changed(TRIPS, "[wager.envy]", '[wager.envy]\nlowest = "trips"'), "out `lowest` under"),
        (changed(TRIPS, '"1/17"', '"1/' + "9" * 101 + '"'), "is not a chance"),
        (changed(DICE, 'ranking = "results"', 'ranking = "five_card"'), "ranking is 'results'"),
        (changed(DICE, 'eleven = "3 for 1"', 'elven = "3 for 1"'), "'elven' is not a hand of"),
        (changed(DICE, '"3 for 1"', '"1% of meter + 3 for 1"'), "either a percentage of it or"),
        (changed(DICE, "short = ", 'lowest = "eleven"\nshort = '), "leave out `lowest`"),
        (changed(TRIPS, '"1/468"', '"0.2%"'), "'0.2%' is not a chance: write a fraction"),
        (changed(TRIPS, '"1/17"', '"17/1"'), "'17/1' is not a chance"),
        (changed(TRIPS, '"1/17"', '"467/468"'), "more than 1"),
        (changed(TRIPS, "hand = 1", "hand = 2"), "a game of results has hand = 1"),
        (changed(TRIPS, 'cards = ["hand"]', 'cards = ["dealer"]'), 'result in cards = ["hand"]'),
        (changed(TRIPS, "placing", 'divided = "KT.4"\nplacing'), "divided is for wagers on the"),
        (changed(DICE, '"KD.5(a)"', '"5a"'), "no subsection of KD: write KD.4 or KD.4(a)"),
        (changed(TRIPS, "source", 'pockets = ["a", "a"]\n#'), "a pocket has two entries"),
        (dealers("blackjack = { cards = [2] }", "blackjack = { total = [22], cards = [2] }"),
         "r2: no hand is left for this result: there is none, or earlier results name them"),
        (dealers("baccarat = {}"), "r1: write `blackjack`, as [chances] says, and nothing else"),
        (dealers("blackjack = {}"), "leave no chance for 'other'"),
        (dealers("blackjack = {}", of="blackjack_decks = 9"), "blackjack_decks: 1 to 8 are poss"),
        (dealers("baccarat = {}", of="baccarat_decks = -1"), "baccarat_decks: 1 to 8 are possible"),
        (dealers("baccarat = {}", of="baccarat_decks = 1\nhits_soft_17 = true"),
         "hits_soft_17 needs blackjack_decks"),
        (wheel(36), "leave no chance for 'other': leave one of them out"),
        (wheel(35).replace('["17"]', '["99"]'), "hard_eight: there is no pocket '99'"),
        (changed(DICE, "[chances]", "[main]\nx = 1\n[chances]"), "main"),
        (re.sub(r"\[\[result\]\]\n.*\n.*\n\n", "", TEXT[DICE]), "chances without a [[result]]"),
    ],
)  # fmt: skip
def test_a_file_with_wrong_results_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(text)


def test_a_card_game_can_pay_for_the_dealers_own_hand(tmp_path: Path) -> None:
    """The dealer's royal wins the meter for both players; a declaration changes nothing."""
    text = game_text(
        "dealers", ["m"], wager_text("own", "m", cards="dealer"), dealer=5, community=0
    )
    with pytest.raises(ChapterError, match="name the section under which they divide"):
        read_chapter(text)
    (tmp_path / "dealers.toml").write_text(text.replace("placing", 'divided = "H.4"\nplacing'))
    games = read_games(tmp_path)
    played = {
        "game": "dealers",
        "positions": [
            {"position": 1, "no_win": True, "wagers": {"own": 100}},
            {"position": 2, "cards": ["2c", "3c"], "wagers": {"own": 100}},
        ],
        "dealer": ["As", "Ks", "Qs", "Js", "Ts"],
        "meters": {"m": {"wager": 100, "amount": 20_000}},
    }
    found = settle_line(json.dumps(played).encode(), games)
    assert [(line.position, line.paid, line.on) for line in found.lines] == [
        (2, 10_000, "dealer"),
        (1, 10_000, "dealer"),
    ]
