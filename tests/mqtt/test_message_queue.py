"""Messages that arrive from the broker: each topic in turn, and all of it limited."""

import asyncio

import pytest

from meters.mqtt.connection import HELD_OFF_S, WAITING_MAX, BrokerError, Message, MessageQueue
from meters.process.logs import ThrottledLog
from tests.waiting import eventually_async


def message(topic: str, payload: bytes = b"{}") -> Message:
    return Message(topic, payload, retain=False)


class Queue:
    """Messages whose lanes are their topics, except for topics of strangers."""

    def __init__(self) -> None:
        self.dropped: list[str] = []
        self.arrived = MessageQueue()
        self.now_s = 0.0
        self.arrived._clock_s = lambda: self.now_s

    def arrive(self, topics: str, times: int = 1) -> None:
        for number in range(times):
            for topic in topics:
                self.put(topic, b"%d" % number)

    def put(self, topic: str, payload: bytes = b"{}") -> None:
        if not self.arrived.put(message(topic, payload), topic if len(topic) == 1 else ""):
            self.dropped.append(topic)

    async def batch(self, size_max: int = 99) -> list[tuple[str, bytes]]:
        return [(one.topic, one.payload) for one in await self.arrived.batch(size_max)]


async def test_a_batch_has_one_of_each_topic_however_many_wait() -> None:
    queue = Queue()
    queue.arrive("a", 5)
    queue.arrive("bc", 2)
    assert await queue.batch() == [("a", b"0"), ("b", b"0"), ("c", b"0")]
    assert await queue.batch(2) == [("a", b"1"), ("b", b"1")]
    assert await queue.batch(2) == [("c", b"1"), ("a", b"2")], "who waited longest comes first"
    assert (await queue.batch(), await queue.batch()) == ([("a", b"3")], [("a", b"4")])
    assert queue.arrived.empty()
    assert queue.dropped == []


async def test_a_flood_is_let_go_and_the_others_wait_as_before() -> None:
    queue = Queue()
    queue.arrive("a", 10_000)
    queue.arrive("b")
    assert len(queue.arrived) == WAITING_MAX + 1
    assert queue.dropped == ["a"] * (10_000 - WAITING_MAX)
    assert await queue.batch() == [("a", b"0"), ("b", b"0")]


async def test_a_topic_that_overflowed_is_held_off_and_taken_again() -> None:
    queue = Queue()
    queue.arrive("a", WAITING_MAX + 1)
    for _ in range(WAITING_MAX):
        await queue.batch()
    queue.arrive("ab")
    assert await queue.batch() == [("b", b"0")], "held off, though there is room again"
    queue.now_s = HELD_OFF_S
    queue.arrive("a")
    assert await queue.batch() == [("a", b"0")]


async def test_strangers_wait_as_one() -> None:
    queue = Queue()
    for number in range(100):
        queue.put(f"stranger/{number}")
    queue.arrive("a")
    assert [topic for topic, _ in await queue.batch()] == ["stranger/0", "a"]
    assert len(queue.arrived) == WAITING_MAX - 1


async def test_what_waits_is_bounded_in_bytes() -> None:
    queue = Queue()
    large = bytes(16_000_000)
    for topic in "abcdefgh":
        queue.put(topic, large)
    assert queue.dropped == list("efgh")
    await queue.batch()
    queue.put("i", large)
    assert len(queue.arrived) == 1


def test_a_warning_is_logged_a_few_times_then_seldom_with_its_number() -> None:
    now_s = 0.0
    seldom = ThrottledLog(lambda: now_s)
    assert [seldom.due("a") for _ in range(7)] == [0, 0, 0, 0, 0, None, None]
    assert seldom.due("b") == 0
    now_s = 61.0
    assert [seldom.due("a") for _ in range(2)] == [2, 0]
    for number in range(5_000):
        seldom.due(number)
    assert len(seldom._logged) <= 1_024


async def test_queues_wake_who_waits_even_where_a_message_was_let_go() -> None:
    queue = Queue()
    waiting = asyncio.create_task(queue.batch())
    queue.arrive("a", WAITING_MAX + 3)
    await eventually_async(waiting.done)
    assert waiting.result() == [("a", b"0")]


async def test_a_lost_connection_ends_the_wait_and_what_waits_is_repeated_by_the_tables() -> None:
    queue = Queue()
    waiting = asyncio.create_task(queue.batch())
    await asyncio.sleep(0)  # it has begun to wait
    queue.arrived.end(BrokerError("lost"))
    queue.arrived.end(BrokerError("lost again"))
    with pytest.raises(BrokerError, match=r"^lost$"):
        await waiting
    queue.arrive("a")
    with pytest.raises(BrokerError, match=r"^lost$"):
        await queue.batch()


async def test_a_turn_reports_how_long_its_first_message_waited() -> None:
    queue = Queue()
    for queue.now_s, topic in ((10.0, "a"), (11.0, "b")):
        queue.arrive(topic)
    queue.now_s = 14.0
    await queue.batch()
    assert queue.arrived.waited_s == 4.0
