"""Games of the house: their printed cells, and their settlement against a second one."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import comb

import msgspec
import pytest

from bonus.display import percent_text, short_money
from bonus.law.chapter_file import WagerTables
from bonus.law.games import read_chapter
from bonus.law.meter_terms import Row, meter_terms
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.settling.settle_round import settle_line
from tests.games.naive import cell_of, law_of, settled
from tests.games.rounds import GAMES, random_round
from tests.games.texts import envy_text, game_text, wager_text

ROUNDS = 600


@pytest.mark.slow
@pytest.mark.parametrize("game", ["keystone_stud", "lucky_seven"])
def test_a_second_settlement_of_the_file_agrees_line_by_line(game: str) -> None:
    rng = random.Random(17)
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS):
        played = random_round(game, rng)
        if not played["positions"]:
            continue
        found = json.loads(msgspec.json.encode(settle_line(json.dumps(played).encode(), GAMES)))
        lines, meters = settled(played)
        assert found["lines"] == lines, played
        assert found["meters"] == meters
        seen.update(f"{line['item']} {line['outcome']}" for line in lines)
    for item in ("keystone_mega_jackpot", "keystone_major_jackpot", "keystone_minor_jackpot"):
        assert seen[f"{item} paid"] > 3, seen
    for tables in GAMES[game].wager:
        assert seen[f"{tables.names[0]} paid"] > 10
        assert seen[f"{tables.names[0]} collected"] > 10


def test_the_odds_of_a_fraction_of_a_percent_are_exact() -> None:
    """A straight flush wins 7.25% of the Lucky Seven Jackpot, to which a wager adds 20.75%."""
    entry = entry_of_wager("lucky_seven", "seven_progressive")
    hands = {line.hand: Fraction(line.combinations, line.of) for line in entry.hands}
    won = hands["royal_flush"] + hands["straight_flush"] * Fraction(725, 10_000)
    assert Fraction(entry.meter_return) == won
    terms = meter_terms("seven_jackpot", 100, "B", "lucky_seven", GAMES)
    assert (terms.primary_bps, terms.reserve_bps) == (2_075, 200)
    assert terms.rows["straight_flush"].percents == (("seven_jackpot", Fraction(25, 2)),)


@pytest.mark.parametrize("game", sorted(GAMES.digests))
def test_each_cell_of_a_meter_is_read_as_printed_and_written_back(game: str) -> None:
    law = law_of(game)
    for tables, printed in zip(GAMES[game].wager, law["wager"], strict=True):
        for meter in tables.fed:
            for choice in tables.table[0].choices or (None,):
                terms = meter_terms(meter, 100, choice, game, GAMES)
                for hand, row in terms.rows.items():
                    choices = {tables.names[0]: choice} if choice else {}
                    cell = cell_of(printed, row.hand, choices)
                    assert _written(tables, row) == cell, (hand, choice)


def _written(tables: WagerTables, row: Row) -> str:
    parts = [
        f"{percent_text(percent)}% of {'meter' if tables.meter else name}"
        for name, percent in row.percents
    ]
    if row.for_1:
        parts.append(f"{row.for_1:,} for 1")
    if row.sum_cents:
        parts.append(short_money(row.sum_cents))
    return " + ".join(parts)


def test_a_wager_on_three_meters_pays_each_jackpot_on_its_own_line() -> None:
    """By hand: the royal wins the mega and $1,000; the straight flush wins the major before it."""
    played = {
        "game": "keystone_stud",
        "positions": [
            {"position": 1, "cards": ["As", "Ks"], "wagers": {"keystone_bonus": 100}},
            {"position": 2, "cards": ["2c", "2d"], "wagers": {"keystone_bonus": 100}},
            {"position": 3, "cards": ["9s", "8s"], "wagers": {"keystone_bonus": 100}},
        ],
        "community": ["Qs", "Js", "Ts"],
        "meters": {
            "keystone_mega": {"wager": 100, "amount": 3_000_000, "reserve": 100_000},
            "keystone_major": {"wager": 100, "amount": 70_000},
            "keystone_minor": {"wager": 100, "amount": 5_500},
        },
    }
    found = settle_line(json.dumps(played).encode(), GAMES)
    assert [(line.position, line.item, line.paid, line.percent) for line in found.lines] == [
        (3, "keystone_bonus", 0, None),
        (3, "keystone_major_jackpot", 70_000, 100),
        (2, "keystone_bonus", 0, None),
        (1, "keystone_bonus", 100_000, None),
        (1, "keystone_mega_jackpot", 3_000_000, 100),
        (3, "keystone_bonus_envy", 20_000, None),
        (2, "keystone_bonus_envy", 20_000, None),
    ]
    after: Mapping[str, tuple[int, int | None]] = {
        name: (meter.amount, meter.reserve) for name, meter in found.meters.items()
    }
    assert after == {
        "keystone_mega": (2_100_000, 0),
        "keystone_major": (50_000, None),
        "keystone_minor": (5_500, None),
    }


def test_the_game_against_the_dealer_of_a_house_game_is_settled() -> None:
    """By hand: the dealer's pair beats both hands; their three cards count for the bonus too."""
    played = {
        "game": "river_duel",
        "positions": [
            {
                "position": 4,
                "cards": ["9h", "9d", "2c"],
                "wagers": {"blind": 500, "call": 500, "keystone_bonus": 100},
            },
            {"position": 2, "cards": ["3c", "5d", "7h"], "wagers": {"blind": 500, "call": 500}},
        ],
        "dealer": ["9s", "9c", "4d"],
        "meters": {
            "keystone_mega": {"wager": 100, "amount": 2_000_000, "reserve": 0},
            "keystone_major": {"wager": 100, "amount": 50_000},
            "keystone_minor": {"wager": 100, "amount": 6_001},
        },
    }
    found = settle_line(json.dumps(played).encode(), GAMES)
    assert [
        (line.position, line.item, line.outcome.value, line.paid, line.returned)
        for line in found.lines
    ] == [
        (4, "blind", "collected", 0, 0),
        (4, "call", "collected", 0, 0),
        (4, "keystone_bonus", "paid", 0, 0),
        (4, "keystone_minor_jackpot", "paid", 6_001, 0),
        (2, "blind", "collected", 0, 0),
        (2, "call", "collected", 0, 0),
    ]
    assert found.meters["keystone_minor"].amount == 5_000


