"""Hands that a house describes, from several decks: what files say, who wins, and how often."""

import json
import random
import re
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from itertools import combinations, product
from math import comb
from typing import Any, Final

import msgspec
import pytest

from bonus.cards import DECK, parse_cards
from bonus.errors import UserError
from bonus.hands.five import best_five
from bonus.law.chapter_file import CardsHave, Chapter
from bonus.law.game_rankings import ranking_of
from bonus.law.games import read_chapter
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator, deals_of
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from tests.games.naive import HOUSE, law_of, settled
from tests.games.rounds import GAMES

GAME: Final = "keystone_twenty_one"
TEXT: Final = (HOUSE / f"{GAME}.toml").read_text()
PATTERN: Final = '[[pattern]]\nranking = "queens"\nname = "x"\nall = { same = "suit" }\n'
RESULT: Final = '[[result]]\nname = "x"\n[irregular]'


def entry(wager: str) -> OddsEntry:
    offers = offers_of(GAMES[GAME], {}, DrawOdds())
    return next(
        found
        for offer in offers
        if (found := entry_of(offer, Enumerator())).wager == wager
    )  # fmt: skip


def changed(old: str, new: str) -> str:
    assert old in TEXT, old
    return TEXT.replace(old, new, 1)


def with_pattern(have: str, **deal: object) -> Chapter:
    """Return the game with only one pattern, for the progressive wager on all its cards."""
    head, rest = TEXT.split("[[pattern]]", 1)
    for key, value in deal.items():
        head = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", head)
    wagers = rest[rest.index("[[wager]]") :]
    of_meter = wagers[: wagers.index("[wager.envy]")] + wagers[wagers.index("[irregular]") :]
    pays = re.sub(r"(?s)(?<=pays\]\n).*(?=\[wager.table.prog)", 'it = "100% of meter"\n', of_meter)
    pattern = f'[[pattern]]\nranking = "three_cards"\nname = "it"\n{have}\n'
    return read_chapter(f"{head}{pattern}{pays}")


def hand_of(chapter: Chapter, cards: str) -> str:
    return ranking_of(chapter, "three_cards").of(parse_cards(cards.split()))


@pytest.mark.parametrize(
    ("have", "fits", "misfits"),
    [
        ('all = { of_a_kind = [3], same = "suit" }', "As As As", "As As Ah"),
        ("all = { of_a_kind = [2] }", "As Ah Kd", "As Ah Ad"),
        ('all = { same = "color" }', "As Kc 2s", "As Kc 2d"),
        ('all = { same = "suit" }', "As Ks Ks", "As Ks Kc"),
        ("all = { sequence = true }", "2c As 3d", "2c As Kd"),
        ("all = { sequence = true }", "Kc As Qd", "Kc Ks Qd"),
        ('all = { cards = ["7", "6", "8"] }', "8c 7d 6h", "8c 7d 7h"),
        ('all = { cards = ["h", "Q"] }', "Qh Qs 2c", "Qh Ks 2c"),
        ('all = { cards = ["TJQK", "TJQKhd"] }', "2c Ks Td", "2c Ks Tc"),
        ("all = { blackjack_total = [21] }", "Ah 8c 2d", "Ah 8c 3d"),
        ("all = { blackjack_total = [12, 21] }", "Ah Ac Kd", "Ah Ac 8d"),
        ("all = { baccarat_total = [7] }", "Kh 8c 9d", "Kh 8c 8d"),
        ('hand = { cards = ["A", "TJQK"] }', "Kh Ac 2d", "2h Ac Kd"),
        ('hand = { same = "suit" }\ndealer = { cards = ["5"] }', "Kh Ah 5d", "Kh Ah 6h"),
        ("hand = { blackjack_total = [20] }", "Kh Jc 9d", "Kh 9c Jd"),
    ],
)
def test_cards_fit_a_pattern(have: str, fits: str, misfits: str) -> None:
    chapter = with_pattern(have)
    assert (hand_of(chapter, fits), hand_of(chapter, misfits)) == ("it", "other")


