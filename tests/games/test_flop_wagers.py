"""Wagers on the first community cards: settlement, odds, cards as evidence, and entry."""

import random
import re
from collections import Counter
from fractions import Fraction
from math import comb
from typing import Any, Final

import pytest

from bonus.law.games import read_chapter
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.settling.winning_cards import winning_cards
from controllers.panel.table_view import view_table
from controllers.table.state import Layout
from meters.floor.floor_file import parse_floor
from meters.wire.messages import Result
from tests.controllers.floors import HandTable
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE, settled
from tests.games.rounds import GAMES, random_round, settled_by_pitlink

GAME: Final = "keystone_flop"
TEXT: Final = (HOUSE / f"{GAME}.toml").read_text()
FLOOR: Final = floor_text(
    link_text(
        "one", meter_text("flop_jackpot"), table_text("T-1", "flop_jackpot", game=GAME, positions=6)
    ),
    games=str(HOUSE),
)


def played(*hands: str, community: str) -> dict[str, Any]:
    wagers = {"flop_progressive": 100, "river_wager": 500}
    return {
        "game": GAME,
        "positions": [
            {"position": number, "cards": cards.split(), "wagers": wagers}
            for number, cards in enumerate(hands, start=1)
        ],
        "community": community.split(),
        "meters": {"flop_jackpot": {"wager": 100, "amount": 60_000, "reserve": 500}},
    }


@pytest.mark.parametrize(
    ("community", "flop", "river"),
    [
        ("Qs Js Ts 2d 3h", "royal_flush", "royal_flush"),
        ("Qs Js 2d Ts 3h", "high_card", "royal_flush"),
        ("2d 3h Qs Js Ts", "high_card", "royal_flush"),
        ("Ad Ah 2c Kd Kh", "three_of_a_kind", "full_house"),
    ],
)
def test_only_the_first_three_community_cards_decide(community: str, flop: str, river: str) -> None:
    found = settled_by_pitlink(played("As Ks", community=community))["lines"]
    assert [(line["item"], line["hand"]) for line in found[:2]] == [
        ("flop_progressive", flop), ("river_wager", river),
    ]  # fmt: skip


def test_a_second_settlement_of_the_file_agrees_line_by_line() -> None:
    rng, seen = random.Random(19), Counter[str]()
    for _ in range(400):
        fields = random_round(GAME, rng)
        if not fields["positions"]:
            continue
        found = settled_by_pitlink(fields)
        lines, meters = settled(fields)
        assert found["lines"] == lines, fields
        assert found["meters"] == meters
        seen.update(f"{line['item']} {line.get('hand')}" for line in lines)
    for hand in ("royal_flush", "straight_flush", "full_house", "flush", "straight"):
        assert seen[f"flop_progressive {hand}"] > 1, seen
        assert seen[f"river_wager {hand}"] > 1, seen


def entry_of_wager(wager: str) -> OddsEntry:
    offers = offers_of(GAMES[GAME], {}, DrawOdds())
    return entry_of(next(offer for offer in offers if offer.wager == wager), Enumerator())


def test_the_odds_are_those_of_five_cards_and_of_seven() -> None:
    of_flop, of_river = map(entry_of_wager, ("flop_progressive", "river_wager"))
    five = {line.hand: line.combinations for line in of_flop.hands}
    assert (five["royal_flush"], five["straight_flush"], five["three_of_a_kind"]) == (4, 36, 54_912)
    assert {line.of for line in of_flop.hands} == {comb(52, 5)}
    seven = {line.hand: line.chance for line in of_river.hands}
    assert seven["four_of_a_kind"] == Fraction(224_848, comb(52, 7))


def test_the_cards_of_a_win_are_the_hand_and_the_flop() -> None:
    found = winning_cards(
        [GAMES[GAME]], "flop_progressive",
        hand=["9s", "9d"], dealer=[], community=["9c", "2d", "3h", "9h", "Ks"],
    )  # fmt: skip
    assert found.counted == found.winning == ("9s", "9d", "9c", "2d", "3h")
    envy = winning_cards(
        [GAMES[GAME]], "flop_envy", hand=["As", "Ks"], dealer=[], community=["Qs", "Js", "Ts", "9s"]
    )
    assert envy.counted == ("As", "Ks", "Qs", "Js", "Ts")
    river = winning_cards(
        [GAMES[GAME]], "river_wager",
        hand=["9s", "9d"], dealer=[], community=["9c", "2d", "3h", "9h", "Ks"],
    )  # fmt: skip
    assert river.winning == ("9s", "9d", "9c", "9h", "Ks")


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ("community_cards = 3", "community_cards = 5", "from 1 to 4, or leave it out if all 5"),
        ("community_cards = 3", "community_cards = 6", "write a number from 1 to 4, or"),
        ("community_cards = 3", "community_cards = -1", "Expected `int` >= 1"),
        ("community_cards = 3", "community_cards = 2", "community_cards = 2: 5 to 9 are"),
        ('_and_community"]\ncommunity', '"]\ncommunity', "is for a wager on community cards"),
        ("community = 5", "community = 0", "but the game deals no community cards: leave"),
    ],
)
def test_an_impossible_number_is_refused(was: str, becomes: str, reason: str) -> None:
    assert was in TEXT
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(TEXT.replace(was, becomes, 1))


def table() -> HandTable:
    found = parse_floor(FLOOR).find_table("T-1")
    assert found is not None
    return HandTable(layout=Layout.of(*found))


def test_the_panel_asks_for_the_order_and_another_order_is_a_correction() -> None:
    """The same five cards in another order have another flop."""
    hand = table()
    hand.play("wager 2 flop_progressive; lockout; chips 1")
    view = view_table(hand.layout, hand.state, fault=None, values={})
    assert view.first_community_cards == (3,)
    hand.play("""
        hand 2 As Ks; community Qs Js 2d Ts 3h; retract community; community Qs Js Ts 2d 3h
        settle
    """)
    sent = hand.last(Result)
    assert sent.community == ["Qs", "Js", "Ts", "2d", "3h"]
    assert sent.entered_before
    (before,) = sent.entered_before
    assert before.cards == ["Qs", "Js", "2d", "Ts", "3h"]


def test_without_a_wager_on_the_flop_no_order_is_a_correction() -> None:
    hand = HandTable()
    hand.play("""
        wager 2 five_card_progressive; lockout; chips 1; hand 2 As Ks Qs; community 4c 8d
        retract community; community 8d 4c; dealer 5c 6c 7c; settle
    """)
    assert not hand.last(Result).entered_before


def test_the_same_order_is_none() -> None:
    hand = table()
    hand.play("""
        wager 2 flop_progressive; lockout; chips 1; hand 2 As Ks; community Qs Js Ts 2d 3h
        retract community; community Qs Js Ts 2d 3h; settle
    """)
    assert not hand.last(Result).entered_before
