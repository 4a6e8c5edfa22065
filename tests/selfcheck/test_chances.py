"""Chances of a meter at each game of a link, top awards that are too rare, and returns of games."""

import re
from fractions import Fraction
from math import ceil, comb
from pathlib import Path

import pytest

from bonus.display import money
from bonus.hands.rankings import RANKINGS
from bonus.odds.hand_counts import count_best_five
from bonus.odds.joker_counts import count_pai_gow
from bonus.odds.odds_entries import HandLine
from bonus.odds.wager_odds import rare_top_award
from controllers.demo.demo_floor import write_demo_floor
from meters.floor.floor_file import Floor, parse_floor, read_floor
from meters.selfcheck.check_result import Check
from meters.selfcheck.game_returns import chance_checks, limit_checks, return_checks
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE
from tests.games.texts import game_text, wager_text

# Of five cards, 4 royals win the meter and 36 straight flushes a tenth of it; of the best five of
# seven, 4,324 and 37,260.
FIVE = (4 + 36 / 10) / comb(52, 5)
SEVEN = (4_324 + 37_260 / 10) / comb(52, 7)


def checks(home: Path, *, hand: int, accepted: int | None) -> list[Check]:
    """Check two games on one meter: one of five cards, and one of `hand` and three more."""
    wager = wager_text("w", "m")
    (home / "five.toml").write_text(game_text("five", ["m"], wager))
    (home / "more.toml").write_text(game_text("more", ["m"], wager, hand=hand))
    floor = floor_text(
        link_text(
            "one",
            meter_text("m", chance_ratio_max=accepted),
            table_text("T-1", "m", game="five", positions=6),
            table_text("T-2", "m", game="more", positions=6),
        ),
        games=str(home),
    )
    return [*chance_checks(parse_floor(floor))]


@pytest.mark.duty("D21", proof=True)
@pytest.mark.parametrize(("accepted", "holds"), [(None, False), (20, False), (21, True)])
def test_a_meter_that_two_games_win_unequally_must_be_accepted(
    tmp_path: Path,
    accepted: int | None,
    holds: bool,  # noqa: FBT001
) -> None:
    (check,) = checks(tmp_path, hand=4, accepted=accepted)
    assert check.what == "chances of m on one"
    assert (check.holds, check.fails) == (holds, not holds)
    assert 20 < SEVEN / FIVE < 20.58
    most, least = (f"w of {game} (1 in {round(1 / chance):,})"
                   for game, chance in (("more", SEVEN), ("five", FIVE)))  # fmt: skip
    assert check.seen.startswith(f"a dollar is 20.58 times as likely to win it on {most} as on")
    assert least in check.seen
    assert ("chance_ratio_max = 21" in check.seen) != holds


@pytest.mark.duty("D21")
def test_games_with_equal_hands_and_one_paytable_need_no_statement(tmp_path: Path) -> None:
    assert checks(tmp_path, hand=2, accepted=None) == []


@pytest.mark.duty("D21", proof=True)
def test_patterns_of_the_players_cards_differ_with_their_number(tmp_path: Path) -> None:
    """Two cards hold the ace of spades twice as often as one, of three cards in all."""
    text = game_text("two", ["m"], wager_text("w", "m", rows={"ace": "100% of meter"}))
    text = text.replace('"five_card"', '"spades"').replace("hand_and_community", "hand_and_dealer")
    pattern = '[[pattern]]\nranking = "spades"\nname = "ace"\nhand = { cards = ["As"] }\n'
    text = re.sub("(?m)^lowest = .*$", "", text.replace("[[wager]]", f"{pattern}[[wager]]"))
    text = re.sub("(?m)^community = .*$", "", text)
    for game, hand, dealer in (("two", 2, 1), ("one", 1, 2)):
        dealt = re.sub(r"(?m)^hand = \d+$", f"hand = {hand}", text.replace('"two"', f'"{game}"'))
        dealt = re.sub(r"(?m)^dealer = \d+$", f"dealer = {dealer}", dealt)
        (tmp_path / f"{game}.toml").write_text(dealt)
    floor = floor_text(
        link_text(
            "one",
            meter_text("m"),
            table_text("T-1", "m", game="two", positions=6),
            table_text("T-2", "m", game="one", positions=6),
        ),
        games=str(tmp_path),
    )
    (check,) = chance_checks(parse_floor(floor))
    assert check.fails
    assert "a dollar is 2 times as likely" in check.seen


