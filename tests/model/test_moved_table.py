"""A floor file that moves a table to other meters while the table has an open round."""

import pytest
from redis.asyncio import Redis

from tests.floor_text import meter_text
from tests.model.pit import CENT, FLOOR, PROGRESSIVE, Pit, paid_of

_OTHER = meter_text("progressive", id="other")
_TABLE = '[[link.table]]\nid = "T-1"'
_FEEDS = '["progressive", "five_card_progressive"'
SEED = 100_000

BEFORE = FLOOR.replace(_TABLE, f"{_OTHER}\n{_TABLE}", 1)
AFTER = {
    "another of the kind": BEFORE.replace(_FEEDS, _FEEDS.replace("progressive", "other", 1), 1),
    "none of the kind": BEFORE.replace(_FEEDS, '["five_card_progressive"', 1),
}


@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
@pytest.mark.parametrize(
    ("hand", "cents", "left"),
    [("As Ks Qs", SEED + 14, SEED), ("9s 8s 7s", 7_000, SEED + 14), ("5c 5d 5h", 6_000, SEED + 14)],
)
async def test_a_round_is_settled_on_the_meters_that_it_fed(
    redis: Redis, after: str, hand: str, cents: int, left: int
) -> None:
    """The round wins from the meters that its wagers raised. The next round feeds the new ones."""
    before = await Pit.opened(redis, BEFORE)
    await before.wagers({1: PROGRESSIVE})
    moved = await Pit.opened(redis, after)
    moved.seq = before.seq
    assert paid_of(await moved.result({1: hand}), PROGRESSIVE) == [(1, cents)]
    assert await moved.meter(PROGRESSIVE) == left * CENT
    assert await moved.meter("other") == SEED * CENT
    assert (await moved.audit()).problems == ()


async def test_the_next_round_feeds_the_meters_that_the_table_has_now(redis: Redis) -> None:
    before = await Pit.opened(redis, BEFORE)
    await before.wagers({1: PROGRESSIVE})
    moved = await Pit.opened(redis, AFTER["another of the kind"])
    moved.seq = before.seq
    await moved.void()
    await moved.round({1: PROGRESSIVE}, {1: "As Ks Qs"}, round_id="R2")
    assert await moved.meter(PROGRESSIVE) == SEED * CENT
    assert (await moved.audit()).totals.won_cents == SEED + 14
    assert (await moved.audit()).balanced
