"""What tables had been answered, taken again: by the rules and scripts that took it first.

The draws are those that the tables were told; nothing is drawn anew. A refusal changes nothing, and
stands as it was told. Wagers that were accepted are taken though the restored books hold their
table: it was open then, and what opened it is among what was lost. Every reply is compared with the
one that the table got, word for word: where another comes, as of a percentage of a meter that two
tables won in another order, the books have the new one and the table the old, and people are told
of both.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from meters.books.script_steps import Kind, ReplyWork, ScriptStep, Status
from meters.books.store import FIXED_KEYS, LinkStore
from meters.floor.floor_file import Floor
from meters.intake.batches import Arrival, LinkIntake
from meters.intake.table_catalog import CatalogTable, table_topics
from meters.metrics import Metrics
from meters.restore.errors import RestoreError
from meters.restore.outboxes import Answered
from meters.restore.restored_tables import digest_of
from meters.wire.messages import DrawMade, Wagers

_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Differing:
    """An event that was answered otherwise than before; both replies word for word."""

    table: str
    seq: int
    told: bytes
    now: bytes


@dataclass(slots=True)
class Replayed:
    """How many events were taken again, and those that were answered otherwise."""

    events: int = 0
    differing: list[Differing] = field(default_factory=list)


class OutboxReplay:
    """Takes events of outboxes into a link's store, which has been opened."""

    def __init__(self, floor: Floor, store: LinkStore) -> None:
        self._store = store
        self._known = {
            table: known for (_, table), known in table_topics(floor, store.link).items()
        }
        self._draws: dict[str, DrawMade | None] = {}
        self._intake = LinkIntake(store, Metrics(floor), self._drawn, replays=True)

    async def replay(
        self, events: Iterable[Answered], advance: Callable[[int], None]
    ) -> Replayed:  # fmt: skip
        """Take events in their order; `advance` is told how many have been taken.

        Raises:
            RedisError: the store failed; what was taken so far stands, and may be taken again.
            TermsError: the link's terms changed.
        """
        replayed = Replayed()
        for batch in _batches(events):
            now = await self._replay_batch(batch)
            for answered, reply in zip(batch, now, strict=True):
                if reply != answered.told:
                    replayed.differing.append(
                        Differing(answered.table, answered.seq, answered.told, reply)
                    )
            replayed.events += len(batch)
            advance(replayed.events)
        return replayed

    def _drawn(self, known: CatalogTable, _: Wagers) -> DrawMade | None:
        return self._draws[known.table.id]

    async def _replay_batch(self, batch: Sequence[Answered]) -> list[bytes]:
        """Take a batch: one refused event, or some of as many tables."""
        if batch[0].reply.status == "refused":
            return [await self._refuse(one) for one in batch]
        self._draws = {one.table: one.reply.draw for one in batch}
        outcome = await self._intake.apply_batch(
            [Arrival(self._known[one.table], one.payload) for one in batch]
        )
        replies = {address.table: reply for address, reply in outcome.replies}
        return [replies.get(one.table, b"") for one in batch]

    async def _refuse(self, answered: Answered) -> bytes:
        """Use up a number as it was: with the reply that the table got."""
        table = answered.table
        step = ScriptStep(
            table_key=FIXED_KEYS + 1,
            table=table,
            seq=answered.seq,
            digest=digest_of(answered.payload).decode(),
            kind=Kind.REFUSED,
            round="",
            basis=None,
            event="",
            work=ReplyWork(answered.told.decode()),
        )
        (answer,) = await self._store.apply([step], [self._store.keys.table(table)])
        if answer.status not in {Status.REFUSED, Status.AGAIN}:
            raise RestoreError(f"event {answered.seq} of table {table} is out of its turn")
        return answer.text


def _batches(events: Iterable[Answered]) -> Iterator[Sequence[Answered]]:
    """Events in their order, as many at once as are of different tables."""
    batch: dict[str, Answered] = {}
    for one in events:
        refused = one.reply.status == "refused"
        if batch and (refused or one.table in batch or len(batch) == _AT_ONCE):
            yield list(batch.values())
            batch = {}
        if refused:
            yield [one]
        else:
            batch[one.table] = one
    if batch:
        yield list(batch.values())


def in_order(events: Iterable[Iterator[Answered]]) -> Iterator[Answered]:
    """Merge the events of several tables by their times; each table's stay in their order."""
    yield from (answered for _, _, answered in heapq.merge(*map(_timed, events), key=_place))


def _timed(events: Iterator[Answered]) -> Iterator[tuple[datetime, str, Answered]]:
    """With the latest time so far: a table's clock may have been set back."""
    latest: datetime | None = None
    for answered in events:
        at = answered.event.at
        latest = at if latest is None else max(latest, at)
        yield latest, answered.table, answered


def _place(timed: tuple[datetime, str, Answered]) -> tuple[datetime, str]:
    return timed[:2]
