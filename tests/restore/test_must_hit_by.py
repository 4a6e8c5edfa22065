"""A restore changes nobody's win of a must-hit-by meter."""

from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.wire.messages import Reply
from tests.model.pit import CENT, PROGRESSIVE
from tests.model.test_must_hit_by import ADDED, FLOOR, MINIMUM, chosen, won
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy, Kept


@pytest.fixture
async def pit(redis: Redis, tmp_path: Path) -> KeptPit:
    pit = KeptPit(redis, tmp_path, FLOOR, hidden=chosen(3 * ADDED, 4 * ADDED, 90 * ADDED))
    await pit.open()
    await bet(pit, "T-3", 0)
    return pit


async def bet(pit: KeptPit, table: str, number: int, *positions: int) -> Reply:
    bets = dict.fromkeys(positions or (1,), PROGRESSIVE)
    reply = await pit.wagers(bets, table=table, round_id=f"R{number}")
    await pit.result(dict.fromkeys(bets, ""), table=table, round_id=f"R{number}", folded=[*bets])
    return reply


async def balances(pit: KeptPit) -> tuple[int, int]:
    return await pit.meter("mystery"), await pit.meter(PROGRESSIVE)


async def waiting(pit: KeptPit) -> list[tuple[str, int]]:
    return sorted((row.claim, row.amount) for row in await pit.claims.waiting())


@pytest.mark.duty("D11")
@pytest.mark.parametrize("kept", ["nothing", "an older file"])
@pytest.mark.parametrize("copied", [False, True], ids=["outboxes", "archive"])
async def test_the_winners_are_as_they_were(pit: KeptPit, kept: str, *, copied: bool) -> None:
    for number in range(1, 4):
        await bet(pit, f"T-{number % 2 + 1}", number)
    copy = await Copy.of(pit.store) if copied else None
    older = await Kept.of(pit.redis) if kept != "nothing" else None
    for number in range(4, 10):
        await bet(pit, f"T-{number % 2 + 1}", number)
    was = (await waiting(pit), await balances(pit))
    assert {amount for _, amount in was[0]} == {MINIMUM + 150, MINIMUM + 200}
    restored = await pit.lost_and_restored(copy, older=older)
    assert restored.replayed.differing == []
    await pit.goes_on()
    assert (await waiting(pit), await balances(pit)) == was
    # The present value is as it was, too: 90 wagers above the start.
    assert won(await bet(pit, "T-1", 10, 1, 2, 3, 4, 5, 6, 7)) == []
    assert (await pit.audit()).balanced


@pytest.mark.duty("D11")
async def test_a_win_waits_for_wagers_whose_clock_was_ahead(pit: KeptPit) -> None:
    await bet(pit, "T-2", 1)
    pit.clock += timedelta(seconds=60)
    await bet(pit, "T-2", 2)
    pit.clock -= timedelta(seconds=50)
    assert won(await bet(pit, "T-1", 3)) == [(1, "mystery_jackpot", MINIMUM + 150)]
    await bet(pit, "T-1", 4)
    was = (await waiting(pit), await balances(pit))
    restored = await pit.lost_and_restored()
    assert restored.replayed.differing == []
    assert (await waiting(pit), await balances(pit)) == was


@pytest.mark.duty("D11")
async def test_no_later_wager_takes_a_win_from_a_clock_that_was_ahead(pit: KeptPit) -> None:
    await bet(pit, "T-2", 1)
    await bet(pit, "T-2", 2)
    pit.clock += timedelta(seconds=60)
    assert won(await bet(pit, "T-2", 3)) == [(1, "mystery_jackpot", MINIMUM + 150)]
    pit.clock -= timedelta(seconds=50)
    assert won(await bet(pit, "T-1", 4)) == []
    was = (await waiting(pit), await balances(pit))
    restored = await pit.lost_and_restored()
    assert restored.replayed.differing == []
    assert (await waiting(pit), await balances(pit)) == was


@pytest.mark.duty("D11")
async def test_no_wager_that_was_lost_and_found_reaches_a_new_value(pit: KeptPit) -> None:
    """Nobody had won. The new value, of which nobody knows anything, is above all that is known."""
    for number in (1, 2):
        await bet(pit, f"T-{number}", number)
    for _ in range(20):
        restored = await pit.lost_and_restored()
        assert restored.replayed.differing == []
        assert await pit.meter("mystery") == MINIMUM * CENT + 2 * ADDED
        assert await waiting(pit) == []


@pytest.mark.duty("D11")
async def test_a_win_without_the_wagers_before_it_is_reported(pit: KeptPit) -> None:
    for number in (1, 2):
        await bet(pit, "T-2", number)
    for number in range(3, 7):
        assert len(won(await bet(pit, "T-1", number))) == (number == 3)
    pit.outbox_path("T-2").unlink()
    # The value after the win is new at each restore: the last wager never reaches it.
    for _ in range(20):
        restored = await pit.lost_and_restored(None, "T-2")
        assert {one.table for one in restored.replayed.differing} == {"T-1"}
        assert restored.replayed.differing[0].seq == 1
        assert restored.finding.balanced
        assert [amount for _, amount in await waiting(pit)] == [MINIMUM + 150]
        assert await pit.meter("mystery") == MINIMUM * CENT + ADDED
