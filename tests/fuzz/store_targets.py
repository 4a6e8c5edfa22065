"""Targets in storage: outboxes on the disk, and events through the whole service to Redis."""

import re
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from redis.asyncio import Redis

from controllers.agent.delivery import Delivered
from controllers.agent.outbox import Outbox, OutboxError
from controllers.agent.table_writer import TableWriter
from controllers.table.state import Layout, TableState
from meters.intake.batches import Arrival
from meters.intake.event_reading import read_event
from meters.ledger.link_state import Snapshot
from meters.wire.messages import HELLO_REPLY, REPLY, Hello
from tests.controllers.floors import link_and_table
from tests.floor_text import METERS, table_text
from tests.fuzz.junk import BYTES, mutated
from tests.fuzz.service_targets import EVENTS, check_dealt, check_wagers
from tests.fuzz.table_targets import REPLIES, ROUND, check_state
from tests.fuzz.target import Check, Target, check_refusal, plain
from tests.model.pit import FLOOR, Pit
from tests.mqtt.events import AT
from tests.servers import RedisServer

_KEPT: Final = msgspec.json.encode(TableState())
_LAYOUT: Final = Layout.of(*link_and_table())


async def _undelivered(seq: int, payload: bytes) -> Delivered:
    raise AssertionError(f"event {seq} is not to be sent: {payload!r}")


