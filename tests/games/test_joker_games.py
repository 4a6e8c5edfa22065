"""Games with a joker: settlement, cards as evidence, entry at the table, and their files."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from bonus.cards import JOKER, WITH_JOKER, card_name
from bonus.law.games import read_chapter
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from bonus.settling.winning_cards import winning_cards
from controllers.demo.decks import deal, jackpot_hands, shuffle, stack, stacked_hand
from controllers.panel.table_view import view_table
from controllers.table.state import Layout
from meters.floor.branding import Branding
from meters.floor.floor_file import parse_floor
from meters.floor.game_files import GameError, parse_game
from meters.floor.patron_words import patron_words
from meters.floor.paytable_text import pays_of, winners_of
from meters.http.settle_page import floor_forms
from meters.wire.messages import Result
from tests.controllers.floors import HandTable
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE, settled
from tests.games.rounds import GAMES, settled_by_pitlink

GAME: Final = "keystone_joker"
TEXT: Final = (HOUSE / f"{GAME}.toml").read_text()
FLOOR: Final = parse_floor(
    floor_text(
        link_text(
            "one",
            meter_text("joker_jackpot"),
            table_text("T-1", "joker_jackpot", game=GAME, positions=6),
        ),
        games=str(HOUSE),
    )
)
LINK: Final = FLOOR.link[0]
LAYOUT: Final = Layout.of(LINK, LINK.table[0])
WHOLE_DECK: Final = tuple(WITH_JOKER.numbers.values())
PATTERN: Final = '[[pattern]]\nranking = "x"\nname = "y"\nall = { same = "suit" }\n[irregular]'


def played(*hands: str, wagers: tuple[str, ...] = ("joker_progressive",)) -> dict[str, Any]:
    return {
        "game": GAME,
        "positions": [
            {"position": number, "cards": cards.split(), "wagers": dict.fromkeys(wagers, 100)}
            for number, cards in enumerate(hands, start=1)
        ],
        "meters": {"joker_jackpot": {"wager": 100, "amount": 60_000, "reserve": 500}},
    }


def random_round(rng: random.Random) -> dict[str, Any]:
    """Return a round in which all cards but the joker are often of few suits and ranks."""
    lowest, suits = rng.choice(((0, 4), (7, 4), (3, 2), (0, 1)))
    deck = [card for card in WHOLE_DECK if card == JOKER or
            (card // 4 >= lowest and card % 4 < suits)]  # fmt: skip
    rng.shuffle(deck)
    hands = [deck[at : at + 7] for at in range(0, len(deck) - 6, 7)][:6]
    fields = played(*(" ".join(map(card_name, hand)) for hand in hands))
    for box in fields["positions"]:
        box["wagers"] = {
            wager: 100 for wager in ("joker_progressive", "fortune_wager") if rng.random() < 0.8
        }
    fields["positions"] = [box for box in fields["positions"] if box["wagers"]]
    return fields


def test_a_second_settlement_of_the_file_agrees_line_by_line() -> None:
    rng, seen = random.Random(53), Counter[str]()
    for _ in range(250):
        fields = random_round(rng)
        if not fields["positions"]:
            continue
        found = settled_by_pitlink(fields)
        lines, meters = settled(fields)
        assert found["lines"] == lines, fields
        assert found["meters"] == meters
        seen.update(line["hand"] for line in lines if line["outcome"] == "paid")
    assert len(seen) > 7, seen


def test_the_odds_are_of_all_deals_with_the_joker() -> None:
    """The usual bet of 8,000 to 2 has a known house edge, here without its Royal Match."""
    offers = offers_of(GAMES[GAME], {}, DrawOdds())
    entry = entry_of(next(one for one in offers if one.wager == "fortune_wager"), Enumerator())
    assert {line.of for line in entry.hands} == {154_143_080}
    assert float(entry.house_edge) == pytest.approx(0.0778 + 72 * 1_850 / 154_143_080, abs=0.0005)
    assert float(entry.hit_frequency) == pytest.approx(0.192, abs=0.001)


@pytest.mark.parametrize(
    ("hand", "winning"),
    [
        ("As Ah Ad Ac Jk 2c 3d", "As Ah Ad Ac Jk"),
        ("5h 6h 7h Jk 9h 2c 3d", "5h 6h 7h Jk 9h"),
        ("5h 6h 7h Jk 9h Th Jh", "5h 6h 7h Jk 9h Th Jh"),
        ("Ts Js Qs Jk As 2c 2d", "Ts Js Qs Jk As"),
        ("9c 9d 9h 9s Jk 2c Kd", "9c 9d 9h 9s Jk"),
        ("Ac Ad Jk 9h 9s 2c 3d", "Ac Ad Jk 9h 9s"),
        ("5h 6c 7h 8d 9s Jk Kc", "6c 7h 8d 9s Jk"),
    ],
)
def test_the_cards_of_a_win(hand: str, winning: str) -> None:
    found = winning_cards(
        [GAMES[GAME]], "joker_progressive", hand=hand.split(), dealer=[], community=[]
    )
    assert found.counted == tuple(hand.split())
    assert found.winning == tuple(winning.split())


def test_the_joker_is_dealt_once_and_only_in_games_with_one() -> None:
    twice = played("As Ah Ad Ac Jk 2c 3d", "Ks Kh Kd Kc Jk 4c 5d")
    with pytest.raises(RoundError, match=re.escape("Jk occurs twice (KJ.1)")):
        settle_line(json.dumps(twice).encode(), GAMES)
    hand = {"position": 1, "cards": ["As", "Jk"], "wagers": {}}
    other = {"game": "keystone_stud", "positions": [hand], "community": ["2c", "3c", "4c"]}
    with pytest.raises(RoundError, match="'Jk' is not a card"):
        settle_line(json.dumps(other).encode(), GAMES)


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ("jokers = 1", "jokers = 2", "jokers: 0 or 1 is possible"),
        ("jokers = 1", "jokers = -1", "jokers: 0 or 1 is possible"),
        ("jokers = 1", "", "write jokers = 1 under [deal]"),
        ("jokers = 1", "jokers = 1\ndecks = 2", "cannot have several decks"),
        ('ranking = "pai_gow"', 'ranking = "five_card"', 'with a joker, write ranking = "pai_gow"'),
        ('ranking = "pai_gow"', 'ranking = "paigow"', "no ranking 'paigow': is pai_gow meant?"),
        ('cards = ["hand"]', 'cards = ["dealer"]', "write cards"),
        ("hand = 7", "hand = 6", "which has 6 cards: 7 are needed"),
        ("positions = 6", "positions = 8", "one deck is not enough for 8 hands"),
        ('lowest = "straight"', 'lowest = "pair"', "'pair' is not a hand"),
        ("[irregular]", PATTERN, "cannot have [[pattern]]"),
        ('full_house = "5 to 1"', 'full_house = "3 to 1"', "full_house pays less than flush"),
        (
            'three_of_a_kind = "3 to 1"\nstraight = "2 to 1"',
            'straight = "2 to 1"\nthree_of_a_kind = "3 to 1"',
            "three_of_a_kind ranks above straight here: move it up",
        ),
        (
            'three_of_a_kind = "3 to 1"', 'three_of_a_kind = "1 to 1"',
            "three_of_a_kind pays less than straight, which ranks below it here",
        ),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_played_is_refused(was: str, becomes: str, reason: str) -> None:
    assert was in TEXT
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(TEXT.replace(was, becomes, 1))


def test_odds_above_a_percentage_are_refused_at_the_line_of_their_row() -> None:
    row = 'seven_card_straight_flush_with_joker = "'
    text = TEXT.replace(f"{row}50% of meter", f"{row}1000 for 1", 1)
    line = text[: text.index(f"{row}1000")].count("\n") + 1
    reason = (
        "has fixed odds, but the lower hand five_aces wins 10% of meter, which can grow above any"
        " odds: write at least `10% of meter`, or `10% of meter + 1000 for 1`"
    )
    with pytest.raises(GameError, match=f"joker.toml:{line}: .*{re.escape(reason)}$"):
        parse_game(text, "joker.toml")
    parse_game(text.replace("1000 for 1", "10% of meter + 1000 for 1", 1))


def test_the_joker_is_entered_corrected_and_refused_a_second_time() -> None:
    table = HandTable(layout=LAYOUT)
    table.play("""
        wager 2 joker_progressive; wager 3 joker_progressive; lockout; chips 2
        hand 3 As Ah Ad Ac Jk 2c 3d
        hand 2 Ks Kh Kd Kc Jk 4c 5d -> card_twice
        retract hand 3; hand 3 As Ah Ad Ac 2c 3d 4d
        hand 2 Ks Kh Kd Kc Jk 4c 5d
    """)
    view = view_table(table.layout, table.state, fault=None, values={})
    assert view.joker
    assert "Jk" in view.seen
    table.play("settle")
    sent = table.last(Result)
    assert [" ".join(box.cards or ()) for box in sent.positions] == [
        "Ks Kh Kd Kc Jk 4c 5d",
        "As Ah Ad Ac 2c 3d 4d",
    ]
    assert sent.entered_before
    (before,) = sent.entered_before
    assert " ".join(before.cards) == "As Ah Ad Ac Jk 2c 3d"


def test_the_settle_page_offers_the_joker() -> None:
    (form,) = floor_forms([(LINK, LINK.table[0])], {}).games
    assert (form.joker, form.hand, form.decks) == (True, 7, 1)


def test_bots_deal_53_cards() -> None:
    assert sorted(shuffle(random.Random(1), 1, 1)) == sorted(WHOLE_DECK)


@pytest.mark.parametrize("hand", jackpot_hands(LAYOUT, "joker_progressive"))
def test_a_stacked_deck_makes_the_hand_at_the_winner(hand: str) -> None:
    for seed in range(3):
        rng = random.Random(seed)
        stacked = stacked_hand(LAYOUT, "joker_progressive", hand, rng, lambda _: True)
        assert stacked is not None
        deck = stack(rng, stacked, [1, 3, 4], 3, LAYOUT.deal)
        assert sorted(deck) == sorted(WHOLE_DECK)
        dealt = deal(deck, [1, 3, 4], LAYOUT.deal, community=False)
        fields = played(" ".join(map(card_name, dealt.hands[3])))
        assert settled_by_pitlink(fields)["lines"][0]["hand"] == hand


def test_patrons_see_five_aces_with_a_joker_and_a_royal_flush_only_as_an_example(
    tmp_path: Path,
) -> None:
    """With a joker, there are more royal flushes than one in each suit."""
    text = TEXT.replace('royal_flush = "500 for 1"', 'royal_flush = "5% of meter"')
    (tmp_path / "keystone_joker.toml").write_text(text)
    link = link_text(
        "one",
        meter_text("joker_jackpot"),
        table_text("T-1", "joker_jackpot", game=GAME, positions=6),
    )
    (meter,) = parse_floor(floor_text(link, games=str(tmp_path))).link[0].meter
    words = patron_words(Branding(), "en")
    found = {each.hand: (" ".join(each.cards), each.exact) for each in winners_of(meter, words)}
    assert found == {
        "Seven-card straight flush": ("", False),
        "Seven-card straight flush with joker": ("", False),
        "Five aces": ("As Ah Ad Ac Jk", False),
        "Royal flush": ("As Ks Qs Js Ts", False),
    }
    rows = [row.hand for row in pays_of([meter], words).rows]
    assert rows[-2:] == ["Straight flush", "Four of a kind"]
