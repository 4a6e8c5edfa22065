"""Replay of outboxes: answered events that Redis lost are applied by the usual Lua scripts.

Bonuses are not drawn again: the replay uses the draws that the tables received. A refused event
changes nothing, and keeps its reply.

Accepted wagers are applied even if their table is held after the restore. When the wagers were
accepted, the table was not held: the payment or rejection that released the table is lost.

Each new reply is compared with the reply that the table has, byte for byte. The two can differ, for
example if two tables won percentages of one meter, and the replay applies their results in reverse
order. Redis then has the new reply, and the table has the old one. The restore shows both to
people.

Who won a must-hit-by meter does not change: the replies have the hidden values, and an event waits
until it wins what its reply says. So it is with a community share for the whole link: a result
waits until the players in its reply have their wagers, and their rounds wait for the result. If no
event can go on, for example because an outbox is missing, the earliest one is applied without its
reply.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from bonus.wagers import community_item
from meters.floor.floor_file import Floor
from meters.intake.batches import Arrival, LinkIntake
from meters.intake.table_catalog import CatalogTable, table_topics
from meters.ledger.claim_records import LinkRound
from meters.ledger.link_rows import event_digest
from meters.ledger.script_steps import AskStep, Kind, ReplyWork, ScriptStep, Status
from meters.ledger.table_corrections import Correction, ask_step, known_cards
from meters.process.clock import now_text
from meters.restore.outboxes import Answered, RestoreError
from meters.store.link_store import LinkStore
from meters.wire.messages import (
    DrawMade,
    Reply,
    Result,
    Void,
    WagerCorrection,
    Wagers,
    parts_elsewhere,
)

_AT_ONCE: Final = 200
_TRIES: Final = 2
_LINK_SHARE: Final = b'"link_share"'
_Given = dict[str, set[int]]
"""For each wager, the positions of a round that get a part of a community share."""


@dataclass(frozen=True, slots=True)
class Differing:
    """An event to which the replay gives another reply (`now`) than the table has (`sent`)."""

    table: str
    seq: int
    sent: bytes
    now: bytes


@dataclass(slots=True)
class Replayed:
    """How many events were applied, and the events whose reply differs now."""

    events: int = 0
    differing: list[Differing] = field(default_factory=list)


class OutboxReplay:
    """The replay of outbox events on a link's data. The caller must call `LinkStore.open` first."""

    def __init__(self, floor: Floor, store: LinkStore) -> None:
        self._store = store
        self._known = {
            table: known for (_, table), known in table_topics(floor, store.link).items()
        }
        self._draws: dict[str, DrawMade | None] = {}
        self._replies: dict[str, Reply] = {}
        self._before: dict[tuple[str, str], dict[tuple[str, int], _Given]] = {}
        self._follows = True
        self._intake = LinkIntake(store, self._drawn, replays=True, given=self._given)

    def needs(self, events: Iterable[Answered]) -> None:
        """Note which rounds must be open at the results that will be applied."""
        for one in events:
            if _LINK_SHARE in one.reply_payload:
                wagers = {
                    community_item(kind): wager
                    for kind, terms in self._known[one.table].terms.items()
                    for wager in terms.wagers
                }
                for share in parts_elsewhere(one.reply):
                    before = self._before.setdefault((share.table, share.round), {})
                    given = before.setdefault((one.table, one.seq), {})
                    given.setdefault(wagers.get(share.item, ""), set()).add(share.position)

    async def replay(self, events: Iterable[Answered], advance: Callable[[int], None]) -> Replayed:
        """Apply events one after the other. `advance` gets the number of applied events.

        Raises:
            RedisError: Redis failed. Applied events stay applied, and the replay can be repeated.
            TermsError: the terms (such as rates) of a meter changed.
        """
        replayed, held = Replayed(), dict[str, deque[Answered]]()
        for batch in _batches(events):
            ready = [one for one in batch if one.table not in held]
            for one in batch:
                if one.table in held:
                    held[one.table].append(one)
            await self._apply(ready, held, replayed)
            while held and await self._apply([one[0] for one in held.values()], held, replayed):
                pass
            advance(replayed.events)
        while held:
            if not await self._apply([one[0] for one in held.values()], held, replayed):
                await self._force(held, replayed)
        advance(replayed.events)
        return replayed

    async def _force(self, held: dict[str, deque[Answered]], replayed: Replayed) -> None:
        """Apply the earliest event that waits, whatever its reply says: an outbox can be missing.

        Raises:
            RestoreError: the event cannot be applied.
        """
        first = min((one[0] for one in held.values()), key=lambda one: one.event.at)
        self._follows = False
        try:
            # The first try can find that a remembered round is not as in Redis.
            for _ in range(_TRIES):
                if await self._apply([first], held, replayed):
                    return
        finally:
            self._follows = True
        raise RestoreError(f"event {first.seq} of table {first.table} is not applied")

    async def _apply(
        self, batch: Sequence[Answered], held: dict[str, deque[Answered]], replayed: Replayed
    ) -> bool:
        """Apply events of different tables. Return whether one was applied.

        `held` has, by table, the events that wait for events of other tables: a wager that has won
        a must-hit-by meter waits for those that took the meter there, and those after it wait for
        this wager.
        """
        ready = [one for one in batch if not self._must_wait(one)]
        made = await self._replay_batch(ready) if ready else []
        replies = {one.table: reply for one, reply in zip(ready, made, strict=True)}
        now = [replies.get(one.table, b"") for one in batch]
        for answered, reply in zip(batch, now, strict=True):
            waiting = held.setdefault(answered.table, deque([answered]))
            if not reply:
                continue
            waiting.popleft()
            if not waiting:
                del held[answered.table]
            self._note_applied(answered)
            replayed.events += 1
            if reply != answered.reply_payload:
                replayed.differing.append(
                    Differing(answered.table, answered.seq, answered.reply_payload, reply)
                )
        return any(now)

    def _drawn(self, known: CatalogTable, _: Wagers) -> DrawMade | None:
        return self._draws[known.table.id]

    async def _replay_batch(self, batch: Sequence[Answered]) -> list[bytes]:
        if any(one.reply.status == "refused" for one in batch):
            return [reply for one in batch for reply in await self._replay_one(one)]
        self._draws = {one.table: one.reply.draw for one in batch}
        self._replies = {one.table: one.reply for one in batch}
        outcome = await self._intake.apply_batch(
            [Arrival(self._known[one.table], one.payload) for one in batch]
        )
        replies = {one.known.table.id: reply for one, reply in outcome.replies}
        return [replies.get(one.table, b"") for one in batch]

    async def _replay_one(self, answered: Answered) -> list[bytes]:
        if answered.reply.status == "refused":
            return [await self._refuse(answered)]
        return await self._replay_batch([answered])

    def _given(self, table: str) -> Reply | None:
        return self._replies[table] if self._follows else None

    def _must_wait(self, answered: Answered) -> bool:
        """Check whether a result of another table, which is not applied yet, needs the open round.

        Its reply has a part of a community share for a player of this round. A correction must wait
        if the result would then have other players of the round.
        """
        event = answered.event
        if not self._follows or not isinstance(event, Result | Void | WagerCorrection):
            return False
        before = self._before.get((answered.table, event.round), {})
        if not isinstance(event, WagerCorrection):
            return bool(before)
        return any(self._changes(answered.table, event, given) for given in before.values())

    def _changes(self, table: str, event: WagerCorrection, given: _Given) -> bool:
        if event.wager not in given:
            return False
        if not event.adds:
            return event.position in given[event.wager]
        after = LinkRound(table, "", event.round, 0, event.positions, ())
        players = {one.position for one in after.players(event.wager)}
        return event.position in players - given[event.wager]

    def _note_applied(self, answered: Answered) -> None:
        for share in parts_elsewhere(answered.reply):
            self._before[share.table, share.round].pop((answered.table, answered.seq), None)

    async def _refuse(self, answered: Answered) -> bytes:
        """Mark the number of a refused event as used. Store the reply that the table has.

        The cards of a refused correction stay known until its round ends.
        """
        table = answered.table
        step = ScriptStep(
            table=table,
            seq=answered.seq,
            digest=event_digest(answered.payload).decode(),
            kind=Kind.REFUSED,
            round=answered.event.round,
            basis=None,
            work=ReplyWork(answered.reply_payload.decode()),
            ask=await self._request(answered),
        )
        (answer,) = (await self._store.apply([step], [(b"", ())])).answers
        if answer.status not in {Status.REFUSED, Status.AGAIN}:
            raise RestoreError(
                f"event {answered.seq} of table {table} does not follow the table's last event"
            )
        return answer.text.encode()

    async def _request(self, answered: Answered) -> AskStep | None:
        if not answered.requested:
            return None
        (state,) = await self._store.table_states([answered.table])
        known = known_cards(state.known)
        ordered = self._known[answered.table].table.chapter.community_ordered
        correction = Correction.of(answered.event, known, community_ordered=ordered)
        if correction is None:
            return None
        return ask_step(
            "", answered.table, now_text(), correction, known, community_ordered=ordered
        )


