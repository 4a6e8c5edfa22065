"""Stacked decks of the bots: for each hand that wins a percentage, cards that make it."""

import json
import random
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from bonus.cards import DECK, card_name
from bonus.law.chapter_file import OF_COMMUNITY
from bonus.settling.settle_round import settle_line
from controllers.demo.dealer_bots import DealerBot
from controllers.demo.decks import deal, jackpot_hands, stack, stacked_hand
from controllers.table.state import Layout
from meters.floor.floor_file import parse_floor
from tests.controllers.floors import HandTable
from tests.controllers.test_bots import played_out
from tests.floor_text import METERS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE

TIERS = ("keystone_mega", "keystone_major", "keystone_minor")
FLOOR = floor_text(
    link_text(
        "chapter",
        *(meter_text(kind) for kind in METERS),
        table_text(
            "TCP", *METERS, paytables={"ante_bonus": "b-A", "pair_plus": "D", "six_card_bonus": "E"}
        ),
    ),
    link_text(
        "house",
        *(meter_text(kind) for kind in TIERS),
        meter_text("seven_jackpot", paytable="A"),
        table_text("KS", *TIERS, game="keystone_stud"),
        table_text("LS", *TIERS, "seven_jackpot", game="lucky_seven", positions=6),
        table_text("RD", *TIERS, game="river_duel"),
    ),
    games=str(HOUSE),
)
LAYOUTS = {
    table.id: Layout.of(link, table) for link in parse_floor(FLOOR).link for table in link.table
}
TARGETS = [
    (table, wager, hand)
    for table, layout in LAYOUTS.items()
    for wager in layout.rules.meters.terms
    for hand in jackpot_hands(layout, wager)
]
POSITIONS, WINNER = [1, 3, 4], 3


def meters_of(layout: Layout, wager: str | None = None) -> dict[str, dict[str, int]]:
    return {
        kind: {"wager": terms.wager_cents, "amount": 10_000_000}
        | ({"reserve": 500} if terms.reserve_bps else {})
        for kind, terms in layout.terms.items()
        if wager is None or wager in terms.wagers
    }


def settled(layout: Layout, wager: str, deck: list[int], stakes: Mapping[str, int]) -> list[Any]:
    community = layout.rules.placings[wager].cards in OF_COMMUNITY
    dealt = deal([DECK[card] for card in deck], POSITIONS, layout.deal, community=community)
    amount_cents = layout.amount_cents(wager)
    assert amount_cents is not None
    fields: dict[str, Any] = {
        "game": layout.game,
        "paytables": dict(layout.paytables),
        "positions": [
            {
                "position": position,
                "cards": [card_name(card) for card in cards],
                "wagers": {**stakes, wager: amount_cents},
            }
            for position, cards in dealt.hands.items()
        ],
        "meters": meters_of(layout, wager),
    }
    if dealt.dealer:
        fields["dealer"] = [card_name(card) for card in dealt.dealer]
    if dealt.community:
        fields["community"] = [card_name(card) for card in dealt.community]
    found: list[Any] = json.loads(
        msgspec.json.encode(settle_line(json.dumps(fields).encode(), layout.games))
    )["lines"]
    return found


def test_every_game_has_hands_to_stack() -> None:
    assert {table for table, _, _ in TARGETS} == {"TCP", "KS", "LS", "RD"}
    hands = {hand for table, wager, hand in TARGETS if table == "KS"}
    assert hands == {
        "royal_flush_spades", "royal_flush", "straight_flush", "four_of_a_kind", "full_house",
    }  # fmt: skip


@pytest.mark.parametrize(("table", "wager", "hand"), TARGETS)
def test_a_stacked_deck_makes_the_hand_at_the_winner(table: str, wager: str, hand: str) -> None:
    layout = LAYOUTS[table]
    main = layout.rules.chapter.main
    stakes = {main.stake: 500, main.follow: 500} if main else {}
    row = layout.terms[layout.rules.meters.meter_of[wager]].rows[hand]
    decks = set()
    for seed in range(3):
        rng = random.Random(seed)
        stacked = stacked_hand(layout, wager, hand, rng, lambda _: True)
        assert stacked is not None
        deck = stack(rng, stacked, POSITIONS, WINNER, layout.deal)
        assert sorted(deck) == list(DECK)
        decks.add(tuple(deck))
        won = [
            line
            for line in settled(layout, wager, list(deck), stakes)
            if line["position"] == WINNER and line.get("hand") == row.hand
        ]
        assert won, stacked
        assert not row.percents or any(line.get("percent") for line in won)
    assert len(decks) == 3


def test_a_deck_with_an_all_six_card_is_stacked_behind_it() -> None:
    layout = LAYOUTS["KS"]
    rng = random.Random(3)
    stacked = stacked_hand(layout, "keystone_bonus", "straight_flush", rng, lambda _: True)
    assert stacked is not None
    deck = stack(rng, stacked, POSITIONS, WINNER, layout.deal, all_six=True)
    dealt = deal(deck, POSITIONS, layout.deal, community=True, all_six=True)
    assert dealt.community is not None
    assert [*dealt.hands[WINNER], *dealt.community] == stacked.cards


@pytest.mark.slow
def test_a_hand_with_which_the_player_would_fold_is_not_stacked() -> None:
    layout, rng = LAYOUTS["RD"], random.Random(5)
    kept = stacked_hand(layout, "keystone_bonus", "straight_flush", rng, lambda cards: 51 in cards)
    assert kept is not None
    assert 51 in kept.cards[: kept.hand]
    assert stacked_hand(layout, "keystone_bonus", "royal_flush", rng, lambda _: False) is None


@pytest.mark.parametrize("table", ["KS", "LS", "RD", "TCP"])
def test_each_stacked_round_wins_for_a_player(table: str) -> None:
    """Every deck is stacked here: each round with a wager on a meter has a hand that wins."""
    layout = LAYOUTS[table]
    bot, at = DealerBot(layout, random.Random(9), stack_every=1), HandTable(layout=layout)
    rounds = [played_out(at, bot) for _ in range(12)]
    records = [one.record for one in rounds if one.record is not None and one.wagered_cents]
    assert len(records) > 8
    for record in records:
        line = json.dumps({**record.fields, "meters": meters_of(layout)}).encode()
        won = [
            each
            for each in settle_line(line, layout.games).lines
            if each.percent or each.item.endswith("_envy") or each.hand == "mini_royal"
        ]
        assert won, record.fields
