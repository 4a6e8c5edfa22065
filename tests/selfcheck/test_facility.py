"""Results of the self-check for a floor without servers."""

import asyncio
import re
from pathlib import Path

import pytest
import structlog

from meters.floor import game_files
from meters.floor.floor_file import parse_floor
from meters.ledger.link_state import Snapshot
from meters.selfcheck import software
from meters.selfcheck.floor_checks import facility_checks
from meters.selfcheck.server_checks import meters_without_tables
from meters.selfcheck.software import SelfCheck
from tests.floor.example import FLOOR
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.dates import WEST, dated_floor
from tests.games.naive import HOUSE
from tests.waiting import eventually_async


def bounded(most: int) -> str:
    return FLOOR.replace("wager = 100\n", f"contribution_max = {most}\nwager = 100\n", 1)


@pytest.mark.duty("D3")
@pytest.mark.parametrize(("most", "holds"), [(97, False), (98, True)])
def test_a_bound_that_a_full_table_passes_is_warned_of(most: int, *, holds: bool) -> None:
    """Seven wagers of $1 add 14 cents each. A lower bound would refuse every full table."""
    text = bounded(most)
    (seen,) = (each for each in facility_checks(parse_floor(text)) if "contribution" in each.what)
    assert (seen.holds, seen.warns, seen.fails) == (holds, True, False)
    assert seen.seen.startswith(f"98 cents from a full table; contribution_max is {most}")


@pytest.mark.section("649a.11(c)(5)(iii)", proof=True)
@pytest.mark.parametrize(
    ("validate_from", "subsections"),
    [
        (0, set()),
        (1, {"(5)(iii)", "(7)(iii)", "(9)(iii)"}),
        # 500 for 1 of a $2.50 wager is $1,250.
        (125_000, {"(5)(iii)", "(7)(iii)", "(9)(iii)"}),
        (125_001, {"(5)(iii)", "(7)(iii)", "(8)(ii)", "(9)(iii)"}),
    ],
)
def test_an_amount_below_which_nobody_validates_is_warned_of(
    validate_from: int, subsections: set[str]
) -> None:
    """The subsections say that a floorperson validates the payout, whatever its amount."""
    text = FLOOR.replace("validate_from = 0", f"validate_from = {validate_from}")
    found = [each for each in facility_checks(parse_floor(text)) if each.what == "validation"]
    assert all((each.holds, each.warns) == (False, True) for each in found)
    assert {
        each for check in found for each in re.findall(r"649a\.11\(c\)(\S+?)[,: ]", check.seen)
    } == (subsections)


@pytest.mark.parametrize(("validate_from", "warned"), [(3_000, False), (3_001, True)])
def test_an_amount_that_excludes_wins_of_a_smaller_wager_is_warned_of(
    validate_from: int, *, warned: bool
) -> None:
    """30 for 1 of a $1 wager is $30, and $150 of the $5 wager."""
    text = floor_text(
        link_text(
            "pit",
            meter_text("trips_jackpot", 500, smaller_wagers=[100]),
            table_text("T-1", "trips_jackpot", game="keystone_trips"),
        ),
        games=str(HOUSE),
        validate_from=validate_from,
    )
    found = [each for each in facility_checks(parse_floor(text)) if each.what == "validation"]
    assert bool(found) == warned


_LINK = link_text("pit", meter_text("progressive"), meter_text("progressive", id="old"))
_NO_TABLE = "no table feeds it"


@pytest.mark.parametrize(
    ("meters", "micros", "warned"),
    [
        ((), {}, f"{_NO_TABLE}: name it in `meters` of a table"),
        (("old",), {"meter:old": 12_340_000}, f"{_NO_TABLE}, so nobody can win its $12.34: name"),
        (("old",), {"overflow:old": 10_000}, f"{_NO_TABLE}, so nobody can win its $0.01: name"),
        (("old",), {"meter:old": 9_999, "reserve:old": 5_000_000}, None),
    ],
    ids=["new", "with money", "with overflow", "ended"],
)
def test_a_meter_without_tables_is_warned_of_until_it_was_ended(
    meters: tuple[str, ...], micros: dict[str, int], warned: str | None
) -> None:
    """Of a cent, a fraction can stay; of the reserve, all."""
    floor = parse_floor(floor_text(_LINK, table_text("T-1", "progressive")))
    snapshot = Snapshot(micros, {}, {f"terms:{meter}": "" for meter in ("progressive", *meters)})
    (check,) = meters_without_tables(floor.link[0], snapshot)
    assert (check.what, check.fails) == ("meter old on pit", False)
    assert check.holds == (warned is None)
    assert check.seen.startswith(warned or f"{_NO_TABLE}, and it has no money")


@pytest.mark.slow
@pytest.mark.parametrize(("most", "level"), [(97, "warning"), (98, "info")])
async def test_the_service_warns_of_what_does_not_hold_and_of_nothing_else(
    most: int, level: str
) -> None:
    """It also warns of problems that do not stop a link. Passed checks are logged as passed."""
    text = bounded(most)
    with structlog.testing.capture_logs() as lines:
        checking = asyncio.create_task(SelfCheck(parse_floor(text)).run())
        found = await eventually_async(
            lambda: [line for line in lines if "contribution" in line.get("what", "")],
            what="the check",
        )
        checking.cancel()
    assert [line["log_level"] for line in found] == [level]


@pytest.mark.slow
async def test_an_expired_game_stops_no_link(tmp_path: Path) -> None:
    """Its tables accept no wagers. But open rounds go on, and other tables play other games."""
    floor = parse_floor(dated_floor(tmp_path, WEST, expires="2026-01-31"))
    checking = SelfCheck(floor)
    with structlog.testing.capture_logs() as lines:
        task = asyncio.create_task(checking.run())
        found = await eventually_async(
            lambda: [line for line in lines if line.get("what") == "games"], what="the check"
        )
        assert checking.problem is None
        task.cancel()
    said = (
        "Dated (dated) cannot be played after 2026-01-31, the date `expires` in its file;"
        " its tables accept no wagers"
    )
    assert [(line["log_level"], line["seen"]) for line in found] == [("warning", said)]


@pytest.mark.slow
async def test_a_running_service_warns_once_of_a_game_that_comes_to_a_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(software, "SOFTWARE_EVERY_S", 0.01)
    floor = parse_floor(dated_floor(tmp_path, WEST, expires="2999-01-31"))
    with structlog.testing.capture_logs() as lines:
        task = asyncio.create_task(SelfCheck(floor).run())

        def named(what: str) -> list[str]:
            return [line["log_level"] for line in lines if line.get("what") == what]

        await eventually_async(lambda: len(named("software")) > 2, what="hourly checks")
        assert named("games") == ["info"]
        # The last days begin now.
        monkeypatch.setattr(game_files, "EXPIRES_SOON_DAYS", 10**6)
        await eventually_async(lambda: len(named("games")) > 1, what="the warning")
        checks = len(named("software"))
        await eventually_async(lambda: len(named("software")) > checks + 2, what="hourly checks")
        assert named("games") == ["info", "warning"]
        task.cancel()
