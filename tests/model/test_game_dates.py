"""Tables whose game expires, is not effective yet, or has other meters, while money is open."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from redis.asyncio import Redis

from meters.wire.messages import Reply
from tests.floor_text import meter_text
from tests.games.dates import EAST, WEST, dated_floor, today_in_the_west
from tests.model.pit import CENT, FLOOR, PROGRESSIVE, Pit, code, paid_of

BET: Final = [{"position": 1, "wagers": {"own": 100}}]
ROYAL: Final = "As Ks"
COMMUNITY: Final = "Qs Js Ts"


def after(pit: Pit, floor: str) -> Pit:
    """Return the same link on another day, with the sequence numbers of its tables."""
    later = Pit(pit.redis, floor)
    later.seq.update(pit.seq)
    return later


async def royal(pit: Pit, table: str, round_id: str = "R1") -> Reply:
    positions = [{"position": 1, "cards": ROYAL.split()}]
    return await pit.event(
        table, "result", round_id, positions=positions, dealer=[], community=COMMUNITY.split()
    )


async def test_an_open_round_is_finished_and_paid_after_its_game_has_expired(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    day = today_in_the_west()
    pit = await Pit.opened(keeping_redis, dated_floor(tmp_path, WEST, expires=day))
    for table in ("T-1", "T-2"):
        assert (await pit.event(table, "wagers", "R1", positions=BET)).status == "accepted"
    pit = after(pit, dated_floor(tmp_path, EAST, expires=day))
    await pit.adopt()
    settled = await royal(pit, "T-1")
    assert settled.status == "accepted"
    (claim,) = settled.claims or ()
    await pit.decide(claim.claim, "validate")
    await pit.decide(claim.claim, "pay")
    assert (await pit.void(table="T-2")).status == "accepted"
    before = await pit.accounts()
    refused = await pit.event("T-1", "wagers", "R2", positions=BET)
    assert refused.error is not None
    assert code(refused) == "game_not_in_effect"
    assert refused.error.message == (
        f"Dated (dated) cannot be played after {day}, the date `expires` in its file"
    )
    assert await pit.accounts() == before
    theirs = [{"position": 1, "wagers": {"theirs": 100}}]
    assert (await pit.event("T-3", "wagers", "R1", positions=theirs)).status == "accepted"
    assert (await pit.audit()).balanced


@pytest.mark.parametrize(("timezone", "status"), [(EAST, "accepted"), (WEST, "refused")])
async def test_a_game_is_played_from_its_first_day(
    keeping_redis: Redis, tmp_path: Path, timezone: str, status: str
) -> None:
    tomorrow = datetime.now(ZoneInfo(WEST)).date() + timedelta(days=1)
    pit = await Pit.opened(
        keeping_redis, dated_floor(tmp_path, timezone, effective=tomorrow.isoformat())
    )
    assert (await pit.event("T-1", "wagers", "R1", positions=BET)).status == status


async def test_a_restore_accepts_the_wagers_of_an_expired_game(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """They were accepted while the game could be played."""
    pit = await Pit.opened(keeping_redis, dated_floor(tmp_path, WEST, expires="2020-01-01"))
    pit.restart(replays=True)
    assert (await pit.event("T-1", "wagers", "R1", positions=BET)).status == "accepted"


# A floor file that moves a table to other meters while the table has an open round.

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