def test_cards_form_the_first_pattern_that_they_fit() -> None:
    hands = {"As As As": "suited_trips", "As As Ac": "trips", "2s 3s 4s": "straight_flush",
             "2s 3s 4c": "straight", "2s 2s 4s": "flush", "2s 2s 4c": "other"}  # fmt: skip
    assert {cards: hand_of(GAMES[GAME], cards) for cards in hands} == hands


def test_the_published_figures_of_21_plus_3_with_six_decks() -> None:
    """The numbers of hands are those that a mathematician published for this side bet."""
    lines = {line.hand: line.combinations for line in entry("twenty_one_progressive").hands}
    assert lines == {
        "suited_trips": 1_040, "straight_flush": 10_368, "trips": 25_272, "straight": 155_520,
        "flush": 292_896, "other": 4_528_224,
    }  # fmt: skip


def test_every_deal_of_physical_cards_gives_the_same_numbers() -> None:
    """Each of the 312 cards of the shoe is a card of its own; the dealer's card is the third."""
    shoe = [(rank, suit) for _ in range(6) for rank in "23456789TJQKA" for suit in "cdhs"]
    worth = dict.fromkeys("TJQK", 10) | {"A": 11}
    found: Counter[str] = Counter()
    for one, two in combinations(shoe, 2):
        twenty = sum(worth.get(rank) or int(rank) for rank, _ in (one, two)) == 20
        if one == two == ("Q", "h"):
            found |= {"queens_and_ace": found["queens_and_ace"] + 24}
            found["queens_of_hearts"] += 310 - 24
        elif twenty and one == two:
            found["matched_twenty"] += 310
        elif twenty:
            found["suited_twenty" if one[1] == two[1] else "twenty"] += 310
        else:
            found["other"] += 310
    queens = entry("queens_bet")
    assert {line.hand: line.combinations for line in queens.hands} == found
    pays = {"queens_and_ace": 1_000, "queens_of_hearts": 125, "matched_twenty": 19,
            "suited_twenty": 9, "twenty": 4}  # fmt: skip
    back = sum(number * (pays[hand] + 1) for hand, number in found.items() if hand in pays)
    assert queens.house_edge == 1 - Fraction(back, comb(312, 2) * 310)


def test_patterns_of_one_deck_are_the_hands_of_poker() -> None:
    chapter = with_pattern("all = { of_a_kind = [2, 2] }", decks=1, hand=3, dealer=2, positions=6)
    (offer,) = offers_of(chapter, {}, DrawOdds())
    deals = deals_of(offer, Enumerator(), {})
    assert deals == {"it": 123_552, "other": comb(52, 5) - 123_552}
    draw = random.Random(3)
    judge = ranking_of(chapter, "three_cards").of
    for _ in range(3_000):
        cards = draw.sample(DECK, 5)
        assert (judge(cards) == "it") == (best_five(cards) == "two_pair")


def random_deals(rng: random.Random) -> dict[str, Any]:
    """Return a round with random wagers of few ranks and suits, so that all hands are frequent."""
    ranks, suits = rng.choice((("TJQKA", "cdhs"), ("QA", "h"), ("789", "cs"), ("4", "cs")))
    shoe = [rank + suit for rank in ranks for suit in suits] * 6
    rng.shuffle(shoe)
    positions = []
    for number in rng.sample(range(1, 8), rng.randint(1, 5)):
        wagers = {
            name: 100 for name in ("twenty_one_progressive", "queens_bet") if rng.random() < 0.8
        }
        box: dict[str, Any] = {"position": number, "wagers": wagers}
        if rng.random() < 0.4:
            box["patron"] = rng.choice(("ann", "bob"))
        box |= {"cards": [shoe.pop(), shoe.pop()]}
        if wagers:
            positions.append(box)
    held = {"wager": 100, "amount": rng.randrange(50_000, 900_000), "reserve": rng.randrange(900)}
    return {
        "game": GAME, "positions": positions, "dealer": [shoe.pop()],
        "meters": {"twenty_one_jackpot": held},
    }  # fmt: skip