def make_outbox(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return damage to an outbox: a column or the file, a zero byte, the place, new bytes."""
    with_what = mutated(random, (*seeds, *REPLIES, *ROUND))
    columns = ("payload", "reply", "state", "line", "answer", "known_seq", "file", "size")
    return random.choice(columns).encode() + b"\0" + random.randbytes(2) + with_what


def _spoil(path: Path, data: bytes) -> None:
    column, _, rest = data.partition(b"\0")
    place, value = int.from_bytes(rest[:2], "big"), rest[2:]
    if column in {b"file", b"size"}:
        whole = bytearray(path.read_bytes())
        at = len(whole) * place // 65_536
        if column == b"size":
            del whole[at:]
        else:
            whole[at : at + len(value)] = value[: len(whole) - at]
        path.write_bytes(whole)
        return
    table = "event" if column in {b"payload", b"reply"} else "place"
    if column == b"known_seq":
        value = str(place * 2**47)  # type: ignore[assignment]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column.decode()} = ?", (value,))  # noqa: S608  (ours)


@asynccontextmanager
async def outboxes() -> AsyncIterator[Check]:
    with tempfile.TemporaryDirectory(prefix="plt-") as home:
        good, path = Path(home) / "good.sqlite", Path(home) / "T-1.sqlite"
        outbox = Outbox.open(good, "one", "T-1")
        outbox.write_event(1, EVENTS[0], _KEPT, ROUND[5])
        outbox.close()
        body = good.read_bytes()

        async def take(data: bytes) -> None:
            for rest in home_files(path):
                rest.unlink(missing_ok=True)
            path.write_bytes(body)
            _spoil(path, data)
            try:
                writer = await TableWriter.open(_LAYOUT, path, _undelivered)
                try:
                    assert writer.last_seq >= 0
                    assert writer.awaiting in {None, "lockout", "settle", "void"}
                    check_state(writer.state)
                finally:
                    await writer.close()
            except OutboxError:
                return

        yield take


def home_files(path: Path) -> Iterator[Path]:
    for ending in ("", "-wal", "-shm", "-journal"):
        yield path.with_name(path.name + ending)


TABLES: Final = tuple(f"F-{number}" for number in range(20))
_SEQ: Final = re.compile(rb'"seq":\s?[1-7]\b')
_ROUND: Final = re.compile(rb'"R1"')
_OTHER_TIME: Final = b"2026-11-20T02:14:08.250Z"


Batch = list[tuple[str, bytes]]


class Intake:
    """A link's intake on a real Redis, and the check of what every event may change there."""

    def __init__(self, redis: Redis) -> None:
        tables = (table_text(table, *METERS, asset=table) for table in TABLES)
        self.pit = Pit(redis, "".join((FLOOR, *tables)))
        self.waiting: Batch = []
        self.before: Snapshot | None = None

    async def take(self, data: bytes) -> None:
        """Send an event at the next table; at the last table, send all of them as one batch."""
        self.waiting.append((TABLES[len(self.waiting)], data))
        if len(self.waiting) == len(TABLES):
            await self.send()

    async def send(self) -> None:
        batch, self.waiting = self.waiting, []
        if self.before is None:
            await self.pit.open()
            self.before = await self.pit.store.snapshot()
        batch = _with_copies(await self._numbered(batch))
        outcome = await self.pit.take(batch)
        assert len(outcome.replies) == len(batch), "an event without an answer"
        replies = _by_event(batch, outcome.replies)
        accepted = [
            (table, data)
            for (table, data), reply in zip(batch, replies, strict=True)
            if _is_accepted(reply, data)
        ]
        _hold_copies(batch, replies)
        after = await self.pit.store.snapshot()
        if not accepted:
            assert _books(after) == _books(self.before), "a refused event changed the books"
        assert after.last_entry == self.before.last_entry + len(set(accepted)), "counted twice"
        assert sum(after.accounts.values()) == 0
        finding = await self.pit.audit()
        assert finding.balanced, finding.problems
        self.before = after

    async def _numbered(self, batch: Batch) -> Batch:
        """Return the event with its table's next seq and round, if it has such fields."""
        states = await self.pit.store.table_states([table for table, _ in batch])
        return [
            (
                table,
                _ROUND.sub(
                    b'"%s"' % (state.open_round or f"R{state.last_seq + 1}").encode(),
                    _SEQ.sub(b'"seq":%d' % (state.last_seq + 1), data),
                ),
            )
            for (table, data), state in zip(batch, states, strict=True)
        ]


def _with_copies(batch: Batch) -> Batch:
    """Return each event up to three times, some with other bytes, out of order.

    The randomness follows from the events, so a finding can be repeated.
    """
    random = Random(b"\0".join(data for _, data in batch))
    whole = []
    for table, data in batch:
        copies = [data] * random.choice((1, 2, 2, 3))
        if random.random() < 0.3:
            copies.append(data.replace(AT.encode(), _OTHER_TIME))
        whole += [(table, copy) for copy in copies]
    random.shuffle(whole)
    return whole


def _by_event(batch: Batch, replies: Iterable[tuple[Arrival, bytes]]) -> list[bytes]:
    """Return the reply to each event; copies of an event are answered in their order."""
    found: dict[tuple[str, bytes], list[bytes]] = {}
    for one, reply in replies:
        found.setdefault((one.known.table.id, one.payload), []).append(reply)
    return [found[event].pop(0) for event in batch]


def _hold_copies(batch: Batch, replies: Sequence[bytes]) -> None:
    """Check that copies get the same answer, and that the first event of a seq counts."""
    first: dict[tuple[str, int], tuple[bytes, bytes]] = {}
    for (table, data), reply in zip(batch, replies, strict=True):
        event, seq = read_event(data)
        if isinstance(event, Hello) or seq is None or plain(reply)["status"] == "out_of_order":
            continue
        was, first_reply = first.setdefault((table, seq), (data, reply))
        if was == data:
            assert reply == first_reply, (
                f"a copy of {data[:200]!r} got {reply!r}, not {first_reply!r}"
            )
        else:
            assert plain(reply)["error"]["code"] == "seq_reused", reply


def _books(snapshot: Snapshot) -> Snapshot:
    """Return the books without the count of changes that the floor page shows.

    A request for a floorperson is such a change.
    """
    meters = {name: value for name, value in snapshot.meters.items() if name != "changes"}
    return replace(snapshot, meters=meters)


def _is_accepted(reply: bytes, event: bytes) -> bool:
    """Return whether a reply accepts; an accepted event must be valid without our types too."""
    said = plain(reply)
    if said.get("type") == "hello":
        HELLO_REPLY.decode(reply)
        return False
    if REPLY.decode(reply).status == "refused":
        check_refusal(reply, said["seq"])
    if said["status"] != "accepted":
        return False
    fields = plain(event)
    assert fields["seq"] == said["seq"]
    if fields["type"] == "wagers":
        assert check_wagers(fields) > 0
    elif fields["type"] == "result":
        check_dealt(fields)
    else:
        assert fields["type"] == "void"
    return True


@asynccontextmanager
async def intakes() -> AsyncIterator[Check]:
    with RedisServer() as server:
        redis = Redis(unix_socket_path=str(server.socket_path))
        intake = Intake(redis)
        try:
            yield intake.take
            if intake.waiting:
                await intake.send()
        finally:
            await redis.aclose()


TARGETS: Final = (
    Target("outbox", BYTES, outboxes, make_outbox, share=0.1),
    Target("intake", EVENTS, intakes, share=8),
)
