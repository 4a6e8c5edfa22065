"""A wager counts once, with repeats, events out of turn, and workers with old knowledge."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.model.pit import RAGS, Pit, event_bytes

BETS = {"positions": [{"position": 1, "wagers": {"progressive": 100}}]}
HANDS = {
    "positions": [{"position": 1, "cards": RAGS.split()}],
    "dealer": ["2c", "7d", "9h"],
}
TWO_CARDS = HANDS | {"positions": [{"position": 1, "cards": ["As", "Ks"]}]}


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


@pytest.mark.parametrize(
    ("before", "payload", "said"),
    [
        pytest.param([], _wagers(1), '"accepted"', id="wagers"),
        pytest.param(
            [_wagers(1)], event_bytes(2, "result", "R1", **TWO_CARDS), "wrong_cards", id="cards"
        ),
        pytest.param([], event_bytes(1, "wagers", "R1", odd=1, **BETS), "unknown_field", id="odd"),
    ],
)
async def test_repeat_gets_the_first_reply_byte_for_byte_and_moves_nothing(
    pair: Pit, before: list[bytes], payload: bytes, said: str
) -> None:
    for earlier in before:
        await _answer(pair, earlier, 0)
    first = await _answer(pair, payload, 0)
    assert said in first.decode()
    accounts, entries = await pair.accounts(), await pair.entries()
    for worker in (0, 1, 0, 1):
        assert await _answer(pair, payload, worker) == first
        pair.restart(worker)
    assert (await pair.accounts(), await pair.entries()) == (accounts, entries)


async def test_result_about_another_round_than_the_open_one_is_of_no_round(pair: Pit) -> None:
    """The result is not judged by the wagers of the open round."""
    await _answer(pair, _wagers(1), 0)
    stray = event_bytes(2, "result", "R9", **TWO_CARDS)
    assert b"unknown_round" in await _answer(pair, stray, 0)


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


@pytest.mark.parametrize("make", [_wagers, _void, _result])
async def test_event_at_many_workers_together_is_counted_once(
    redis: Redis, make: Callable[[int], bytes]
) -> None:
    pit = await Pit.opened(redis, workers=6)
    seq = 1 if make is _wagers else 2
    if seq == 2:
        await pit.send("T-1", _wagers(1))
    entries = len(await pit.entries())
    takes: list[Awaitable[bytes | None]] = [
        pit.send("T-1", make(seq), worker=worker) for worker in range(6)
    ]
    replies = {reply for reply in await asyncio.gather(*takes) if reply is not None}
    assert len(replies) == 1
    assert b'"accepted"' in replies.pop()
    assert len(await pit.entries()) == entries + 1


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