def test_a_second_settlement_of_the_file_agrees_line_by_line() -> None:
    rng = random.Random(21)
    seen: Counter[str] = Counter()
    for _ in range(600):
        played = random_deals(rng)
        if not played["positions"]:
            continue
        found = json.loads(msgspec.json.encode(settle_line(json.dumps(played).encode(), GAMES)))
        lines, meters = settled(played)
        assert found["lines"] == lines, played
        assert found["meters"] == meters, played
        seen.update(f"{line['outcome']} {line.get('hand')}" for line in lines)
    for pattern in law_of(GAME)["pattern"]:
        name = pattern["name"]
        assert seen[f"paid {name}"] + seen[f"collected {name}"] > 10, seen


def test_a_simulation_with_a_shoe_of_its_own_agrees_with_the_odds() -> None:
    """One player for 400,000 rounds, with arithmetic of its own in dollars."""
    rng = random.Random(5)
    shoe = list(product(range(13), range(4))) * 6
    meter, reserve, paid, rounds = 500.0, 0.0, 0.0, 400_000
    for _ in range(rounds):
        cards = rng.sample(shoe, 3)
        ranks = sorted(rank for rank, _ in cards)
        suited = len({suit for _, suit in cards}) == 1
        trips = len(set(ranks)) == 1
        run = ranks in ([0, 1, 12], list(range(ranks[0], ranks[0] + 3)))
        meter, reserve = meter + 0.14, reserve + 0.01
        if trips and suited:
            paid, meter, reserve = paid + meter, 500 + reserve, 0.0
        elif run and suited:
            paid, meter = paid + meter * 0.05, meter * 0.95
        elif trips or run:
            paid += 30 if trips else 6
    found = entry("twenty_one_progressive").long_run
    assert found is not None
    assert 1 - paid / rounds == pytest.approx(float(found.house_edge), abs=0.03)