@pytest.mark.duty("D21", proof=True)
def test_the_demonstration_states_what_it_accepts(tmp_path: Path) -> None:
    path, floor = write_demo_floor(tmp_path, 12, 8080)
    found = {check.what: check for check in chance_checks(floor)}
    assert all(check.holds for check in found.values())
    assert "6.01 times as likely" in found["chances of liberty_minor on liberty"].seen
    path.write_text(path.read_text().replace("chance_ratio_max = 7\n", ""))
    silent = [check.what for check in chance_checks(read_floor(path)) if check.fails]
    assert silent == ["chances of liberty_minor on liberty"]


@pytest.mark.parametrize(("lowest", "loses"), [("three_of_a_kind", True), ("full_house", False)])
def test_a_bad_beat_is_judged_at_a_full_table_too(
    tmp_path: Path,
    lowest: str,
    loses: bool,  # noqa: FBT001
) -> None:
    """With two players, the house has an edge of 7.79 %; with six, it can lose."""
    path, _ = write_demo_floor(tmp_path, 12, 8080)
    for game in tmp_path.rglob("liberty_five.toml"):
        changed = re.sub(
            'lowest = "[a-z_]+"\nloser', f'lowest = "{lowest}"\nloser', game.read_text()
        )
        game.write_text(changed)
    floor = read_floor(path)
    of = "return of liberty_progressive in liberty_five"
    found = {check.what: check for check in return_checks(floor)}
    assert found[of].holds
    full = found[f"{of} with 6 players"]
    assert (not full.holds, full.fails) == (loses, False)
    assert ("at a full table, the house can lose" in full.seen) == loses
    chances = {check.what: check for check in chance_checks(floor)}
    if loses:
        assert not chances["chances of liberty_minor on liberty at full tables"].holds


def test_odds_that_cannot_be_counted_are_a_failed_check_of_their_wager(tmp_path: Path) -> None:
    path, _ = write_demo_floor(tmp_path, 12, 8080)
    for game in tmp_path.rglob("liberty_five.toml"):
        changed = game.read_text().replace('full_house"\nloser', 'two_pair"\nloser')
        game.write_text(changed)
    floor = read_floor(path)
    found = [*return_checks(floor), *limit_checks(floor), *chance_checks(floor)]
    (failed,) = [check for check in found if check.fails]
    assert failed.what == "odds of liberty_progressive in liberty_five"
    assert "more than 100,000 hands are two pair or higher" in failed.seen
    assert "return of five_wager in liberty_five" in {check.what for check in found}


