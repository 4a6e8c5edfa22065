"""The warning about a house game that gives back more than is wagered."""

from fractions import Fraction
from math import ceil, comb
from pathlib import Path

import pytest

from meters.floor.floor_file import parse_floor
from meters.selfcheck.game_returns import limit_checks, return_checks
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import game_text, wager_text

DEALS = comb(52, 3)
ROYALS, STRAIGHT_FLUSHES, THREES = 4, 44, 52
"""Numbers of three-card hands: suited ace-king-queen, other straight flushes, three of a kind."""


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
    text = game_text("trio", ["m"], wager_text("w", "m", rows=rows), hand=3, community=0)
    text = text.replace('"five_card"', '"three_card"').replace("hand_and_community", "hand")
    text = text.replace('primary = "5%"', f'primary = "{rate}"')
    (tmp_path / "trio.toml").write_text(text)
    table = table_text("T-1", "m", game="trio", positions=6)
    floor = parse_floor(floor_text(link_text("one", meter_text("m"), table), games=str(tmp_path)))
    (check,) = return_checks(floor)
    back = (ROYALS * 100 + STRAIGHT_FLUSHES * 50 + THREES * times) * 1000 // DEALS
    # What the wagers add is won in the long run, and the whole meter's reseed is paid besides.
    lasting = (ROYALS * 100 + THREES * times + int(rate[:-1]) * DEALS // 100) * 1000 // DEALS
    assert f"{lasting // 10}.{lasting % 10}% in the long run" in check.seen
    assert check.what == "return of w in trio"
    assert check.seen.startswith(f"{back // 10}.{back % 10}% at the seed of its meters")
    assert check.holds != loses
    assert not check.fails
    assert ("the house loses" in check.seen) == loses


@pytest.mark.duty("D3")
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
    text = game_text("trio", ["m"], wager_text("w", "m", rows=rows), hand=3, community=0)
    text = text.replace('"five_card"', '"three_card"').replace("hand_and_community", "hand")
    (tmp_path / "trio.toml").write_text(text)
    table = table_text("T-1", "m", game="trio", positions=6)
    terms = (
        parse_floor(floor_text(link_text("one", meter_text("m"), table), games=str(tmp_path)))
        .link[0]
        .meter[0]
        .terms_in("trio")
    )
    per_deal = Fraction(terms.wager_cents * (terms.primary_bps + terms.reserve_bps), 10_000)
    added = per_deal * DEALS + ROYALS * terms.reseed_cents
    limit = ceil(added / (ROYALS + Fraction(STRAIGHT_FLUSHES, 100))) + more_cents
    meter = meter_text("m", limit=limit)
    floor = parse_floor(floor_text(link_text("one", meter, table), games=str(tmp_path)))
    (check,) = limit_checks(floor)
    assert check.what == "limit of m on one"
    assert check.holds != grows
    assert not check.fails
    assert ("grows for ever" in check.seen) == grows


def test_a_floor_without_house_games_or_limits_needs_no_count() -> None:
    floor = parse_floor(floor_text(link_text("one", table_text("T-1"))))
    assert [*return_checks(floor), *limit_checks(floor)] == []
