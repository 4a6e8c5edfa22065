"""A meter's limit and its largest contribution, end to end: refused, kept, changed, audited."""

import pytest
from redis.asyncio import Redis

from meters.acts.meter_changes import Adjustment, ParameterChange
from meters.ledger.money_terms import Parameter
from tests.model.pit import FLOOR, PROGRESSIVE, RAGS, Pit, code, refused, to

pytestmark = pytest.mark.duty("D3")

LINK = "pit"
HEAD = 'kind = "progressive"\nwager = 100\npaytable = "A"\n'
SEED = 100_000


async def _pit(redis: Redis, *bounds: str) -> Pit:
    """Each wager adds 14 cents to the progressive of this link, which has bounds of its own."""
    assert HEAD in FLOOR
    return await Pit.opened(redis, FLOOR.replace(HEAD, HEAD + "\n".join(bounds) + "\n", 1))


async def _propose(pit: Pit, change: ParameterChange | Adjustment) -> str:
    return (await pit.link_acts.propose(LINK, "sue", change)).proposal


async def _set(pit: Pit, parameter: Parameter, value: int) -> None:
    await pit.change(to(PROGRESSIVE, parameter, value))
    await pit.adopt()


@pytest.mark.duty("D3", proof=True)
async def test_contribution_above_the_bound_is_refused_whole(redis: Redis) -> None:
    pit = await _pit(redis, "contribution_max = 41")
    before = await pit.accounts()
    reply = await pit.wagers(dict.fromkeys((1, 2, 3), PROGRESSIVE))
    assert reply.error is not None
    assert (reply.status, reply.error.code) == ("refused", "unreasonable_contribution")
    assert "3 wagers in one event" in reply.error.message
    assert "41 cents" in reply.error.message
    assert await pit.accounts() == before
    assert (await pit.audit()).entries == len(before) - 1, "the seeds, and nothing else"
    played = await pit.round(
        dict.fromkeys((1, 2), PROGRESSIVE), {1: RAGS, 2: "4h 7s Jd"}, round_id="R2"
    )
    assert played.status == "accepted", "28 cents at once are reasonable"
    assert (await pit.audit()).balanced
    await redis.flushall()
    pit = await _pit(redis, "contribution_max = 42")
    assert code(await pit.wagers(dict.fromkeys((1, 2, 3), PROGRESSIVE))) == "accepted"


@pytest.mark.duty("D3", proof=True)
async def test_bounds_are_changed_by_two_people_and_audited_across(redis: Redis) -> None:
    pit = await _pit(redis)
    await pit.link_acts.close(LINK, "sue", "bounds")
    await _set(pit, "limit", SEED + 10)
    await _set(pit, "contribution_max", 14)
    await pit.link_acts.open(LINK, "tim")
    shown = await pit.shown_meter(PROGRESSIVE)
    assert (shown.limit, shown.contribution_max) == (SEED + 10, 14)
    assert (await pit.wagers(dict.fromkeys((1, 2), PROGRESSIVE))).status == "refused"
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id="R2")
    assert (await pit.shown_meter(PROGRESSIVE)).overflow == 4
    await pit.link_acts.close(LINK, "sue", "bounds")
    await _set(pit, "limit", 0)
    await pit.link_acts.open(LINK, "tim")
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id="R3")
    meter = await pit.shown_meter(PROGRESSIVE)
    assert (meter.limit, meter.amount, meter.overflow) == (None, SEED + 28, 0)
    assert (await pit.audit()).balanced


@pytest.mark.duty("D3", proof=True)
async def test_whatever_makes_room_refills_the_meter_and_is_audited(redis: Redis) -> None:
    """A correction and a higher limit; the meter and its overflow are one amount."""
    pit = await _pit(redis, f"limit = {SEED + 20}")
    for number in range(4):
        await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id=f"R{number}")

    async def held() -> tuple[int, int]:
        meter = await pit.shown_meter(PROGRESSIVE)
        return meter.amount - SEED, meter.overflow

    assert await held() == (20, 36)
    await pit.change(Adjustment(meter=PROGRESSIVE, amount=-15, reason="lost wager"))
    assert await held() == (20, 21)
    await pit.link_acts.close(LINK, "sue", "bounds")
    await _set(pit, "limit", SEED + 30)
    assert await held() == (30, 11)
    await _set(pit, "limit", 0)
    assert await held() == (41, 0)
    assert (await pit.audit()).balanced


async def test_limit_below_what_the_meter_holds_is_not_confirmed(redis: Redis) -> None:
    pit = await _pit(redis)
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    await pit.link_acts.close(LINK, "sue", "bounds")
    proposal = await _propose(pit, to(PROGRESSIVE, "limit", SEED + 13))
    with refused("limit_too_low", "holds more than the new limit"):
        await pit.link_acts.confirm(LINK, proposal, "tim")

    await _set(pit, "limit", SEED + 14)
    assert (await pit.shown_meter(PROGRESSIVE)).limit == SEED + 14, "just what it holds is a limit"


@pytest.mark.duty("D15", proof=True)
async def test_correction_does_not_lift_a_meter_above_its_limit(redis: Redis) -> None:
    pit = await _pit(redis, f"limit = {SEED + 20}")
    with refused("above_limit", "the meter's limit is "):
        await _propose(pit, Adjustment(meter=PROGRESSIVE, amount=21, reason="lost wager"))
    proposal = await _propose(pit, Adjustment(meter=PROGRESSIVE, amount=20, reason="lost wager"))
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    with refused("above_limit", "would hold more than its limit"):
        await pit.link_acts.confirm(LINK, proposal, "tim")
    # The meter has risen since.
    assert (await pit.audit()).balanced
