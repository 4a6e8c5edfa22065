"""The pages about rounds, settlements and game files: they have each field, and their samples."""

import json
import re
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import pytest

from bonus.display import money
from bonus.law.games import Games, read_chapter
from bonus.law.meter_terms import meter_terms
from bonus.rounds import Line, MeterAfter, SettlementText
from bonus.settling import round_text
from bonus.settling.settle_round import settle_line

PAGES: Final = Path(__file__).parents[2] / "deploy" / "docs" / "reference"
SETTLEMENT: Final = (PAGES / "settlement.md").read_text()
GAMES: Final = (PAGES / "game-files.md").read_text()
MONEY: Final = (PAGES.parent / "explain" / "money.md").read_text()


def part(page: str, heading: str) -> str:
    _, found, rest = page.partition(f"\n## {heading}\n")
    assert found, heading
    return rest.partition("\n## ")[0]


def fields(*parts: Any) -> set[str]:  # noqa: ANN401  (generic structs have no common type)
    return {field.encode_name for each in parts for field in msgspec.structs.fields(each)}


def missing(page: str, names: set[str]) -> set[str]:
    code = " ".join(re.findall(r"```.*?```|`[^`]+`", page, re.DOTALL))
    return {name for name in names if not re.search(rf"\b{name}\b", code)}


def test_every_field_of_a_round_and_a_settlement_is_on_the_page() -> None:
    box = get_args(msgspec.structs.fields(round_text.RoundText)[1].type)[0]
    of_round = fields(round_text.RoundText, box, round_text.DrawText, round_text.MeterText)
    assert {"patron", "fourth_card", "pair_bonus_community_card", "draw", "overflow"} < of_round
    # The table alone, without the sample.
    table = part(SETTLEMENT, "A round in JSON").rpartition("```")[2]
    assert missing(table, of_round) == set()
    settled = fields(Line, MeterAfter, SettlementText) | {"error", "code", "message", "field"}
    table = part(SETTLEMENT, "A settlement in JSON").rpartition("```")[2]
    assert missing(table, settled) == set()


@pytest.mark.section("649a.12(e)(1)")
def test_the_sample_of_a_round_is_settled_as_the_page_says() -> None:
    (played,) = re.findall(r"```json\n(.*?)```", part(SETTLEMENT, "A round in JSON"), re.DOTALL)
    (said,) = re.findall(r"```json\n(.*?)```", part(SETTLEMENT, "A settlement in JSON"), re.DOTALL)
    settled = msgspec.json.encode(settle_line(played.replace("\n", " ").encode()))
    # In the order of the page, and without what may be left out.
    assert json.dumps(json.loads(settled)) == json.dumps(json.loads(said))


_ROYAL: Final = ["As", "Ks", "Qs"]
_STRAIGHT: Final = ["9s", "8s", "7s"]


@pytest.mark.parametrize(
    ("higher", "lower", "limit", "won"),
    [
        (_STRAIGHT, _ROYAL, None, ("$1,234.63", "$11,111.70")),
        (_ROYAL, _STRAIGHT, None, ("$12,346.33", "$89.38")),
        (_STRAIGHT, _ROYAL, 1_200_000, ("$1,200.00", "$11,146.33")),
    ],
)
def test_the_round_of_the_page_about_money_wins_what_the_page_says(
    higher: list[str], lower: list[str], limit: int | None, won: tuple[str, str]
) -> None:
    terms, wagers = meter_terms("five_card_hand_bonus", 100), 11_173
    added, reserve = (
        wagers * terms.wager_cents * bps // 10_000 for bps in (terms.primary_bps, terms.reserve_bps)
    )
    amount = terms.seed_cents + added
    meter = {"wager": terms.wager_cents, "amount": amount, "reserve": reserve}
    if limit:
        meter |= {"amount": limit, "limit": limit, "overflow": amount - limit}
    dealt = {
        "game": "three_card_poker",
        "positions": [
            {"position": at, "cards": cards, "wagers": {"pair_plus": 100, terms.kind: 100}}
            for at, cards in ((5, higher), (2, lower))
        ],
        "paytables": {"pair_plus": "A"},
        "dealer": ["2d", "3d", "4h"],
        "community": ["Js", "Ts"],
        "meters": {terms.kind: meter},
    }
    settled = settle_line(json.dumps(dealt).encode())
    lines = [line for line in settled.lines if line.item == terms.kind]
    assert tuple(money(line.paid) for line in lines) == won
    left = money(settled.meters[terms.kind].amount)
    assert left == "$893.84" or higher == _ROYAL
    said = (*won, money(amount), money(added), money(reserve), money(added + reserve))
    assert [each for each in said if each not in MONEY] == []


def test_the_sample_of_a_game_against_the_dealer_is_one() -> None:
    against = part(GAMES, "A game against the dealer")
    (sample,) = re.findall(r"```toml\n(.*?)```", against, re.DOTALL)
    game = read_chapter(sample)
    round_line = (
        b'{"game": "first_duel", "paytables": {"blind_bonus": "B"}, "dealer": ["Qc", "7d", "2h"],'
        b' "positions": [{"position": 1, "cards": ["9s", "9h", "9d"],'
        b' "wagers": {"blind": 500, "call": 500}},'
        b' {"position": 2, "folded": true, "wagers": {"blind": 100}}]}'
    )
    lines = settle_line(round_line, Games([(game, "0")])).lines
    assert [(line.item, line.outcome, line.paid, line.rule) for line in lines] == [
        ("blind", "collected", 0, "FD.4(a)"),
        ("blind", "paid", 500, "FD.5(a)"),
        ("call", "paid", 500, "FD.5(a)"),
        ("blind_bonus", "paid", 1_500, "FD.5(b)"),
    ]
