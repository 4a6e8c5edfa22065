"""What the self-check sees of a floor without its parts."""

import pytest

from meters.selfcheck.facility import facility_checks
from meters.wire.floor import parse_floor
from tests.floor.example import FLOOR


@pytest.mark.duty("D3")
@pytest.mark.parametrize(("most", "holds"), [(97, False), (98, True)])
def test_a_bound_that_a_full_table_passes_is_warned_of(most: int, *, holds: bool) -> None:
    """Seven wagers of $1 add 14 cents each: a bound below is one that refuses every full table."""
    first = FLOOR.index("wager = 100\n")
    text = f"{FLOOR[:first]}contribution_max = {most}\n{FLOOR[first:]}"
    (seen,) = (each for each in facility_checks(parse_floor(text)) if "contribution" in each.what)
    assert (seen.holds, seen.warns, seen.fails) == (holds, True, False)
    assert seen.seen.startswith(f"98 cents of a full table, {most} are taken as reasonable")
