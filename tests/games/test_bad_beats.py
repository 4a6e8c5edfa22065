"""Bad beats: files, settlement, and odds."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from math import comb
from typing import Any, Final

import pytest

from bonus.cards import CARDS
from bonus.display import item_words
from bonus.errors import UserError
from bonus.hands.rankings import STRENGTHS
from bonus.law.games import item_titles, read_chapter
from bonus.law.meter_terms import meter_terms
from bonus.law.paytables import ChapterError
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import BadBeatOdds, OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of, with_hit_times
from bonus.rounds import SettlementText, cause_of
from bonus.settling.settle_round import settle_line
from controllers.demo.resettlement import held_before
from meters.reports.wager_filings import rules_of, wager_odds
from tests.games.naive import settled
from tests.games.rounds import random_round, settled_by_pitlink
from tests.games.test_shares import games_of, paid
from tests.games.texts import DRAWN, ROWS, envy_text, game_text, wager_text
from tests.naive.ranking import FIVE_CARD, RANKS, best_five_strength, three_card_strength

DECK: Final = tuple(rank + suit for rank in RANKS for suit in "cdhs")
PARTS: Final = {"loser": "50% of meter", "winner": "25% of meter", "table": "25% of meter"}
BY_DEALER: Final = {"loser": "60% of meter", "table": "40% of meter", "beaten_by": "dealer"}


def beat_text(lowest: str = "three_of_a_kind", **more: str) -> str:
    keys = "".join(f'{key} = "{value}"\n' for key, value in (more or PARTS).items())
    return f'\n[wager.bad_beat]\nrule = "H.8"\nlowest = "{lowest}"\n{keys}'


def game(
    beat: str = "", *meters: str, rows: Mapping[str, str] = ROWS, dealer: int = 0, more: str = ""
) -> str:
    fed = meters or ("pot",)
    wager = wager_text("bet", *fed, rows=rows, cards="hand", after=more + (beat or beat_text()))
    return game_text("h", fed, wager, hand=5, dealer=dealer, community=0)


def settle(
    text: str,
    hands: Mapping[int, str],
    held_cents: int = 100_000,
    **more: Any,  # noqa: ANN401
) -> SettlementText:
    """Settle hands with a wager of $1 at each; ``-`` before a hand: without it."""
    positions = [
        {"position": position, "cards": cards.lstrip("-").split(),
         "wagers": {} if cards.startswith("-") else {"bet": 100}}
        | more.pop(f"at_{position}", {})
        for position, cards in hands.items()
    ]  # fmt: skip
    played = {
        "game": "h", "positions": positions, "meters": {"pot": {"wager": 100, "amount": held_cents}}
    } | more  # fmt: skip
    return settle_line(json.dumps(played).encode(), games_of(text))


def parts(found: SettlementText) -> list[tuple[int, str, int, int | None]]:
    ending = "pot_bad_beat_"
    return [
        (position, item.removeprefix(ending), cents, hand_of)
        for position, item, cents, hand_of in paid(found)
        if item.startswith(ending)
    ]


ACES, KINGS, QUEENS = "Ac Ad Ah As 2c", "Kc Kd Kh Ks 3c", "Qc Qd Qh 4s 5c"
NOTHING, FLUSH = "2h 4c 6d Js Td", "2d 5d 7d 9d Jd"


def test_the_beaten_hand_the_winner_and_the_table_win_the_whole_meter_of_one_balance() -> None:
    """By hand: 50%, 25% and 25% of $1,000.07, and the meter begins again."""
    found = settle(game(), {1: KINGS, 2: NOTHING, 4: ACES}, 100_007)
    assert parts(found) == [
        (1, "loser", 50_003, None),
        (4, "winner", 25_001, None),
        (4, "table", 8_333, 1),
        (2, "table", 8_333, 1),
        (1, "table", 8_333, 1),
    ]
    assert found.meters["pot"].amount == 100_007 - 50_003 - 25_001 - 24_999 + 10_000
    of_beat = [line for line in found.lines if "bad_beat" in line.item]
    assert {line.rule for line in of_beat} == {"H.8"}
    assert {line.hand for line in of_beat} == {"four_of_a_kind"}
    assert found.lines[-5:] == tuple(of_beat)  # after the last position


def test_a_bad_beat_is_of_what_the_hands_of_the_round_leave() -> None:
    """The straight flush wins 10% at its turn. Its bad beat is of the rest."""
    found = settle(game(), {3: "9s 8s 7s 6s 5s", 2: KINGS})
    assert parts(found)[:2] == [(2, "loser", 45_000, None), (3, "winner", 22_500, None)]


def test_the_beaten_hand_must_count_and_be_really_lower() -> None:
    assert parts(settle(game(), {1: QUEENS, 2: NOTHING})) == []  # the lower hand does not count
    assert parts(settle(game(beat_text("full_house")), {1: QUEENS, 2: ACES})) == []
    equal = {1: "Ac Kd Qh Js Tc", 2: "Ad Kc Qs Jh Td"}
    assert parts(settle(game(), equal)) == []  # equal straights
    kicker = {1: "Ac Kd Qd 2d 3d", 2: "Ad Ks Qs Js 9h", 3: "8c 8d 8h Kh 2h", 4: "8s 9d 9s 9c 3h"}
    assert [each[:2] for each in parts(settle(game(), kicker))][:2] == [(3, "loser"), (4, "winner")]
    flushes = {1: "Ac Kc 9c 4c 3c", 2: "Ad Kd 9d 4d 2d"}
    assert parts(settle(game(), flushes))[0][:2] == (2, "loser")


def test_players_with_equal_hands_divide_the_part_of_their_hand() -> None:
    beaten = {1: "Ac Kd Qh Js Tc", 2: FLUSH, 3: "Ad Kc Qs Jh Td"}
    assert parts(settle(game(), beaten))[:3] == [
        (3, "loser", 25_000, None), (1, "loser", 25_000, None), (2, "winner", 25_000, None),
    ]  # fmt: skip
    highest = {1: "Ac Kc 9c 4c 3c", 2: "Ad Kd 9d 4d 3d", 3: "Qc Qd Qh 4s 5c"}
    assert parts(settle(game(), highest))[:3] == [
        (3, "loser", 50_000, None), (2, "winner", 12_500, None), (1, "winner", 12_500, None),
    ]  # fmt: skip


def test_nobody_beats_their_own_hand_and_a_player_gets_one_share_of_the_table() -> None:
    same = {"patron": "ann"}
    found = settle(game(), {1: KINGS, 2: ACES}, at_1=same, at_2=same)
    assert parts(found) == []
    found = settle(game(), {1: KINGS, 2: ACES, 3: QUEENS, 4: NOTHING}, at_1=same, at_2=same)
    assert parts(found) == [
        (3, "loser", 50_000, None),
        (2, "winner", 25_000, None),
        (4, "table", 8_333, 3),
        (3, "table", 8_333, 3),
        (2, "table", 8_333, 3),
    ]


@pytest.mark.parametrize(
    "gone", [{"cards": None, "no_win": True}, {"cards": None, "folded": True}, {"wagers": {}}]
)
def test_a_hand_that_is_not_turned_up_or_has_no_wager_takes_no_part(gone: dict[str, Any]) -> None:
    text = game().replace('placing = "H.3"', 'placing = "H.3"\nforfeited = "H.3"')
    found = settle(text, {1: KINGS, 2: ACES, 3: QUEENS}, at_2=gone)
    assert parts(found)[:2] == [(3, "loser", 50_000, None), (1, "winner", 25_000, None)]
    assert [each[0] for each in parts(found)[2:]] == ([3, 1] if "wagers" in gone else [3, 2, 1])


def test_the_dealers_hand_can_be_the_one_that_beats() -> None:
    """Aces are not beaten. Ann has two equal beaten straights, and gets one half of the part."""
    text, ann = game(beat_text("straight", **BY_DEALER), dealer=5), {"patron": "ann"}
    hands = {1: "Ac Ks Qh Js Tc", 2: "Ad Kc Qs Jh Td", 3: "Ah Kh Qd Jc Ts", 4: "9s 9c 9d 9h 3s"}
    found = settle(text, hands, dealer=["2d", "5d", "7d", "8d", "Jd"], at_1=ann, at_3=ann)
    assert parts(found) == [
        (3, "loser", 30_000, None),
        (2, "loser", 30_000, None),
        (4, "table", 13_333, 3),
        (3, "table", 13_333, 3),
        (2, "table", 13_333, 3),
    ]
    assert parts(settle(text, hands, dealer=["4d", "5h", "7d", "8d", "Jd"])) == []


def test_each_of_several_meters_has_its_own_parts() -> None:
    rows = ROWS | {"royal_flush": "100% of one", "straight_flush": "10% of two"}
    beat = beat_text(loser="50% of one + 100% of two", winner="20% of one")
    text = game(beat, "one", "two", rows=rows)
    meters = {name: {"wager": 100, "amount": 20_000} for name in ("one", "two")}
    found = settle(text, {1: KINGS, 2: ACES}, meters=meters)
    assert [each[:3] for each in paid(found)][2:] == [
        (1, "one_bad_beat_loser", 10_000),
        (2, "one_bad_beat_winner", 4_000),
        (1, "two_bad_beat_loser", 20_000),
    ]
    after = {name: each.amount for name, each in found.meters.items()}
    assert after == {"one": 6_000, "two": 10_000}


def test_an_envy_bonus_does_not_wait_for_a_bad_beat() -> None:
    lines = settle(game(), {1: KINGS, 2: ACES}).lines
    loser = next(line for line in lines if line.item == "pot_bad_beat_loser")
    owed = replace_line(loser, position=2, item="bet_envy", envy_of=1)
    assert cause_of(owed, [loser], lines) is None


def replace_line(line: Any, **more: Any) -> Any:  # noqa: ANN401
    return type(line)(**{name: getattr(line, name) for name in line.__struct_fields__} | more)


@pytest.mark.parametrize("held", [123_457, 10_001])
def test_the_demonstration_finds_the_balance_behind_a_bad_beat(held: int) -> None:
    text, hands = game(), {3: "9s 8s 7s 6s 5s", 2: KINGS, 1: NOTHING}
    found = settle(text, hands, held)
    before = held_before(meter_terms("pot", 100, None, "h", games_of(text)), found.lines)
    assert before is not None
    assert settle(text, hands, before.amount_micros // 10_000).lines == found.lines


def test_a_second_settlement_agrees_line_by_line() -> None:
    rng = random.Random(38)
    seen: Counter[str] = Counter()
    for _ in range(400):
        played = random_round("keystone_five", rng)
        for box in played["positions"]:
            if rng.random() < 0.3:
                box["patron"] = rng.choice(("ann", "bob"))
            if rng.random() < 0.1:
                del box["cards"]
                box["no_win"] = True
        found = settled_by_pitlink(played)
        lines, meters = settled(played)
        assert found["lines"] == lines, played
        assert found["meters"] == meters
        seen.update(line["item"] for line in lines)
    assert seen["five_jackpot_bad_beat_winner"] > 50


def test_the_strength_of_five_cards_orders_hands_as_a_second_implementation_does() -> None:
    """Of few ranks or suits, so that every hand is frequent, and kickers decide."""
    rng, compare = random.Random(5), STRENGTHS["five_card"]
    seen: Counter[str] = Counter()
    for number in range(3_000):
        size = (5, 6, 7, 9)[number % 4] if number % 8 < 5 else 5
        ranks, suits = rng.choice(((13, 4), (5, 4), (6, 3), (13, 1), (8, 2)))
        few = [card for card in DECK if RANKS.index(card[0]) >= 13 - ranks]
        few = [card for card in few if "cdhs".index(card[1]) < suits]
        hands = [tuple(rng.sample(few, size)) for _ in range(2)]
        (one, mine), (_, theirs) = (compare(CARDS.parse(hand)) for hand in hands)
        first, second = map(best_five_strength, hands)
        assert ((mine > theirs) - (mine < theirs)) == ((first > second) - (first < second)), hands
        assert FIVE_CARD[first[0]] == one.removesuffix("_spades")
        seen[one] += 1
    assert {*FIVE_CARD} <= {*seen}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (game(beat_text(loser="50% of meter", winner="51% of meter")), "win 101% of meter"),
        (game(beat_text(loser="$10")), "not a share of a meter"),
        (game(beat_text(loser="50% of pot")), "feeds no meter pot: write `meter`"),
        (game(beat_text("pair")), "pays nothing for two_pair: the dealer can declare"),
        (game(beat_text("trips")), "'trips' is not a hand of five_card"),
        (game(rows={**ROWS, "flush": "N/A"}), "pays less than straight"),
        (game(beat_text(**BY_DEALER)), "the dealer's hand needs 5 cards"),
        (
            game(beat_text(**BY_DEALER, winner="1% of meter"), dealer=5),
            "the dealer wins no part of a meter",
        ),
        (
            game(more=envy_text(royal_flush="1% of meter").replace("1%", "0.1%"),
                 rows={**ROWS, "royal_flush": "90% of meter"}),
            "Envy Bonuses are fixed sums",
        ),
        (
            game().replace("hand = 5", "hand = 2").replace("community = 0", "community = 3")
            .replace('cards = ["hand"]', 'cards = ["hand_and_community"]'),
            'a bad beat is for cards = \\["hand"\\]',
        ),
        (game().replace('"bet"', '"bet_bad_beat_loser"'), "only a share of a meter has a name"),
        (DRAWN.replace("[wager.draws]", f"{beat_text()}[wager.draws]"), "a bad beat is for cards"),
    ],
)  # fmt: skip
def test_a_file_whose_bad_beat_cannot_be_paid_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ChapterError, match=reason.replace("$", r"\$")):
        read_chapter(text)


def test_a_meter_with_a_bad_beat_has_no_smaller_wagers() -> None:
    with pytest.raises(ValueError, match="need equal wagers: leave out smaller_wagers"):
        meter_terms("pot", 500, None, "h", games_of(game()), (100,))


def test_the_parts_have_titles() -> None:
    text = game().replace('names = ["bet"]', 'names = ["bet"]\ntitle = "The Bet"')
    titles = item_titles([read_chapter(text)])
    assert item_words("pot_bad_beat_loser", titles) == "pot Bad Beat (losing hand)"


# Odds.


def entry_in(text: str, wager_cents: int = 100) -> OddsEntry:
    (offer,) = offers_of(read_chapter(text), {}, DrawOdds())
    return entry_of(replace(offer, wagers_cents=(wager_cents,)), Enumerator())


def beat_of(entry: OddsEntry) -> BadBeatOdds:
    assert entry.bad_beat is not None
    return entry.bad_beat


def quads_and_higher() -> Iterator[tuple[str, ...]]:
    for rank in RANKS:
        four = tuple(rank + suit for suit in "cdhs")
        yield from ((*four, other) for other in DECK if other not in four)
    for suit in "cdhs":
        for top in range(3, 13):
            yield tuple(RANKS[at] + suit for at in range(top, top - 5, -1))


ALL: Final = comb(52, 5) * comb(47, 5)
TAKES: Final = {"royal_flush": Fraction(1), "straight_flush": Fraction(1, 10)}


def left_and_reseeds(order: Sequence[str]) -> tuple[Fraction, Fraction]:
    """Return what hands leave of a meter, and how much of its reseed, by the paytable ROWS."""
    left, reseeds = Fraction(1), Fraction(0)
    for hand in order:
        took = TAKES.get(hand, Fraction(0))
        left, reseeds = left * (1 - took), reseeds * (1 - took) + (took == 1)
    return left, reseeds


def test_the_odds_of_two_players_are_those_of_every_pair_of_hands() -> None:
    """Each pair of quads or straight flushes is formed, and paid in both orders."""
    strengths = [(best_five_strength(hand), {*hand}) for hand in quads_and_higher()]
    pairs: Counter[tuple[str, str]] = Counter()
    for (one, cards), (other, others) in combinations(strengths, 2):
        if one != other and not cards & others:
            beaten, higher = sorted((one, other))
            pairs[FIVE_CARD[beaten[0]], FIVE_CARD[higher[0]]] += 1
    entry, plain = entry_in(game(beat_text("four_of_a_kind"))), entry_in(without_beat(game()))
    beat = beat_of(entry)
    assert (beat.combinations, beat.of) == (2 * pairs.total(), ALL)
    left, reseeds = Fraction(0), Fraction(0)
    for hands, number in pairs.items():
        for order in permutations(hands):
            kept, again = left_and_reseeds(order)
            left += number * kept / 2
            reseeds += number * again / 2
    assert entry.meter_return - plain.meter_return == left / ALL
    assert plain.house_edge - entry.house_edge == (left + reseeds) * 100 / ALL
    assert plain.long_run is not None
    assert entry.long_run is not None
    more = Fraction(pairs.total(), ALL)
    assert entry.long_run.reseeds - plain.long_run.reseeds == more * 100
    (held,) = entry.break_even_meter.values()
    exact = entry.house_edge_at_empty_meter / entry.meter_return
    assert exact * 100 <= held <= exact * 100 + 1_000


def without_beat(text: str) -> str:
    return text[: text.index("[wager.bad_beat]")] + text[text.index("[irregular]") :]


def test_the_odds_against_the_dealer_are_half_of_those_of_two_players() -> None:
    players = beat_of(entry_in(game(beat_text("four_of_a_kind"))))
    text = game(beat_text("four_of_a_kind", **BY_DEALER), dealer=5)
    entry, plain = entry_in(text), entry_in(without_beat(text))
    dealers = beat_of(entry)
    assert dealers.chance == players.chance / 2
    # A straight flush or royal flush takes its part first; nothing else of the round does.
    assert dealers.chance * 9 / 10 < entry.meter_return - plain.meter_return < dealers.chance
    assert "for one player with this wager" in entry.note


def test_a_simulation_of_two_players_meets_the_chance_and_the_return() -> None:
    """Three cards each: a beaten pair or better, out of what a straight flush leaves."""
    rows = {
        "straight_flush": "10% of meter", "three_of_a_kind": "20 for 1", "straight": "5 for 1",
        "flush": "3 for 1", "pair": "1 for 1",
    }  # fmt: skip
    text = game(beat_text("pair", loser="30% of meter", winner="10% of meter"), rows=rows)
    text = text.replace('"five_card"', '"three_card"').replace("hand = 5", "hand = 3")
    text = text.replace('lowest = "three_of_a_kind"', 'lowest = "pair"', 1)
    entry = entry_in(text)
    rng, rounds, beats, won = random.Random(649), 40_000, 0, 0.0
    for _ in range(rounds):
        dealt = rng.sample(DECK, 6)
        one, other = (three_card_strength(tuple(hand)) for hand in (dealt[:3], dealt[3:]))
        left = 1.0
        for kind, _decides in (one, other):
            won += left / 10 if kind == 5 else 0
            left *= 0.9 if kind == 5 else 1
        if one != other and min(one, other)[0] >= 1:
            beats += 1
            won += left * 0.4
    chance = float(beat_of(entry).chance)
    assert abs(beats / rounds - chance) < 4 * (chance / rounds) ** 0.5
    assert abs(won / rounds / 2 - float(entry.meter_return)) < 0.2 * (chance / rounds) ** 0.5 * 4


def test_the_times_between_hits_and_the_filing_count_bad_beats() -> None:
    text = game(beat_text("four_of_a_kind"))
    chapter, entry = read_chapter(text), entry_in(text)
    (times,) = filter(None, (with_hit_times(entry, chapter.wager[0], 10).hit_times,))
    (pot,) = times.meters
    royal = Fraction(4, comb(52, 5))
    assert Fraction(pot.hours_whole) == 1 / (10 * (royal + beat_of(entry).of_wager))
    (offer,) = offers_of(chapter, {}, DrawOdds())
    filed = wager_odds(replace(offer, wagers_cents=(100,)), entry)
    rows = [(row.hand, row.percent) for row in filed.awards if "bad_beat" in row.hand]
    assert rows == [("bad_beat_loser", 50), ("bad_beat_winner", 25), ("bad_beat_table", 25)]


def test_a_meter_that_only_a_bad_beat_wins_is_refused_with_what_to_write() -> None:
    rows = ROWS | {"royal_flush": "500 for 1", "straight_flush": "100 for 1"}
    with pytest.raises(ChapterError, match=r"give the highest hand one, such as `1% of meter`"):
        read_chapter(game(rows=rows))
    assert read_chapter(game(rows=rows | {"royal_flush": "1% of meter"}))


def test_the_filed_rule_names_who_takes_part_and_what_is_paid_first() -> None:
    (offer,) = offers_of(read_chapter(game()), {}, DrawOdds())
    (rule,) = [each for each in rules_of(offer, 0) if each.subject == "bad beat"]
    assert "beaten by the hand of another player who made the wager: 50% of meter" in rule.text
    assert rule.text.endswith("; all other wins of the round are paid first")


def test_a_full_table_has_as_many_bad_beats_as_pairs_of_players() -> None:
    text = game(beat_text("four_of_a_kind"))
    entry, plain = entry_in(text), entry_in(without_beat(text))
    full = entry.full_table
    assert full is not None
    assert full.players == read_chapter(text).deal.positions > 2
    assert entry.long_run is not None
    assert plain.long_run is not None
    of_two = plain.long_run.house_edge - entry.long_run.house_edge
    of_all = plain.long_run.house_edge - full.house_edge_long_run
    assert of_all == of_two * (full.players - 1)
    assert full.house_edge <= entry.house_edge - (full.players - 2) * (
        plain.house_edge - entry.house_edge
    )
    assert f"With {full.players} players, a wager gives back at most" in entry.note


def test_two_players_and_the_dealer_have_no_bound_for_a_full_table() -> None:
    text = game(beat_text("four_of_a_kind"))
    assert entry_in(text.replace("positions = 6", "positions = 2")).full_table is None
    by_dealer = entry_in(game(beat_text("four_of_a_kind", **BY_DEALER), dealer=5))
    assert by_dealer.full_table is None
    assert "at most n times as often" in by_dealer.note


def test_too_many_hands_to_count_are_refused() -> None:
    rows = ROWS | {"two_pair": "2 for 1", "pair": "1 for 1"}
    text = game(beat_text("pair"), rows=rows)
    text = text.replace('lowest = "three_of_a_kind"', 'lowest = "pair"', 1)
    with pytest.raises(UserError, match="more than 100,000 hands are pair or higher"):
        entry_in(text)
