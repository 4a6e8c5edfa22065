"""Archiving of a day whose paid win has another slip number since."""

from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, Pit

CLAIM = "pit.T-1-2-1"
A_DAY = timedelta(days=1)


@pytest.mark.duty("D17")
@pytest.mark.parametrize("earlier", [False, True], ids=["first", "second"])
async def test_a_later_correction_does_not_stop_the_archive(
    redis: Redis, tmp_path: Path, *, earlier: bool
) -> None:
    """The slip number is corrected on a later day than the one that is archived."""
    kept = Kept(Pit(redis), tmp_path / "archive")
    pit = kept.pit
    await kept.open()
    await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"})
    await pit.claims.decide(CLAIM, "validate", "amy")
    await pit.claims.decide(CLAIM, "pay", "ben", slip="A-1")
    slip = "A-1"
    if earlier:
        slip = "A-2"
        await pit.claims.correct_slip(CLAIM, "cal", slip=slip, replaces="A-1", reason="misread")
    await kept.days.keep(A_DAY)
    await pit.claims.correct_slip(CLAIM, "cal", slip="A-3", replaces=slip, reason="misread")
    for _ in range(2):
        await kept.days.keep(A_DAY)
    assert len((await kept.run()).written) == 3
    assert (await kept.audit()).problems == ()
    assert (await pit.claims.find(CLAIM)).slip == "A-3"