FIVE_CARDS = {
    "royal_flush_spades": 1, "royal_flush": 3, "straight_flush": 36, "four_of_a_kind": 624,
    "full_house": 3_744, "flush": 5_108, "straight": 10_200, "three_of_a_kind": 54_912,
}  # fmt: skip
"""The number of deals of each hand, out of 2,598,960 deals of five cards."""
SEVEN_CARDS = {
    "royal_flush": 4_324, "straight_flush": 37_260, "four_of_a_kind": 224_848,
    "full_house": 3_473_184,
}  # fmt: skip
"""The same for the best five of seven cards, out of 133,784,560 deals."""


@pytest.mark.parametrize(
    ("game", "counts", "of"),
    [("keystone_stud", FIVE_CARDS, 2_598_960), ("lucky_seven", SEVEN_CARDS, 133_784_560)],
)
def test_the_odds_of_three_tiers_follow_from_the_known_numbers_of_deals(
    game: str, counts: Mapping[str, int], of: int
) -> None:
    entry = entry_of_wager(game, "keystone_bonus")
    wager = next(each for each in law_of(game)["wager"] if each["names"] == ["keystone_bonus"])
    seeds = {"keystone_mega": 20_000, "keystone_major": 500, "keystone_minor": 50}
    back, won, hits = Fraction(0), Counter[str](), Counter[str]()
    for hand, number in counts.items():
        for part in cell_of(wager, hand, {}).split(" + "):
            if "% of " in part:
                percent, meter = part.split("% of ")
                won[meter] += int(percent) * number
                hits[meter] += number
                back += Fraction(int(percent) * number * seeds[meter], 100 * of)
            elif part.startswith("$"):
                back += Fraction(int(part[1:].replace(",", "")) * number, of)
            else:
                back += Fraction(int(part.removesuffix(" for 1")) * number, of)
    assert Fraction(entry.house_edge) == 1 - back
    # In the long run, the rates are paid out, and of the meters only what is won whole is reseeded.
    at_seeds = sum(Fraction(won[meter] * seed, 100 * of) for meter, seed in seeds.items())
    terms = wager["table"][0]["progressions"].values()
    rates = sum(Fraction(each[name][:-1]) for each in terms for name in ("primary", "reserve")
                if name in each)  # fmt: skip
    whole = sum(
        seeds[meter] * number
        for hand, number in counts.items()
        for meter in seeds
        if f"100% of {meter}" in cell_of(wager, hand, {})
    )
    assert entry.long_run is not None
    lasting = 1 - (back - at_seeds) - rates / 100 - Fraction(whole, of)
    assert Fraction(entry.long_run.house_edge) == lasting
    for tier in entry.tiers:
        assert Fraction(tier.meter_return) == Fraction(won[tier.meter], 100 * of)
        assert Fraction(tier.hit_chance) == Fraction(hits[tier.meter], of)
        even = Fraction(tier.break_even_meter["100"], 100)
        more = (even - seeds[tier.meter]) * Fraction(tier.meter_return)
        assert 0 <= more - (1 - back) < Fraction(1, 1_000)