@pytest.mark.parametrize("times", [6, 7])
def test_a_card_is_dealt_as_often_as_there_are_decks(times: int) -> None:
    cards = [["As", "As"]] * 3 + [["Kc", "Kd"]]
    played = {
        "game": GAME,
        "positions": [
            {"position": number, "cards": dealt, "wagers": {"queens_bet": 100}}
            for number, dealt in enumerate(cards, start=1)
        ],
        "dealer": ["As" if times == 7 else "Ac"],
    }
    if times == 6:
        assert settle_line(json.dumps(played).encode(), GAMES).lines
        return
    with pytest.raises(
        RoundError, match=re.escape("As occurs more than 6 times (KB.1)")
    ) as refusal:
        settle_line(json.dumps(played).encode(), GAMES)
    assert refusal.value.code == "card_twice"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (changed("decks = 6", "decks = 9"), "decks: 1 to 8 are possible"),
        (changed("decks = 6", "decks = 0"), "decks: 1 to 8 are possible"),
        (changed('"three_cards"\ncards', '"three_card"\ncards'),
         "three_card hands are formed from one deck: with 6 decks, describe the hands under"),
        (changed('"queens"\ncards', '"queen"\ncards'), "no ranking 'queen': is queens meant?"),
        (changed('ranking = "three_cards"', 'ranking = "five_card"'), "five_card is a ranking al"),
        (changed('ranking = "three_cards"', 'ranking = "four"'), "the ranking 'four' of a pattern"),
        (changed('name = "trips"', 'name = "straight_flush"'), "is the name of two patterns of"),
        (changed('name = "trips"', 'name = "other"'), "other has a meaning: choose another name"),
        (changed('name = "trips"', f'name = "{"t" * 33}"'), "has more than 32 characters"),
        (changed("all = { sequence = true }", ""), "straight: write what its cards have, such as"),
        (changed("of_a_kind = [3]", "of_a_kind = [1]"), "of_a_kind has numbers above 1"),
        (changed("of_a_kind = [3]", "of_a_kind = [2, 3]"), "numbers above 1, the greatest first"),
        (changed("of_a_kind = [3]", "of_a_kind = [4]"), "is about 4 cards, but there are 3"),
        (changed('["A"]', '["A", "K"]'), "cards of `dealer` is about 2 cards, but there are 1"),
        (changed('["A"]', '["10"]'), "'10' describes no card: write ranks of 23456789TJQKA"),
        (changed('["A"]', '["hA"]'), "'hA' describes no card"),
        (changed('["A"]', '[""]'), "'' describes no card"),
        (changed('["A"]', '["AA"]'), "'AA' describes no card: write ranks of 23456789TJQKA, then"),
        (changed('["A"]', '["Ahh"]'), "two aces are 'A', 'A'"),
        (changed("[20]", "[51]"), "blackjack_total: 51 is no total of 2 to 50"),
        (changed("[20]", f"[{10**20}]"), "is no total of 2 to 50"),
        (changed("blackjack_total = [20]", "baccarat_total = [10]"), "10 is no total of 0 to 9"),
        (changed('names = ["queens_bet"]', "names = []"), "each wager needs a name"),
        (changed("suited_trips = ", 'other = "1 for 1"\nsuited_trips = '), "not in the order"),
        (changed('straight = "6 for 1"', 'straight = "6 for 1"\nother = "1 for 1"'),
         "'other' pays nothing"),
        (changed('straight_flush = "$2" }', 'straight_flush = "$2", other = "$1" }'),
         "'other' brings no Envy Bonus"),
        (changed("[[wager]]", PATTERN * 41 + "[[wager]]"), "a game has at most 50 patterns"),
        (changed('same = "suit"', 'same = "rank"'), "Invalid enum value 'rank'"),
        (changed("dealer = 1", "dealer = 4"), "6 cards, but a pattern has at most 5"),
        (changed("dealer = 1", "dealer = 3"), "5 cards, but a pattern has at most 4"),
        (changed('["hand_and_dealer"]\nplacing = "KB.3(b)"', '["hand"]\nplacing = "KB.3(b)"'),
         "a pattern of queens has `hand` or `dealer`, so write cards"),
        (changed("positions = 7", "positions = 99").replace("decks = 6", "decks = 3"),
         "3 decks are not enough for 99 hands"),
        (changed("\nstraight = ", '\nflush = "2 for 1"\nstraight = '),
         "rows are not in the order of the [[pattern]] sections"),
        (changed("[wager.envy]", '[wager.envy]\nlowest = "trips"'), "leave out `lowest` under"),
        (changed("short", 'lowest = "trips"\nshort'), "leave out `lowest`"),
        (changed("[irregular]", RESULT), "leave it out"),
        (changed("decks = 6", "decks = 1").replace("[irregular]", RESULT),
         "a game has [[pattern]] or [[result]], not both"),
    ],
)  # fmt: skip
def test_a_file_with_wrong_patterns_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(text)


def test_a_bonus_of_the_main_game_is_on_no_pattern() -> None:
    text = files("controllers.demo").joinpath("games", "queens_duel.toml").read_text()
    bonus = text.index("[[main.bonus]]")
    ranking = text.index('ranking = "', bonus)
    text = f'{text[:ranking]}ranking = "queens"{text[text.index(chr(10), ranking) :]}'
    text = text.replace("[[wager]]", PATTERN + "[[wager]]", 1)
    with pytest.raises(ChapterError, match="is on no patterns"):
        read_chapter(text)


def test_odds_say_that_no_deal_wins_the_meter() -> None:
    chapter = with_pattern("all = { of_a_kind = [2], sequence = true }")
    (offer,) = offers_of(chapter, {}, DrawOdds())
    with pytest.raises(UserError, match="no deal wins a percentage of its meter"):
        entry_of(offer, Enumerator())


def test_a_pattern_says_something() -> None:
    """Each key of a condition is one that a pattern can have: none is forgotten in the check."""
    for key in CardsHave.__struct_fields__:
        value = {"same": '"suit"', "sequence": "true", "cards": '["A"]', "of_a_kind": "[2]"}
        assert with_pattern(f"all = {{ {key} = {value.get(key, '[7]')} }}").pattern
