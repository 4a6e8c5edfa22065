"""A restore counts each wager at the rates that it had, also at a meter whose rates change."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.model.pit import code
from tests.model.test_asks import correct
from tests.model.test_changing_rates import BET, DICE, FLOOR, THRESHOLD, bet, roll
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy, Kept


async def corrected(pit: KeptPit, action: str, position: int, *after: int) -> None:
    """Correct a wager; a restore asks nobody to confirm it again."""
    reply = await correct(pit, action, position, dict.fromkeys(after, BET), wager=BET)
    assert code(reply) == "accepted"


@pytest.mark.duty("D11")
@pytest.mark.parametrize("kept", ["nothing", "an older file"])
@pytest.mark.parametrize("copied", [False, True], ids=["outboxes", "archive"])
async def test_each_wager_has_the_rates_that_it_had(
    redis: Redis, tmp_path: Path, kept: str, *, copied: bool
) -> None:
    pit = KeptPit(redis, tmp_path, FLOOR)
    await pit.open()
    await bet(pit, 1, 2, 3, table="T-2")
    copy = await Copy.of(pit.store) if copied else None
    older = await Kept.of(pit.redis) if kept != "nothing" else None
    await bet(pit, 1, 2, 3)
    await corrected(pit, "add", 5, 1, 2, 3, 5)
    await roll(pit, "other", 1, 2, 3, table="T-2")
    await bet(pit, 1, 2, table="T-2", round_id="R2")
    await corrected(pit, "take_back", 1, 2, 3, 5)
    assert await pit.meter(DICE) > THRESHOLD
    was = await pit.accounts()
    restored = await pit.lost_and_restored(copy, older=older)
    assert restored.replayed.differing == []
    assert await pit.accounts() == was
    await pit.goes_on()
    await pit.void()
    await pit.void(table="T-2", round_id="R2")
    assert (await pit.audit()).problems == ()