def test_the_odds_of_the_game_against_the_dealer_are_those_of_the_same_rules() -> None:
    """River Duel's blind is an Ante of Three Card Poker without an Ante Bonus."""
    entry = entry_of_wager("river_duel", "blind")
    assert entry.strategy[0].startswith("Call with queen-six-four or better")
    assert 0.08 < Fraction(entry.house_edge) < 0.09


def entry_of_wager(game: str, wager: str) -> OddsEntry:
    offers = offers_of(GAMES[game], {}, DrawOdds())
    return entry_of(next(offer for offer in offers if offer.wager == wager), Enumerator())


def test_break_even_of_tiers_counts_the_envy_of_other_players() -> None:
    """The lowest balance pays the wager back, with Envy Bonuses; a cent less does not."""
    fours = dict.fromkeys(("full_house", "flush", "straight"), "4 for 1")
    rows = {"royal_flush": "100% of grand", "straight_flush": "50% of mini + $100",
            "four_of_a_kind": "90 for 1", **fours, "three_of_a_kind": "3 for 1"}  # fmt: skip
    envy = envy_text(royal_flush="$50,000", straight_flush="$2,500")
    wager = wager_text("w", "grand", "mini", rows=rows, after=envy)
    chapter = read_chapter(game_text("g", ["grand", "mini"], wager))
    (entry,) = (entry_of(offer, Enumerator()) for offer in offers_of(chapter, {}, DrawOdds()))
    of = comb(52, 5)
    counts = {line.hand: line.combinations for line in entry.hands}
    envy_cents = counts["royal_flush"] * 5_000_000 + counts["straight_flush"] * 250_000
    assert Fraction(entry.envy_return["100"]) == Fraction(envy_cents, 100 * of)
    fixed_cents = 100 * (
        counts["straight_flush"] * 100 + counts["four_of_a_kind"] * 90
        + 4 * sum(counts[hand] for hand in ("full_house", "flush", "straight"))
        + 3 * counts["three_of_a_kind"]
    )  # fmt: skip

    def paid(grand_cents: int, mini_cents: int) -> int:
        jackpots = counts["royal_flush"] * grand_cents
        return fixed_cents + jackpots + counts["straight_flush"] * (mini_cents * 50 // 100)

    grand, mini = entry.tiers
    assert len(grand.break_even_meter_with_envy) == chapter.deal.positions - 1
    for others in range(1, chapter.deal.positions):
        needed = 100 * of - others * envy_cents
        lowest = grand.break_even_meter_with_envy[others - 1]["100"]
        assert paid(lowest, 10_000) >= needed > paid(lowest - 1, 10_000) or lowest == 0
        lowest = mini.break_even_meter_with_envy[others - 1]["100"]
        assert paid(10_000, lowest) >= needed > paid(10_000, lowest - 1) or lowest == 0
    assert grand.break_even_meter_with_envy[0]["100"] < grand.break_even_meter["100"]
