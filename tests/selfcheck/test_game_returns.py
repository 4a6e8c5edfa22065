"""The warning about a house game that gives back more than is wagered."""

from fractions import Fraction
from math import ceil, comb
from pathlib import Path

import pytest

from meters.floor.floor_file import Floor, parse_floor
from meters.selfcheck.game_returns import limit_checks, return_checks
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import game_text, wager_text

DEALS = comb(52, 3)
ROYALS, STRAIGHT_FLUSHES, THREES = 4, 44, 52
"""Numbers of three-card hands: suited ace-king-queen, other straight flushes, three of a kind."""


def trio_floor(home: Path, rows: dict[str, str], *, rate: str = "5%", limit: int = 0) -> Floor:
    """Return a floor with one table of a game of three cards."""
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
    terms = trio_floor(tmp_path, rows).link[0].meter[0].terms_in("trio")
    per_deal = Fraction(terms.wager_cents * (terms.primary_bps + terms.reserve_bps), 10_000)
    added = per_deal * DEALS + ROYALS * terms.reseed_cents
    limit = ceil(added / (ROYALS + Fraction(STRAIGHT_FLUSHES, 100))) + more_cents
    (check,) = limit_checks(trio_floor(tmp_path, rows, limit=limit))
    assert check.what == "limit of m on one"
    assert check.holds != grows
    assert not check.fails
    assert ("grows for ever" in check.seen) == grows


def test_a_floor_without_house_games_or_limits_needs_no_count() -> None:
    floor = parse_floor(floor_text(link_text("one", table_text("T-1"))))
    assert [*return_checks(floor), *limit_checks(floor)] == []
