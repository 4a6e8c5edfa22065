"""Parts of a meter that a hand brings to other players: files, settlement and odds."""

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any, Final

import msgspec
import pytest

from bonus.law.games import Games, read_chapter
from bonus.law.meter_terms import meter_terms
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import SettlementText, cause_of
from bonus.settling.settle_round import settle_line
from controllers.demo.resettlement import held_before
from meters.reports.wager_filings import wager_odds
from tests.games.texts import DRAWN, ROWS, envy_text, game_text, wager_text

SHARED: Final = {**ROWS, "royal_flush": "90% of meter"}


def community_text(**pays: str) -> str:
    cells = ", ".join(f'{hand} = "{cell}"' for hand, cell in pays.items())
    return f'\n[wager.community]\nrule = "H.7"\npays = {{ {cells} }}\n'


def game(
    *meters: str, rows: Mapping[str, str] = SHARED, community: str = "", envy: str = ""
) -> str:
    fed = meters or ("pot",)
    return game_text("h", fed, wager_text("bet", *fed, rows=rows, after=envy + community))


def games_of(text: str) -> Games:
    return Games([(read_chapter(text), hashlib.sha256(text.encode()).hexdigest())])


def settle(text: str, wagered: Mapping[int, str], held_cents: int, **more: Any) -> SettlementText:  # noqa: ANN401
    """Settle hands of two cards, with a wager of $1 at each; ``-`` before a hand: without it."""
    positions = [
        {"position": position, "cards": cards.lstrip("-").split(),
         "wagers": {} if cards.startswith("-") else {"bet": 100}}
        | more.pop(f"at_{position}", {})
        for position, cards in wagered.items()
    ]  # fmt: skip
    played = {
        "game": "h", "positions": positions, "community": ["Qs", "Js", "Ts"],
        "meters": {"pot": {"wager": 100, "amount": held_cents}},
    } | more  # fmt: skip
    return settle_line(json.dumps(played).encode(), games_of(text))


def paid(settled: SettlementText) -> list[tuple[int, str, int, int | None]]:
    return [
        (line.position, line.item, line.paid, line.hand_of) for line in settled.lines if line.paid
    ]


WHOLE: Final = community_text(royal_flush="10% of meter", straight_flush="5% of meter")
SHARES: Final = envy_text(royal_flush="3% of meter", straight_flush="2% of meter")


def test_the_holder_and_the_table_win_the_whole_meter_of_one_balance() -> None:
    """By hand: 90% and 10% of $1,000.07; the cents that cannot be divided stay on the meter."""
    settled = settle(game(community=WHOLE), {1: "As Ks", 2: "2c 3d", 3: "4c 5d"}, 100_007)
    assert paid(settled) == [
        (1, "bet", 90_006, None),
        (3, "pot_community_share", 3_333, 1),
        (2, "pot_community_share", 3_333, 1),
        (1, "pot_community_share", 3_333, 1),
    ]
    assert {line.rule for line in settled.lines if line.hand_of} == {"H.7"}
    assert settled.meters["pot"].amount == 100_007 - 90_006 - 9_999 + 10_000


def test_a_player_at_several_positions_gets_one_share_at_the_first_that_is_paid() -> None:
    same = {"patron": "ann"}
    settled = settle(
        game(community=WHOLE), {1: "As Ks", 2: "2c 3d", 3: "4c 5d", 4: "6c 7d"}, 100_000,
        at_1=same, at_3=same, at_4=same,
    )  # fmt: skip
    shares = [line for line in settled.lines if line.hand_of]
    assert [(line.position, line.paid) for line in shares] == [(4, 5_000), (2, 5_000)]


def test_a_hand_without_the_wager_brings_shares_and_does_not_end_the_cycle() -> None:
    """Reading T10. The community are then the players who made the wager."""
    settled = settle(game(community=WHOLE), {1: "-As Ks", 2: "2c 3d", 3: "4c 5d"}, 100_000)
    assert paid(settled) == [
        (3, "pot_community_share", 5_000, 1), (2, "pot_community_share", 5_000, 1),
    ]  # fmt: skip
    assert settled.meters["pot"].amount == 90_000