@pytest.mark.duty("D22", proof=True)
@pytest.mark.parametrize(
    ("combinations", "of", "named"),
    [(1, 100_000_001, True), (1, 100_000_000, False), (0, 22_100, True), (4, 2_598_960, False)],
)
def test_a_top_award_rarer_than_one_in_a_hundred_million_is_named(
    combinations: int,
    of: int,
    named: bool,  # noqa: FBT001
) -> None:
    unpaid = HandLine(hand="four_of_a_kind", combinations=0, of=of, pays="N/A")
    top = HandLine(hand="royal_flush", combinations=combinations, of=of, pays="100% of meter")
    assert not rare_top_award((unpaid,))
    common = HandLine(hand="pair", combinations=of // 2, of=of, pays="2 for 1")
    assert rare_top_award((common, top)) == ""
    assert ("royal flush" in rare_top_award((common, top), ordered=False)) == named
    said = rare_top_award((unpaid, top))
    assert ("The top award, royal flush, is rarer" in said) == named


@pytest.mark.slow
@pytest.mark.duty("D22", proof=True)
def test_no_ranking_has_a_rarer_hand() -> None:
    """Up to six cards, even one deal of all is not so rare; of more cards, the best five count."""
    joker = min(count_pai_gow(lambda _: None).values())
    assert joker * 100_000_000 > comb(53, 7)
    for name, ranking in RANKINGS.items():
        for cards in ranking.cards if name != "pai_gow" else ():
            if cards > 6:
                counts = count_best_five(cards, lambda _: None)
                rarest = min(number for number in counts.values() if number)
                assert rarest * 100_000_000 > comb(52, cards)
            else:
                assert comb(52, cards) < 100_000_000


# The warning about a house game that gives back more than is wagered.

DEALS = comb(52, 3)
ROYALS, STRAIGHT_FLUSHES, THREES, HIGH_CARDS = 4, 44, 52, 16_440
"""Numbers of three-card hands: suited ace-king-queen, other straight flushes, three of a kind, and
hands without even a pair."""


def trio_floor(home: Path, rows: dict[str, str], *, rate: str = "5%", limit: int = 0) -> Floor:
    text = game_text("trio", ["m"], wager_text("w", "m", rows=rows), hand=3, community=0)
    text = text.replace('"five_card"', '"three_card"').replace("hand_and_community", "hand")
    (home / "trio.toml").write_text(text.replace('primary = "5%"', f'primary = "{rate}"'))
    table = table_text("T-1", "m", game="trio", positions=6)
    link = link_text("one", meter_text("m", limit=limit or None), table)
    return parse_floor(floor_text(link, games=str(home)))


@pytest.mark.parametrize(
    ("times", "rate", "loses"), [(300, "5%", False), (400, "5%", True), (300, "30%", True)]
)
def test_a_game_that_gives_back_more_than_is_wagered_is_warned_of(
    tmp_path: Path,
    times: int,
    rate: str,
    loses: bool,  # noqa: FBT001
) -> None:
    rows = {
        "mini_royal": "100% of meter",
        "straight_flush": "50% of meter",
        "three_of_a_kind": f"{times} for 1",
    }
    (check,) = return_checks(trio_floor(tmp_path, rows, rate=rate))
    back = (ROYALS * 100 + STRAIGHT_FLUSHES * 50 + THREES * times) * 1000 // DEALS
    # What the wagers add is won in the long run, and the whole meter's reseed is paid besides.
    lasting = (ROYALS * 100 + THREES * times + int(rate[:-1]) * DEALS // 100) * 1000 // DEALS
    assert f"{lasting // 10}.{lasting % 10}% in the long run" in check.seen
    assert check.what == "return of w in trio"
    assert check.seen.startswith(f"{back // 10}.{back % 10}% at the seed of its meters")
    assert check.holds != loses
    assert not check.fails
    assert ("the house loses" in check.seen) == loses


def test_a_meter_whose_seed_gives_players_the_edge_is_warned_of(tmp_path: Path) -> None:
    """Most of the meter is won often, and nobody pays a reseed: the house keeps its share."""
    rows = {
        "mini_royal": "99% of meter",
        "straight_flush": "99% of meter",
        "three_of_a_kind": "350 for 1",
    }
    (check,) = return_checks(trio_floor(tmp_path, rows))
    assert "87.3% in the long run: at the seed, players have the edge" in check.seen
    assert not check.holds


@pytest.mark.parametrize(
    ("minimum", "advice"),
    [(500_00, ""), (900_00, "together the house loses, so lower the minimum of the must-hit-by")],
)
def test_what_a_must_hit_by_meter_gives_back_is_added(
    tmp_path: Path, minimum: int, advice: str
) -> None:
    """By hand: at 2% and from $500 to $1,000, a wager gives back $750 in 12,500 wagers more."""
    rows = {"mini_royal": "100% of meter", "straight_flush": "1% of meter",
            "three_of_a_kind": "300 for 1"}  # fmt: skip
    trio_floor(tmp_path, rows)
    mystery = section_text(
        "[[link.meter]]", kind="must_hit_by", id="mystery",
        must_hit_by={"minimum": minimum, "maximum": 1_000_00, "rate": "2%", "wagers": ["w"],
                     "rule": "H.1"},
    )  # fmt: skip
    table = table_text("T-1", "m", "mystery", game="trio", positions=6)
    floor = floor_text(link_text("one", meter_text("m"), mystery, table), games=str(tmp_path))
    (check,) = return_checks(parse_floor(floor))
    more = 750 * 1000 // 12_500 if minimum == 500_00 else 950 * 1000 // 2_500
    assert f", and {more // 10}.{more % 10}% more of must-hit-by meters" in check.seen
    assert check.holds == (not advice)
    assert advice in check.seen


def test_a_pattern_that_an_earlier_one_hides_is_an_error(tmp_path: Path) -> None:
    text = (HOUSE / "keystone_twenty_one.toml").read_text()
    ranks, rest = text.split("[[pattern]]", 1)
    first = rest[: rest.index("[[pattern]]")]
    later = rest[len(first) :].replace("[[wager]]", f"[[pattern]]{first}[[wager]]", 1)
    text = ranks + later.replace('suited_trips = "100% of meter"\n', "")
    text = text.replace("[wager.table.prog", 'suited_trips = "100% of meter"\n[wager.table.prog', 1)
    envy = text.index("[wager.envy]")
    text = text[:envy] + text[text.index("[[wager]]", envy) :]
    (tmp_path / "hidden.toml").write_text(text)
    table = table_text("T-1", "twenty_one_jackpot", game="keystone_twenty_one")
    link = link_text("one", meter_text("twenty_one_jackpot"), table)
    floor = floor_text(link, games=str(tmp_path))
    hidden, *_ = return_checks(parse_floor(floor))
    assert hidden.what == "suited_trips of twenty_one_progressive in keystone_twenty_one"
    assert hidden.fails
    assert "earlier patterns take its cards" in hidden.seen


@pytest.mark.parametrize(
    ("cell", "times", "wager", "loses"),
    [
        ("2 to 1", 3, "the wager", False),
        ("11 to 1", 12, "the wager", True),
        ("$11", 12, "a $1 wager", True),
    ],
)
def test_a_wager_without_a_meter_that_gives_back_too_much_is_warned_of(
    tmp_path: Path,
    cell: str,
    times: int,
    wager: str,
    loses: bool,  # noqa: FBT001
) -> None:
    rows = dict.fromkeys(RANKINGS["three_card"].names[1:-1], cell)  # no row for a high card
    side = wager_text("side", rows=rows, cards="hand").replace('three_of_a_kind"', 'pair"', 1)
    side = re.sub(r"^(meters|short|validation) = .*\n", "", side, flags=re.MULTILINE)
    text = game_text("trio", [], side.replace("five_card", "three_card"), hand=3, community=0)
    (tmp_path / "trio.toml").write_text(text)
    table = table_text("T-1", game="trio", positions=6)
    floor = floor_text(link_text("one", table), games=str(tmp_path))
    (check,) = return_checks(parse_floor(floor))
    back = (DEALS - HIGH_CARDS) * times * 1000 // DEALS
    assert check.what == "return of side in trio"
    advice = ": the house loses, so change the paytable" if loses else ""
    assert check.seen == f"{back // 10}.{back % 10}% of {wager}{advice}"
    assert (check.holds, check.fails) == (not loses, False)


@pytest.mark.duty("D3", proof=True)
@pytest.mark.parametrize(("more_cents", "grows"), [(-1, True), (0, False)])
def test_a_limit_at_which_the_overflow_grows_is_warned_of(
    tmp_path: Path,
    more_cents: int,
    grows: bool,  # noqa: FBT001
) -> None:
    """At the least limit, the awards pay what wagers and reseeds add."""
    rows = {
        "mini_royal": "100% of meter",
        "straight_flush": "1% of meter",
        "three_of_a_kind": "1 for 1",
    }
    terms = trio_floor(tmp_path, rows).link[0].meter[0].terms_in("trio")
    per_deal = Fraction(terms.wager_cents * (terms.primary_bps + terms.reserve_bps), 10_000)
    added = per_deal * DEALS + ROYALS * terms.reseed_cents
    limit = ceil(added / (ROYALS + Fraction(STRAIGHT_FLUSHES, 100))) + more_cents
    (check,) = limit_checks(trio_floor(tmp_path, rows, limit=limit))
    assert check.what == "limit of m on one"
    assert check.holds != grows
    assert not check.fails
    assert ("grows for ever" in check.seen) == grows


@pytest.mark.duty("D3")
def test_a_limit_whose_overflow_goes_to_another_meter_is_no_warning(tmp_path: Path) -> None:
    """The players of the other meter win it; that meter's own check does not count it."""
    rows = {
        "mini_royal": "100% of meter",
        "straight_flush": "1% of meter",
        "three_of_a_kind": "1 for 1",
    }
    terms = trio_floor(tmp_path, rows).link[0].meter[0].terms_in("trio")
    limit = terms.seed_cents + 1
    meters = (
        meter_text("m", id="mini", limit=limit, overflow_to="grand"),
        meter_text("m", id="grand", limit=90_000_000),
    )
    tables = (
        table_text("T-1", "mini", game="trio", positions=6),
        table_text("T-2", "grand", game="trio", positions=6),
    )
    floor = parse_floor(floor_text(link_text("one", *meters, *tables), games=str(tmp_path)))
    mini, grand = limit_checks(floor)
    assert (mini.holds, grand.holds) == (True, True)
    assert mini.seen == (
        f"{money(limit)}; its awards pay less than wagers add, and the players of grand win the"
        " rest"
    )
    assert grand.seen.endswith("not counting what comes from mini")


def test_a_floor_without_house_games_or_limits_needs_no_count() -> None:
    floor = parse_floor(floor_text(link_text("one", table_text("T-1"))))
    assert [*return_checks(floor), *limit_checks(floor)] == []
