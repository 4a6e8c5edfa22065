"""A reopened win is rejected again, and the Envy Bonuses of a reopened win."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.floor.gaming_day import GamingDays
from meters.floor_api.errors import ActError
from meters.floor_api.types import ClaimRow
from meters.restore.rebuild import Rebuild
from tests.model.kept import Kept
from tests.model.pit import FIVE_CARD, PROGRESSIVE, RAGS, STRICT, Pit
from tests.restore.stores import hold_alike, keys_of, read_store, rebuilt

pytestmark = pytest.mark.duty("D15")

CLAIM = "pit.T-1-2-1"
ROYAL = "As Ks Qs"


@pytest.fixture
async def strict(redis: Redis) -> AsyncIterator[Pit]:
    """Yield a link that the audit must find balanced, and that its ledger must rebuild."""
    pit = Pit(redis, STRICT)
    await pit.open()
    yield pit
    assert (await pit.audit()).problems == ()
    rebuild = Rebuild(pit.link, GamingDays.of_facility(pit.floor.facility))
    await rebuilt(rebuild, pit.store)
    keys = pit.store.keys
    hold_alike(keys_of(rebuild.snapshot()), await read_store(redis, keys), keys)


async def _reject(pit: Pit, *, envy_not_due: bool = False) -> ClaimRow:
    row = await pit.claims.reject(CLAIM, "amy", reason="fouled", envy_not_due=envy_not_due)
    assert row.request is not None
    return await pit.claims.confirm(CLAIM, "ben", row.request.entry)


async def _reopen(pit: Pit) -> ClaimRow:
    row = await pit.claims.request_reopening(CLAIM, "amy", reason="the camera shows the hand")
    assert row.request is not None
    return await pit.claims.confirm(CLAIM, "ben", row.request.entry)


async def _win_with_envy(pit: Pit) -> None:
    await pit.round({1: PROGRESSIVE, 2: PROGRESSIVE}, {1: ROYAL, 2: RAGS})


async def _win_all_again(pit: Pit) -> None:
    """Win all of the meter at the other table, with the amount of the rejected win in it."""
    await pit.round({1: PROGRESSIVE}, {1: ROYAL}, table="T-2", round_id="R2")


async def test_the_house_gets_back_what_it_paid_for_a_reopened_win(strict: Pit) -> None:
    """The first rejection gave the amount to the meter, and another table won it."""
    await strict.round({1: PROGRESSIVE}, {1: ROYAL})
    await _reject(strict)
    await _win_all_again(strict)
    rejected = await strict.accounts()
    for _ in range(2):
        await _reopen(strict)
        assert (await strict.accounts())["house"] < rejected["house"]
        await _reject(strict)
        assert await strict.accounts() == rejected


async def test_the_house_gets_back_its_part_and_the_meter_the_rest(strict: Pit) -> None:
    await strict.round({1: FIVE_CARD}, {1: ROYAL}, community="Js Ts", dealer="2c 7d 9h")
    await _reject(strict)
    await strict.round(
        {1: FIVE_CARD}, {1: "9s 8s 7s"}, table="T-2", round_id="R2",
        community="Js Ts", dealer="2c 7d 9h",
    )  # fmt: skip
    rejected = await strict.accounts()
    await _reopen(strict)
    reopened = await strict.accounts()
    assert reopened["house"] < rejected["house"]
    assert reopened[f"meter:{FIVE_CARD}"] < rejected[f"meter:{FIVE_CARD}"]
    await _reject(strict)
    assert await strict.accounts() == rejected


async def test_the_house_gets_its_part_back_after_the_day_was_archived(
    redis: Redis, tmp_path: Path
) -> None:
    kept = Kept(Pit(redis, STRICT), tmp_path / "archive")
    pit = kept.pit
    await pit.open()
    await kept.open()
    await pit.round({1: PROGRESSIVE}, {1: ROYAL})
    await _reject(pit)
    await _win_all_again(pit)
    rejected = await pit.accounts()
    await _reopen(pit)
    for _ in range(3):
        await kept.days.keep(timedelta(days=1))
    await kept.run()
    assert (await pit.store.checkpoint()).house_paid.keys() == {CLAIM}
    await _reject(pit)
    assert await pit.accounts() == rejected
    assert (await pit.audit()).problems == ()
    assert (await kept.audit()).problems == ()


async def test_a_reopened_win_that_is_paid_owes_the_house_nothing(strict: Pit) -> None:
    await strict.round({1: PROGRESSIVE}, {1: ROYAL})
    await _reject(strict)
    await _win_all_again(strict)
    await _reopen(strict)
    held = await strict.accounts()
    await strict.decide(CLAIM, "validate", by="amy")
    row = await strict.claims.decide(CLAIM, "pay", "cal", slip="A-1")
    after = await strict.accounts()
    assert after["house"] == held["house"]
    assert after["paid"] == held.get("paid", 0) + row.amount * 10_000


async def test_owed_envy_bonuses_wait_for_the_reopened_win_again(strict: Pit) -> None:
    await _win_with_envy(strict)
    assert (await _reject(strict)).envy_state == "validated"
    assert (await _reopen(strict)).envy_state == "pending"
    with pytest.raises(ActError, match="wait for that"):
        await strict.pay_envy(CLAIM)
    assert [one.claim for one in await strict.claims.waiting()] == [CLAIM]
    row = await _reject(strict, envy_not_due=True)
    assert (row.state, row.envy_state) == ("rejected", "rejected")
    assert await strict.claims.waiting() == []


async def test_envy_bonuses_that_were_found_not_due_are_owed_again(strict: Pit) -> None:
    await _win_with_envy(strict)
    before = await strict.accounts()
    await _reject(strict)
    await strict.claims.decide_envy(CLAIM, "reject_envy", "cal", reason="the win was rejected")
    row = await _reopen(strict)
    assert (row.envy_state, row.envy_reason) == ("pending", None)
    assert await strict.accounts() == before
    await strict.decide(CLAIM, "validate", by="amy")
    row = await strict.decide(CLAIM, "pay", by="cal")
    assert (row.state, row.envy_state) == ("paid", "paid")


async def test_envy_bonuses_that_were_paid_stay_paid(strict: Pit) -> None:
    await _win_with_envy(strict)
    await _reject(strict)
    await strict.pay_envy(CLAIM)
    assert (await _reopen(strict)).envy_state == "paid"
    with pytest.raises(ActError) as refused:
        await _reject(strict, envy_not_due=True)
    assert refused.value.code == "envy_decided"
    assert (await _reject(strict)).envy_state == "paid"