@pytest.mark.parametrize("gone", [{"folded": True}, {"no_win": True}])
def test_a_collected_or_declared_hand_brings_no_share(gone: Mapping[str, bool]) -> None:
    """Reading T8. A player whose hand was declared or collected still gets a share."""
    box = {"position": 1, "wagers": {"bet": 100}, **gone}
    text = game(community=WHOLE).replace('placing = "H.3"', 'placing = "H.3"\nforfeited = "H.3"')
    played = {
        "game": "h", "community": ["Qs", "Js", "Ts"],
        "positions": [box, {"position": 2, "cards": ["9s", "8s"], "wagers": {"bet": 100}}],
        "meters": {"pot": {"wager": 100, "amount": 100_000}},
    }  # fmt: skip
    settled = settle_line(json.dumps(played).encode(), games_of(text))
    assert paid(settled) == [
        (2, "bet", 10_000, None),
        (2, "pot_community_share", 2_500, 2),
        (1, "pot_community_share", 2_500, 2),
    ]


def test_every_wager_of_another_player_gets_the_envy_percentage_of_the_same_balance() -> None:
    """By hand: 10%, 5% and twice 2% of $1,000.99, each rounded down; the next hand has the rest."""
    text = game(rows=ROWS | {"royal_flush": "60% of meter"}, community=WHOLE, envy=SHARES)
    settled = settle(text, {1: "-As Ks", 2: "9s 8s", 3: "2c 3d"}, 100_099, at_3={"patron": "x"})
    left = 100_099 - 10_009 - 2 * 2_502 - 2_001
    assert paid(settled) == [
        (2, "bet", 10_009, None),
        (3, "pot_community_share", 2_502, 2),
        (2, "pot_community_share", 2_502, 2),
        (3, "pot_envy_share", 2_001, 2),
        (3, "pot_community_share", left // 10 // 2, 1),
        (2, "pot_community_share", left // 10 // 2, 1),
        (3, "pot_envy_share", left * 3 // 100, 1),
        (2, "pot_envy_share", left * 3 // 100, 1),
    ]


def test_a_hand_between_others_can_bring_no_envy_bonus() -> None:
    envy = envy_text(royal_flush="N/A", straight_flush="$2", four_of_a_kind="N/A", full_house="$1")
    text = game(envy=envy)
    hands = {1: "As Ks", 2: "9s 8s", 3: "2c 3d", 4: "Qc Qd"}
    lines = settle(text, hands, 100_000, community=["Qs", "Js", "Ts"]).lines
    assert {line.envy_of for line in lines if line.envy_of} == {2}
    counted = Fraction(36 * 200 + 3_744 * 100, DEALS * 100)
    (offer,) = offers_of(read_chapter(text), {}, DrawOdds())
    entry = entry_of(replace(offer, wagers_cents=(100,)), Enumerator())
    assert entry.envy_return == {"100": counted}
    filed = wager_odds(replace(offer, wagers_cents=(100,)), entry).envy
    assert [row.hand for row in filed] == ["straight_flush", "full_house"]


def test_percentages_of_one_of_several_meters_can_be_the_only_envy_bonuses() -> None:
    rows = SHARED | {"royal_flush": "90% of one", "straight_flush": "10% of two"}
    envy = envy_text(royal_flush="1% of two", straight_flush="N/A")
    assert entry_in(game("one", "two", rows=rows, envy=envy)).envy_return["100"] > 0


def test_an_envy_bonus_does_not_wait_for_a_share_of_another_hand() -> None:
    """Position 2 has a share of the first hand. Its own hand brings $1, and no win of it waits."""
    envy = envy_text(royal_flush="$3", straight_flush="$2", four_of_a_kind="$1")
    text = game(rows=SHARED | {"royal_flush": "10% of meter"}, community=WHOLE, envy=envy)
    lines = settle(text, {4: "As Ks", 2: "2c 2d"}, 100_000).lines
    share = next(line for line in lines if line.hand_of == 4 and line.position == 2)
    owed = msgspec.structs.replace(share, position=4, item="bet_envy", envy_of=2, hand_of=None)
    assert cause_of(owed, [share], lines) is None
    own = next(line for line in lines if (line.position, line.item) == (4, "bet"))
    owed = msgspec.structs.replace(owed, position=2, envy_of=4)
    assert cause_of(owed, [share, own], lines) == 1


def test_the_overflow_refills_the_meter_but_no_percentage_of_the_same_hand() -> None:
    settled = settle(
        game(community=WHOLE), {1: "As Ks", 2: "2c 3d"}, 0,
        meters={"pot": {"wager": 100, "amount": 50_000, "limit": 50_000, "overflow": 30_000}},
    )  # fmt: skip
    assert [line.paid for line in settled.lines if line.paid] == [45_000, 2_500, 2_500]
    after = settled.meters["pot"]
    assert (after.amount, after.overflow) == (40_000, 0)


def test_the_demonstration_finds_the_balance_behind_shares() -> None:
    text = game(rows=ROWS | {"royal_flush": "60% of meter"}, community=WHOLE, envy=SHARES)
    settled = settle(text, {1: "As Ks", 2: "9s 8s", 3: "2c 3d"}, 123_457)
    games = games_of(text)
    held = held_before(meter_terms("pot", 100, None, "h", games), settled.lines)
    assert held is not None
    again = settle(text, {1: "As Ks", 2: "9s 8s", 3: "2c 3d"}, held.amount_micros // 10_000)
    assert again.lines == settled.lines


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (game(community=community_text(royal_flush="11% of meter")), "win 101% of meter: 90%"),
        (game(community=community_text(royal_flush="$10")), "not a share of a meter"),
        (game(community=community_text(royal_flush="5% of meter + 2 for 1")), "more than shares"),
        (
            game(community=community_text(royal_flush="5% of pot")),
            "royal_flush: the wager feeds no meter pot: write `meter`, because it has only one",
        ),
        (
            game("one", "two", rows={**SHARED, "royal_flush": "100% of one",
                 "straight_flush": "50% of two"}, envy=envy_text(
                     royal_flush="3% of two", straight_flush="2% of pot")),
            "straight_flush: the wager feeds no meter pot: it feeds one, two",
        ),
        (
            game(rows=ROWS | {"royal_flush": "500 for 1", "straight_flush": "400 for 1"},
                 community=WHOLE),
            "no holder of a hand wins a percentage of meter",
        ),
        (game(community=community_text(royal="5% of meter")), "no row for 'royal'"),
        (game(community=community_text()), "no hand brings a community share"),
        (
            game(community=community_text(four_of_a_kind="100% of meter")),
            "all of meter: leave a part for the player who has the hand",
        ),
        (game(envy=envy_text(royal_flush="2% of meter")), "It must be below 100%"),
        (
            game(envy=envy_text(royal_flush="1% of meter", straight_flush="1.5% of meter")),
            "royal_flush pays less than straight_flush",
        ),
        (game(envy=envy_text(royal_flush="2 for 1")), "not a share of a meter"),
        (game(envy=envy_text(royal_flush="N/A", straight_flush="N/A")), "no hand of the schedule"),
        (game(envy=envy_text(flush="$5")), "a schedule must begin with the highest hand"),
        (game(envy=envy_text(royal_flush="$5").replace("{ ro", "{} # ")), "a schedule needs a row"),
        (
            game(envy=envy_text(royal_flush="$1", straight_flush="N/A", four_of_a_kind="$2")),
            "royal_flush pays less than four_of_a_kind",
        ),
        (
            game(community=WHOLE, envy=envy_text(royal_flush="0.01% of meter")),
            "win 100.05% of meter: 90% for its holder, 10% for all players, 0.01% for each",
        ),
        (
            game("one", "two", rows={**SHARED, "royal_flush": "100% of one",
                 "straight_flush": "50% of two"}, community=community_text(
                     straight_flush="60% of two")),
            "straight_flush can win 110% of two",
        ),
        (
            game(community=WHOLE).replace('"bet"', '"bet_community_share"'),
            "only a share of a meter has a name that ends with",
        ),
        (DRAWN.replace("[wager.draws]", f"{community_text(flush='1% of meter')}[wager.draws]"),
         "brings no shares of the meter"),
    ],
)  # fmt: skip
def test_a_file_whose_shares_cannot_be_paid_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ChapterError, match=reason.replace("$", r"\$")):
        read_chapter(text)


def test_no_share_of_what_every_player_wins_together() -> None:
    one = 'hand = 0\ndealer = 1\n[chances]\nsource = "x"\n[[result]]\nname = "hit"\nchance = "1/9"'
    wager = wager_text("bet", "pot", rows={"hit": "50% of meter"}, cards="dealer").replace(
        '"five_card"', '"results"'
    ).replace('lowest = "three_of_a_kind"', 'divided = "H.4"') + community_text(hit="10% of meter")
    text = game_text("h", ["pot"], "@", hand=0, dealer=1, community=0)
    text = text.replace("hand = 0\ndealer = 1\ncommunity = 0", one).replace("@", wager)
    with pytest.raises(ChapterError, match="no community share for what every player"):
        read_chapter(text)


def entry_in(text: str) -> OddsEntry:
    (offer,) = offers_of(read_chapter(text), {}, DrawOdds())
    return entry_of(offer, Enumerator())


COUNTS: Final = {"royal_flush": 4, "straight_flush": 36}
DEALS: Final = comb(52, 5)


def test_the_edges_count_shares_from_the_known_numbers_of_deals() -> None:
    """The whole community share counts for one wager. Envy percentages count as Envy Bonuses do."""
    text = game(rows=ROWS | {"royal_flush": "60% of meter"}, community=WHOLE, envy=SHARES)
    entry, plain = entry_in(text), entry_in(game(rows=ROWS | {"royal_flush": "60% of meter"}))
    won = Fraction(4 * (60 + 10) + 36 * (10 + 5), 100 * DEALS)
    more = Fraction(4 * 10 + 36 * 5, 100 * DEALS)
    assert entry.meter_return == won
    assert entry.house_edge == plain.house_edge - more * 100
    brought = Fraction(4 * 3 + 36 * 2, 100 * DEALS)
    assert entry.envy_meter_return == {"100": brought}
    assert entry.envy_return == {"100": brought * 100}
    assert entry.fixed_envy("100") == 0
    assert entry.long_run == plain.long_run  # all that wagers add is won, by whomever
    fixed = 100 - entry.house_edge_at_empty_meter * 100

    def back(held: int, others: int) -> Fraction:
        own = 4 * (held * 60 // 100 + held // 10) + 36 * (held // 10 + held * 5 // 100)
        theirs = others * (4 * (held * 3 // 100) + 36 * (held * 2 // 100))
        return fixed + Fraction(own + theirs, DEALS)

    for others, lowest in enumerate([entry.break_even_meter, *entry.break_even_meter_with_envy]):
        assert back(lowest["100"], others) >= 100 > back(lowest["100"] - 1, others)


def test_a_meter_that_holder_and_table_win_together_is_reseeded() -> None:
    entry = entry_in(game(community=WHOLE))
    whole = entry_in(game(rows=ROWS, community=community_text(straight_flush="5% of meter")))
    assert (entry.house_edge, entry.long_run) == (whole.house_edge, whole.long_run)
    assert entry.long_run is not None
    assert entry.long_run.reseeds == Fraction(4 * 100, DEALS)


ROLLS: Final = """
chapter = "H"
game = "rolls"
title = "Rolls"
[[meter]]
name = "pot"
title = "Pot"
[deal]
deck_rule = "H.1"
rule = "H.2"
positions = 6
positions_rule = "H.2"
hand = 1
dealer = 0
[chances]
source = "a test"
[[result]]
name = "six"
chance = "1/6"
[[result]]
name = "five"
chance = "1/6"
[[wager]]
names = ["roll"]
meter = "pot"
short = ["Roll"]
ranking = "results"
cards = ["hand"]
placing = "H.3"
paid_from = "table_inventory"
validation = { rule = "H.5", stays = "H.5" }
[[wager.table]]
rule = "H.4"
[wager.table.pays]
six = "80% of meter"
five = "10% of meter"
[wager.table.progression]
rule = "H.4"
seed = "$10 for 1"
reseed = "$10 for 1"
primary = "10%"
[wager.envy]
rule = "H.4"
[[wager.envy.schedule]]
wager = "$1"
pays = { six = "$1", five = "2% of meter" }
[wager.community]
rule = "H.4"
pays = { six = "20% of meter", five = "5% of meter" }
[irregular]
void = "H.6"
dealer_exposed = "H.6"
settled = []
"""


def simulated(rounds: int, players: int, seed: int) -> float:
    """Play the rolls with $1 each; return what the meter paid for each dollar."""
    rng, meter, paid_cents = random.Random(seed), 1_000, 0
    for _ in range(rounds):
        meter += players * 10
        for _ in range(players):
            roll, held = rng.randrange(6), meter
            parts = {
                5: [held * 80 // 100, *[held * 20 // 100 // players] * players],
                4: [held * 10 // 100, *[held * 5 // 100 // players] * players,
                    *[held * 2 // 100] * (players - 1)],
            }.get(roll, [])  # fmt: skip
            meter -= sum(parts)
            paid_cents += sum(parts)
            meter += 1_000 if roll == 5 else 0
    return paid_cents / (rounds * players * 100)


@pytest.mark.parametrize("players", [1, 4])
def test_a_simulation_gives_back_what_the_odds_say(players: int) -> None:
    """The simulation knows only the text of the rules. Its error is below two percent here."""
    entry = entry_in(ROLLS)
    assert entry.meter_return == Fraction(100 + 15, 600)
    assert entry.house_edge == 1 - Fraction(115, 600) * 10
    assert entry.envy_return == {"100": Fraction(1, 6) + Fraction(2, 600) * 10}
    assert entry.fixed_envy("100") == Fraction(1, 6)
    assert entry.long_run is not None
    back = 1 - entry.long_run.house_edge
    assert back == Fraction(1, 10) + Fraction(10, 6)
    assert simulated(60_000 // players, players, 11) == pytest.approx(float(back), rel=0.03)
