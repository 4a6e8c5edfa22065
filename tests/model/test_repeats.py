"""A wager counts once, with repeats, events out of turn, and workers with old knowledge."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.model.pit import RAGS, Pit, event_bytes

BETS = {"positions": [{"position": 1, "wagers": {"progressive": 100}}]}
HANDS = {
    "positions": [{"position": 1, "cards": RAGS.split()}],
    "dealer": ["2c", "7d", "9h"],
}


def _wagers(seq: int, round_id: str = "R1") -> bytes:
    return event_bytes(seq, "wagers", round_id, **BETS)


def _void(seq: int, round_id: str = "R1") -> bytes:
    return event_bytes(seq, "void", round_id, reason="misdeal")


def _result(seq: int, round_id: str = "R1") -> bytes:
    return event_bytes(seq, "result", round_id, **HANDS)


@pytest.fixture
async def pair(redis: Redis) -> Pit:
    return await Pit.opened(redis, workers=2)


async def _answer(pit: Pit, payload: bytes, worker: int) -> bytes:
    for _ in range(2):
        reply = await pit.send("T-1", payload, worker=worker)
        if reply is not None:
            return reply
    raise AssertionError("not answered twice")


async def test_worker_that_remembers_an_old_round_settles_on_the_one_in_the_books(
    pair: Pit,
) -> None:
    """R1 comes again with other wagers while worker 0 still remembers the first one."""
    await _answer(pair, _wagers(1), 0)
    for seq, payload in enumerate((_void(2), _wagers(3, "R2"), _void(4, "R2")), start=2):
        assert b'"accepted"' in await _answer(pair, payload, 1), seq
    more = [{"position": 1, "wagers": {"five_of_six_progressive": 100}}]
    await _answer(pair, event_bytes(5, "wagers", "R1", positions=more), 1)
    assert await pair.send("T-1", _result(6), worker=0) is None, "the table repeats it"
    reply = await pair.send("T-1", _result(6), worker=0)
    assert reply is not None
    assert b"five_of_six_progressive" in reply
    assert b'"item":"progressive"' not in reply


async def test_answers_that_come_in_another_order_do_not_turn_the_head_back(pit: Pit) -> None:
    """The mark outside the store depends on it, and is written before any answer is sent."""
    store, applied, overtaken = pit.intakes[0]._store, asyncio.Event(), asyncio.Event()
    apply, late = store._apply, True

    async def apply_late(**given: Any) -> Any:  # noqa: ANN401
        nonlocal late
        first, late = late, False
        rows = await apply(**given)
        if first:
            applied.set()
            await overtaken.wait()
        return rows

    store._apply = apply_late  # type: ignore[assignment]
    slow = asyncio.create_task(pit.send("T-1", _wagers(1)))
    await applied.wait()
    await pit.send("T-2", _wagers(1))
    head = store.head
    overtaken.set()
    await slow
    assert store.head == head == (await pit.store.state()).head
