"""Tables under load: each sends its rounds one event at a time, and records each reply."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Final

import aiomqtt

from tests.failover.servers import Follower
from tests.ledgers import read_ledger
from tests.mqtt.events import Event, encode, result, wagers
from tests.waiting import LONG_S

LINK: Final = "main"
REPEATED_AFTER_S: Final = 0.5
ANSWERED_WITHIN_S: Final = 2 * LONG_S


class Players:
    """Tables that play rounds without end, as agents do."""

    def __init__(self, port: int, tables: Sequence[str]) -> None:
        self._port = port
        self._tables = tables
        self._heard: dict[str, asyncio.Queue[bytes]] = {name: asyncio.Queue() for name in tables}
        self._leaving = False
        self.answered: dict[str, dict[int, bytes]] = defaultdict(dict)

    @property
    def count(self) -> int:
        return sum(len(replies) for replies in self.answered.values())

    def counts(self) -> dict[str, int]:
        return {table: len(self.answered[table]) for table in self._tables}

    @contextlib.asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Play until the block ends; first every unanswered event is answered.

        Afterwards the ledger no longer changes, and has the answered events and no others.
        """
        self._leaving = False
        async with aiomqtt.Client("127.0.0.1", self._port) as broker:
            for table in self._tables:
                await broker.subscribe(f"pitlink/v1/{LINK}/table/{table}/in", qos=1)
            hearing = asyncio.create_task(self._hear(broker))
            at_play = [asyncio.create_task(self._play(broker, table)) for table in self._tables]
            tasks = [hearing, *at_play]
            try:
                yield
                assert not any(task.done() for task in tasks), [*map(repr, tasks)]
                self._leaving = True
                async with asyncio.timeout(ANSWERED_WITHIN_S):
                    await asyncio.gather(*at_play)
                assert not hearing.done(), repr(hearing)
            finally:
                await _end(tasks)

    async def _hear(self, broker: aiomqtt.Client) -> None:
        async for message in broker.messages:
            assert isinstance(message.payload, bytes)
            self._heard[message.topic.value.split("/")[4]].put_nowait(message.payload)

    async def _play(self, broker: aiomqtt.Client, table: str) -> None:
        seq = len(self.answered[table])
        while not self._leaving:
            seq += 1
            round_id = f"R{(seq + 1) // 2}"
            event = wagers(seq, round_id) if seq % 2 else result(seq, round_id)
            self.answered[table][seq] = await self._ask(broker, table, event)

    async def _ask(self, broker: aiomqtt.Client, table: str, event: Event) -> bytes:
        while True:
            await broker.publish(f"pitlink/v1/{LINK}/table/{table}/out", encode(event), qos=1)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REPEATED_AFTER_S):
                    while True:
                        payload = await self._heard[table].get()
                        reply = json.loads(payload)
                        if reply["seq"] == event["seq"]:
                            assert reply["status"] == "accepted", (table, reply)
                            return payload

    def check_ledger(self, primary: Follower) -> set[tuple[str, int]]:
        """Check that the ledger has every reply once and unchanged.

        Return the table and seq of every event with a ledger entry.
        """
        with primary.client() as store:
            entries = read_ledger(store, LINK)
        kept: dict[tuple[str, int], list[bytes]] = defaultdict(list)
        for _, entry in entries:
            if entry["kind"] in {b"wagers", b"result"}:
                kept[entry["table"].decode(), int(entry["seq"])].append(entry["reply"])
        given = {
            (table, seq): [reply]
            for table, replies in self.answered.items()
            for seq, reply in replies.items()
        }
        lost = [each for each in given if each not in kept]
        assert not lost, f"answered and lost: {lost}"
        assert {each: kept[each] for each in given} == given
        assert all(len(replies) == 1 for replies in kept.values())
        return set(kept)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """End tasks; repeat a cancellation that the client library loses."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1)
