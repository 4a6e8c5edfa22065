"""The warning about a house game that gives back more than is wagered."""

from math import comb
from pathlib import Path

import pytest

from meters.floor.floor_file import parse_floor
from meters.selfcheck.game_returns import return_checks
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import game_text, wager_text

DEALS = comb(52, 3)
ROYALS, STRAIGHT_FLUSHES, THREES = 4, 44, 52
"""Numbers of three-card hands: suited ace-king-queen, other straight flushes, three of a kind."""


@pytest.mark.parametrize(("times", "loses"), [(300, False), (400, True)])
def test_a_game_that_gives_back_more_than_is_wagered_is_warned_of(
    tmp_path: Path,
    times: int,
    loses: bool,  # noqa: FBT001
) -> None:
    rows = {
        "mini_royal": "100% of meter",
        "straight_flush": "50% of meter",
        "three_of_a_kind": f"{times} for 1",
    }
    text = game_text("trio", ["m"], wager_text("w", "m", rows=rows), hand=3, community=0)
    text = text.replace('"five_card"', '"three_card"').replace("hand_and_community", "hand")
    (tmp_path / "trio.toml").write_text(text)
    table = table_text("T-1", "m", game="trio", positions=6)
    floor = parse_floor(floor_text(link_text("one", meter_text("m"), table), games=str(tmp_path)))
    (check,) = return_checks(floor)
    back = (ROYALS * 100 + STRAIGHT_FLUSHES * 50 + THREES * times) * 1000 // DEALS
    assert check.what == "return of w in trio"
    assert check.seen.startswith(f"{back // 10}.{back % 10}% at the seed of its meters")
    assert check.holds != loses
    assert not check.fails
    assert ("the house loses" in check.seen) == loses


def test_a_floor_without_house_games_needs_no_count() -> None:
    floor = parse_floor(floor_text(link_text("one", table_text("T-1"))))
    assert [*return_checks(floor)] == []