def _batches(events: Iterable[Answered]) -> Iterator[Sequence[Answered]]:
    # The batches keep the order. A batch has at most one event of each table. A result with a share
    # for the whole link is judged by the open rounds in Redis, so all before it must be applied.
    batch: dict[str, Answered] = {}
    for one in events:
        alone = one.reply.status == "refused" or _LINK_SHARE in one.reply_payload
        if batch and (alone or one.table in batch or len(batch) == _AT_ONCE):
            yield list(batch.values())
            batch = {}
        if alone:
            yield [one]
        else:
            batch[one.table] = one
    if batch:
        yield list(batch.values())


def in_order(events: Iterable[Iterator[Answered]]) -> Iterator[Answered]:
    """Merge the events of several tables by time. Events of one table stay in their order."""
    yield from (answered for _, _, answered in heapq.merge(*map(_timed, events), key=_place))


def _timed(events: Iterator[Answered]) -> Iterator[tuple[datetime, str, Answered]]:
    """Yield each event of a table with the latest time of the events so far.

    The event's own time can be earlier, because a table's clock can be set back.
    """
    latest: datetime | None = None
    for answered in events:
        at = answered.event.at
        latest = at if latest is None else max(latest, at)
        yield latest, answered.table, answered


def _place(timed: tuple[datetime, str, Answered]) -> tuple[datetime, str]:
    return timed[:2]
