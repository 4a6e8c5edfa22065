"""Results of the self-check for a floor without servers."""

import asyncio

import pytest
import structlog

from meters.floor.floor_file import parse_floor
from meters.selfcheck.floor_checks import facility_checks
from meters.selfcheck.periodic_check import SelfCheck
from tests.floor.example import FLOOR
from tests.waiting import eventually_async


@pytest.mark.duty("D3")
@pytest.mark.parametrize(("most", "holds"), [(97, False), (98, True)])
def test_a_bound_that_a_full_table_passes_is_warned_of(most: int, *, holds: bool) -> None:
    """Seven wagers of $1 add 14 cents each. A lower bound would refuse every full table."""
    first = FLOOR.index("wager = 100\n")
    text = f"{FLOOR[:first]}contribution_max = {most}\n{FLOOR[first:]}"
    (seen,) = (each for each in facility_checks(parse_floor(text)) if "contribution" in each.what)
    assert (seen.holds, seen.warns, seen.fails) == (holds, True, False)
    assert seen.seen.startswith(f"98 cents of a full table; the largest contribution is {most}")


@pytest.mark.parametrize(("most", "level"), [(97, "warning"), (98, "info")])
async def test_the_service_warns_of_what_does_not_hold_and_of_nothing_else(
    most: int, level: str
) -> None:
    """It also warns of problems that do not stop a link. Passed checks are logged as passed."""
    first = FLOOR.index("wager = 100\n")
    text = f"{FLOOR[:first]}contribution_max = {most}\n{FLOOR[first:]}"
    with structlog.testing.capture_logs() as lines:
        checking = asyncio.create_task(SelfCheck(parse_floor(text)).run())
        found = await eventually_async(
            lambda: [line for line in lines if "contribution" in line.get("what", "")],
            what="the check",
        )
        checking.cancel()
    assert [line["log_level"] for line in found] == [level]
