"""Games in which players exchange cards: odds of the best exchange, rounds, files and bots."""

import random
import re
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from bonus.cards import DECK, card_name, parse_card
from bonus.law.games import read_chapter
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from controllers.demo.decks import deal, exchange_cards, kept_cards
from meters.floor.game_files import read_games
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.model.pit import Pit, code

DIRECTORY: Final = Path(str(files("controllers.demo").joinpath("games")))
TEXT: Final = (DIRECTORY / "five_draw.toml").read_text()
THREE: Final = (
    TEXT.replace("hand = 5", "hand = 3")
    .replace("exchange = 5", "exchange = 2")
    .replace("five_card", "three_card")
    .replace('lowest = "two_pair"', 'lowest = "straight"')
    .replace('royal_flush = "100%', 'mini_royal = "100%')
    .replace('seed = "$2,000 for 1"', 'seed = "$100 for 1"')
)
THREE_PAYS: Final = """\
mini_royal = "100% of meter"
straight_flush = "20 for 1"
three_of_a_kind = "15 for 1"
straight = "4 for 1"
[wager.table.progression]"""
THREE_TEXT: Final = re.sub(
    r"mini_royal = .*?\[wager.table.progression\]", THREE_PAYS, THREE, flags=re.DOTALL
)
FLOOR: Final = floor_text(
    link_text(
        "one",
        meter_text("five_draw_jackpot"),
        table_text("T-1", "five_draw_jackpot", game="five_draw", positions=5),
    ),
    games=str(DIRECTORY),
)
WAGER: Final = "five_draw_bet"
BAD_BEAT: Final = """\
[wager.bad_beat]
rule = "FD.4(c)"
lowest = "two_pair"
loser = "1% of meter"
[irregular]"""


def odds_of(text: str) -> OddsEntry:
    (offer,) = offers_of(read_chapter(text), {}, DrawOdds())
    return entry_of(offer, Enumerator())


def test_the_best_exchange_at_a_higher_seed_wins_the_jackpot_more_often() -> None:
    low, high = (
        odds_of(THREE_TEXT.replace('seed = "$100 ', f'seed = "${seed} ')) for seed in (20, 900)
    )
    chances = [entry.hands[0].chance for entry in (low, high)]
    assert chances[0] < chances[1]
    assert "exchange up to 2 cards in the best way for this wager alone" in low.note


def test_break_even_is_where_the_best_exchange_at_this_amount_leaves_the_house_nothing() -> None:
    """With the seed at the break-even amount, the best exchange has no house edge, by the cent."""
    entry = odds_of(THREE_TEXT)
    cents = entry.break_even_meter["100"]
    dollars = Fraction(cents, 100)
    edges = []
    for seed in (int(dollars), int(dollars) + 1):
        text = THREE_TEXT.replace(
            'seed = "$100 for 1"\nreseed', f'seed = "${seed:,} for 1"\nreseed'
        )
        edges.append(odds_of(text).house_edge)
    assert edges[0] > 0 >= edges[1]
    by_seed = entry.house_edge_at_empty_meter
    assert by_seed is not None
    assert entry.meter_return is not None
    assert by_seed - entry.meter_return * dollars > edges[1]


def test_with_tiers_each_break_even_amount_has_its_own_best_exchange() -> None:
    mini = '[[meter]]\nname = "draw_mini"\ntitle = "Mini"\n\n[deal]'
    text = THREE_TEXT.replace("[deal]", mini, 1)
    text = text.replace(
        'meter = "five_draw_jackpot"', 'meters = ["five_draw_jackpot", "draw_mini"]'
    )
    text = text.replace("100% of meter", "100% of five_draw_jackpot")
    text = text.replace('"20 for 1"', '"100% of draw_mini"')
    text = text.replace("15 for 1", "5 for 1").replace("4 for 1", "1 for 1")
    head, _, terms = text.partition("[wager.table.progression]")
    terms, _, end = terms.partition("[irregular]")
    both = (
        f"[wager.table.progressions.{one}]{terms}" for one in ("five_draw_jackpot", "draw_mini")
    )
    text = f"{head}{''.join(both)}[irregular]{end}".replace('"8%"', '"4%"')
    text = text.replace("$100 for 1", "$60 for 1")
    entry = odds_of(text)
    for tier in entry.tiers:
        dollars = Fraction(tier.break_even_meter["100"], 100)
        at_seed = entry.house_edge - tier.meter_return * (dollars - 60)
        assert at_seed > 0, "the exchange at the seed leaves the house an edge there"


