"""Stopping a service: it waits for running work, and repeats a cancellation that was lost."""

import asyncio

import pytest

import meters.service.serving
from meters.service.meter_service import stays_true
from meters.service.serving import end


async def deaf(times: int) -> None:
    """Lose the first cancellations, as a task inside the client library can."""
    while times:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            times -= 1


async def in_a_group(times: int, begun: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(deaf(times))
        begun.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_cancellation_that_was_lost_in_a_group_is_given_again(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other task is canceled."""
    monkeypatch.setattr(meters.service.serving, "CANCEL_AGAIN_S", 0.01)
    other = asyncio.create_task(asyncio.Event().wait())
    spared, begun = asyncio.all_tasks(), asyncio.Event()
    serving = asyncio.create_task(in_a_group(times, begun))
    await begun.wait()
    async with asyncio.timeout(20):
        await end(serving, spared)
    assert serving.done()
    assert not other.done()
    other.cancel()


async def test_what_holds_only_for_a_moment_is_no_end() -> None:
    looks = iter([True, False, True, True, True])
    assert await stays_true(lambda: next(looks), within_s=20)
    assert next(looks, None) is None


async def test_what_never_holds_is_not_waited_for_for_ever() -> None:
    assert not await stays_true(lambda: False, within_s=0.05)