def test_a_wager_without_a_meter_has_the_odds_of_its_best_exchange() -> None:
    text = re.sub(r"\[wager.table.progression\].*?\n\n", "\n", THREE_TEXT, flags=re.DOTALL)
    text = re.sub(r"\[\[meter\]\].*?\n\n", "", text, flags=re.DOTALL)
    text = re.sub(r"meter = .*\nshort.*\n|validation.*\n", "", text)
    text = text.replace("100% of meter", "200 for 1")
    entry = odds_of(text)
    back = sum(line.returned(100) for line in entry.hands)
    assert entry.house_edge == 1 - back
    dealt = odds_of(text.replace("exchange = 2\n", ""))
    assert entry.house_edge < dealt.house_edge


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ("exchange = 5", "exchange = 6", "exchange is 6: write a number from 1 to 5"),
        ("exchange = 5", "exchange = -1", "exchange is -1: write a number from 1 to 5"),
        ("positions = 5", "positions = 6", "one deck is not enough for 6 hands"),
        ("dealer = 0", "dealer = 5", "cannot have cards of the dealer"),
        ("dealer = 0", "dealer = 0\ncommunity = 2", "cannot have community cards"),
        ("dealer = 0", "dealer = 0\ndecks = 2", "cannot have several decks"),
        ("dealer = 0", "dealer = 0\njokers = 1", "cannot have a joker"),
        ("hand = 5", "hand = 6", "five cards with the ranking five_card, or three"),
        ('ranking = "five_card"', 'ranking = "aces"', "five cards with the ranking five_card"),
        ('cards = ["hand"]', 'cards = ["hand_and_community"]', 'write cards = ["hand"]'),
        ("50 for 1\"\nfour", "$500\"\nfour", "write odds or percentages instead of fixed sums"),
        (
            "[irregular]",
            BAD_BEAT,
            "bad_beat is not for a game in which players exchange cards",
        ),
        ("royal_flush =", "royal_flush_spades =", "a royal pays the same in every suit"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_counted_is_refused(was: str, becomes: str, reason: str) -> None:
    assert was in TEXT
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(TEXT.replace(was, becomes, 1))


async def test_final_hands_settle_and_the_audit_agrees(redis: Redis) -> None:
    pit = await Pit.opened(redis, FLOOR)
    hands = {2: "Ts Js Qs Ks As", 3: "2c 2d 9h 9s 4c", 5: "2h 3d 7s 8c Jd"}
    reply = await pit.round(dict.fromkeys(hands, WAGER), hands, dealer="", community=None)
    paid = [(line.position, line.hand, line.paid) for line in reply.lines or () if line.paid]
    # The seed is $2,000, and 8 % of three wagers of $1 are 24 cents.
    assert paid == [(3, "two_pair", 100), (2, "royal_flush", 200_024)]
    await pit.pay_all(claim.claim for claim in reply.claims or ())
    assert code(await pit.wagers({1: WAGER}, round_id="R2")) == "accepted"
    await pit.check_sound()


@pytest.mark.parametrize(
    ("dealt", "exchange", "kept"),
    [
        ("2c 2d 9h 9s 4c", 5, "2c 2d 9h 9s"),
        ("Ts Js Qs Ks As", 5, "Ts Js Qs Ks As"),
        ("2c 5c 9c Kc 4d", 5, "2c 5c 9c Kc"),
        ("2c 5d 9c Kh 4d", 5, "Kh 9c"),
        ("2c 5d 9c Kh 4d", 1, "Kh 9c 5d 4d"),
        ("2c 2d 9h Ks 4c", 2, "2c 2d Ks"),
        ("7c 7d 7h", 3, "7c 7d 7h"),
    ],
)
def test_bots_exchange_by_a_simple_rule(dealt: str, exchange: int, kept: str) -> None:
    found = kept_cards([parse_card(name) for name in dealt.split()], exchange)
    assert [card_name(card) for card in found] == kept.split()


def test_bots_exchange_for_the_next_cards_of_the_deck() -> None:
    game = read_games(DIRECTORY)["five_draw"].deal
    for seed in range(20):
        deck = [*DECK]
        random.Random(seed).shuffle(deck)
        dealt = deal(deck, [1, 2, 3, 4, 5], game, community=False)
        final = exchange_cards(dealt, deck, game)
        cards = Counter(card for hand in final.hands.values() for card in hand)
        assert len(cards) == 25
        assert {len(hand) for hand in final.hands.values()} == {5}
        for position, hand in final.hands.items():
            kept = kept_cards(dealt.hands[position], 5)
            assert hand[: len(kept)] == kept
            assert {*hand[len(kept) :]}.isdisjoint(dealt.hands[position])
