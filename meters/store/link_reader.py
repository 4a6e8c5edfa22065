"""Reading of one link's data in Redis: claims, tables, the ledger, the indexes.

The indexes have the undecided claims, wins, acts and payout slips. An act is one of three things: a
decision of a person, such as to close the link; an entry that the service itself writes, such as a
meter reading; or a table's correction of cards or wagers. An audit reads the whole indexes, or a
part of them (`IndexPart`).
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final, cast

import msgspec
from redis.asyncio.client import Pipeline

from meters.ledger.checkpoint import Checkpoint, proven
from meters.ledger.claim_records import ClaimRecord, record_of
from meters.ledger.link_state import IndexCounts, IndexPart, Snapshot, TableRecord
from meters.ledger.redis_layout import (
    ANY_WIN,
    METER_AWARD,
    REPLIES_KEPT,
    LinkKeys,
    StoredTable,
    reply_fields,
)
from meters.store.ledger_reading import LedgerReader

_ORDER_DIGITS: Final = 16
_ACTS_AT_ONCE: Final = 200


class LinkReader(LedgerReader):
    async def asks(self) -> dict[str, str]:
        """Return the fields with correction requests (``TABLE``) and decisions (``TABLE!``)."""
        _, found = await self.asks_at()
        return found

    async def asks_at(self) -> tuple[int, dict[str, str]]:
        """Return the last ledger entry's number and the correction requests, read at one moment."""
        entries, (row,) = await self._hashes_at([self.keys.asks])
        return entries, _decoded(row)

    async def table_states(
        self, tables: Sequence[str], *, wagers: bool = True
    ) -> list[TableRecord]:
        """Return the state of some tables; with `wagers`, also the wagers of their open rounds.

        Raises:
            ValueError: the data of a table in Redis is damaged.
        """
        for _ in range(2):  # between the two reads, `pitlink archive` can delete an entry
            _, rows = await self.tables_at(tables)
            named = {row.state.entry for row in rows} - {0} if wagers else set[int]()
            entries = await self.entries_at(sorted(named))
            events = {number: fields.get("event") for number, fields in entries}
            if len(events) == len(named):
                break
        return [row.record(events.get(row.state.entry)) for row in rows]

    async def snapshot(self, *, indexes: bool = False, part: IndexPart | None = None) -> Snapshot:
        """Return accounts and counts, with the indexes or a `part` of them, read at one moment."""
        keys = self.keys
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(keys.accounts)
            pipe.hgetall(keys.tallies)
            pipe.hgetall(keys.meters)
            if indexes:
                pipe.zrange(keys.proposals, 0, -1, withscores=True)
                pipe.hgetall(keys.approved)
                pipe.zcount(keys.wins, "(0", "+inf")
                pipe.zcount(keys.wins, "-inf", "(0")
            if part:
                _read_part(pipe, keys, part)
            elif indexes:
                _read_indexes(pipe, keys)
            accounts, tallies, meters, *rest = await pipe.execute()
        snapshot = Snapshot(
            accounts={name.decode(): int(value) for name, value in accounts.items()},
            tallies={name.decode(): int(value) for name, value in tallies.items()},
            meters=_texts(meters),
        )
        if not indexes:
            return snapshot
        proposals, approved, above, below, *rows = rest
        snapshot = replace(
            snapshot,
            proposals={proposal.decode(): int(entry) for proposal, entry in proposals},
            approved=_texts(approved),
            misplaced=above + below,
        )
        return _with_part(snapshot, part, rows) if part else _with_indexes(snapshot, rows)

    async def _hashes_at(self, keys: Iterable[str]) -> tuple[int, list[dict[bytes, bytes]]]:
        """Return the last ledger entry's number and the Redis hashes `keys`, read at one moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hget(self.keys.meters, "entries")
            for key in keys:
                pipe.hgetall(key)
            entries, *rows = await pipe.execute()
        return int(entries or 0), rows

    async def claims_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the last ledger entry's number and the fields of claims, read at one moment."""
        entries, rows = await self._hashes_at(map(self.keys.claim, ids))
        return entries, [_decoded(row) for row in rows]

    async def proposals_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the last ledger entry's number and the fields of proposals, read at one moment."""
        entries, rows = await self._hashes_at(map(self.keys.proposal, ids))
        return entries, [_decoded(row) for row in rows]

    async def tables_at(
        self, tables: Sequence[str], *, replies: bool = False
    ) -> tuple[int, list[StoredTable]]:
        """Return the last ledger entry's number and the data of some tables, read at one moment.

        The kept replies are read only if `replies` is true.
        """
        if not tables:
            return 0, []
        keys, ids = self.keys, list(tables)
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hget(keys.meters, "entries")
            for key in (keys.tables, keys.rounds, keys.repeated_claims):
                pipe.hmget(key, ids)
            if replies:
                pipe.hmget(keys.replies, [field for table in ids for field in reply_fields(table)])
            entries, states, rounds, claims, *texts = await pipe.execute()
        kept = texts[0] if texts else [None] * (len(ids) * REPLIES_KEPT)
        return int(entries or 0), [
            StoredTable(state, opened, repeated, kept[at * REPLIES_KEPT : (at + 1) * REPLIES_KEPT])
            for at, (state, opened, repeated) in enumerate(zip(states, rounds, claims, strict=True))
        ]

    async def table_fields(self, *, replies: bool) -> dict[str, frozenset[str]]:
        """Return the names of all fields in the Redis hashes of tables, by key.

        The kept replies are included only if `replies` is true.
        """
        keys = self.keys
        every = [keys.tables, keys.rounds, keys.repeated_claims, *([keys.replies] * replies)]
        _, rows = await self._hashes_at(every)
        return {
            key: frozenset(name.decode("utf-8", "replace") for name in row)
            for key, row in zip(every, rows, strict=True)
        }

    async def last_entry(self) -> int:
        """Return the last ledger entry's number; from the checkpoint if Redis has no entry."""
        rows = cast(
            "list[tuple[bytes, object]]", await self.redis.xrevrange(self.keys.ledger, count=1)
        )
        return int(rows[0][0].split(b"-")[0]) if rows else (await self.checkpoint()).entries

    async def open_day(self) -> date | None:
        """Return the open gaming day, whatever the terms in Redis are; None if there is none yet.

        Raises:
            ValueError: the value in Redis is not a date.
        """
        day = cast("bytes | None", await self.redis.hget(self.keys.meters, "day"))
        return date.fromisoformat(day.decode()) if day else None

    async def checkpoint(self) -> Checkpoint:
        """Return the checkpoint from which a replay of the ledger in Redis begins (duty D17).

        Raises:
            CheckpointError: the checkpoint differs from the one in the ledger for the last gaming
                day that was deleted from Redis.
        """
        keys = self.keys
        while True:
            text, by = cast(
                "list[bytes | None]", await self.redis.hmget(keys.checkpoint, ["text", "by"])
            )
            if text is None:
                return Checkpoint()
            number = int(by or 0)
            noted = await self.entries(number - 1, 1)
            # Between the two reads, `pitlink archive` can delete the entry and write a new
            # checkpoint.
            if by == cast("bytes | None", await self.redis.hget(keys.checkpoint, "by")):
                return proven(text, number, dict(noted))

    async def claims(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return the fields of some claims. A claim that does not exist has no fields."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for claim in ids:
                pipe.hgetall(self.keys.claim(claim))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [_decoded(row) for row in rows]

    async def waiting(self, limit: int = 0) -> list[str]:
        """Return at most `limit` undecided claims, oldest first. Return all if `limit` is 0."""
        rows = cast("list[bytes]", await self.redis.zrange(self.keys.waiting, 0, limit - 1))
        return [claim.decode() for claim in rows]

    async def slips_at(self, slips: Sequence[str]) -> dict[str, str]:
        """Return the texts in the Redis hash of slips for some numbers (`LinkKeys.slips`).

        A number that neither paid a claim nor is kept by a restore is left out.
        """
        if not slips:
            return {}
        held = cast("list[bytes | None]", await self.redis.hmget(self.keys.slips, list(slips)))
        found = zip(slips, held, strict=True)
        return {slip: claim.decode() for slip, claim in found if claim is not None}

    async def acts(self, before: int | None, count: int) -> list[tuple[int, dict[str, str]]]:
        """Return up to `count` acts before entry `before`, with their numbers, latest first.

        Acts are the entries that no table made, and tables' corrections of cards or wagers (D17).
        """
        most = "+inf" if before is None else f"({before}"
        rows = cast(
            "list[bytes]",
            await self.redis.zrevrangebyscore(self.keys.acts, most, "-inf", start=0, num=count),
        )
        found = await self.entries_at([int(row) for row in rows])
        return [
            (number, {name: value.decode("utf-8", "replace") for name, value in fields.items()})
            for number, fields in found
        ]

    async def every_act(self) -> AsyncIterator[tuple[int, dict[str, str]]]:
        """Yield all acts, with their numbers, latest first; read Redis in pages."""
        before: int | None = None
        while page := await self.acts(before, _ACTS_AT_ONCE):
            for act in page:
                yield act
            before = page[-1][0]

    async def wins(
        self, meter: str, before: int | None, count: int, *, meter_awards: bool
    ) -> list[tuple[int, str]]:
        """Return up to `count` wins of a meter, each with its place, latest first (duty D16).

        These wins wait for a floorperson, or have waited for one. The place of a win is the number
        of its ledger entry; with `before`, only lower places are returned. With `meter_awards`,
        only wins of a percentage of the meter are returned.
        """
        prefix = f"{meter}{METER_AWARD if meter_awards else ANY_WIN}"
        # Members with the same score are sorted by their bytes, and "~" is after every digit.
        most = f"{prefix}~" if before is None else f"{prefix}{before:0{_ORDER_DIGITS}d}"
        rows = cast(
            "list[bytes]",
            await self.redis.zrevrangebylex(
                self.keys.wins, f"({most}", f"[{prefix}", start=0, num=count
            ),
        )
        members = (row.decode().removeprefix(prefix).partition(":") for row in rows)
        return [(int(order), claim) for order, _, claim in members]


def _read_indexes(pipe: Pipeline, keys: LinkKeys) -> None:
    pipe.zrange(keys.waiting, 0, -1, withscores=True)
    pipe.zrange(keys.wins, 0, -1)
    pipe.hgetall(keys.slips)
    pipe.zrange(keys.acts, 0, -1, withscores=True)


def _read_part(pipe: Pipeline, keys: LinkKeys, part: IndexPart) -> None:
    spans = ((part.new_after, None), (part.old_after, part.old_to))
    for key in (keys.waiting, keys.wins, keys.acts):
        pipe.zcard(key)
    pipe.hlen(keys.slips)
    for key in (keys.waiting, keys.acts):
        for after, to in spans:
            most = "+inf" if to is None else to
            pipe.zrevrangebyscore(key, most, f"({after}", withscores=True)
    for meter in part.meters:
        for mark in (ANY_WIN, METER_AWARD):
            for after, to in spans:
                # The members of one meter and mark are in the order of their entries.
                end = f"{meter}{chr(ord(mark) + 1)}"
                if to is not None:
                    end = f"{meter}{mark}{to + 1:016d}"
                begin = f"[{meter}{mark}{after + 1:016d}"
                pipe.zrevrangebylex(keys.wins, f"({end}", begin)


def _with_indexes(snapshot: Snapshot, rows: Sequence[Any]) -> Snapshot:
    waiting, wins, slips, acts = rows
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in waiting},
        wins=frozenset(member.decode() for member in wins),
        slips=_texts(slips),
        acts={act.decode(): int(order) for act, order in acts},
        counts=IndexCounts(len(waiting), len(wins), len(acts), len(slips)),
    )


def _with_part(snapshot: Snapshot, part: IndexPart, rows: Sequence[Any]) -> Snapshot:
    counts, (waiting, waiting_old, acts, acts_old), wins = rows[:4], rows[4:8], rows[8:]
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in (*waiting, *waiting_old)},
        wins=frozenset(member.decode() for members in wins for member in members),
        acts={act.decode(): int(order) for act, order in (*acts, *acts_old)},
        part=part,
        counts=IndexCounts(*counts),
    )


def _decoded(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    # Somebody can have written bytes that are not UTF-8. Readers must still show the rest.
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, value in fields.items()
    }


def _texts(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}


class _Act(msgspec.Struct, frozen=True):
    claim: str


_ACT: Final = msgspec.json.Decoder(_Act)


class DayClaims:
    """The claims with an act of one kind since the last close of a gaming day."""

    def __init__(self, store: LinkReader, kind: str) -> None:
        self._store = store
        self._kind = kind
        self._seen = 0
        self._entries: dict[str, int] = {}
        self._turn = asyncio.Lock()

    async def claims(self) -> Sequence[dict[str, str]]:
        """Return each claim's fields, oldest win first. Read only the acts since the last call."""
        store = self._store
        async with self._turn:
            last_reading = int(await store.redis.hget(store.keys.meters, "reading") or 0)
            await self._read_acts(last_reading)
            self._entries = {
                claim: entry for claim, entry in self._entries.items() if entry > last_reading
            }
            found = await store.claims(sorted(self._entries))
        return sorted(filter(None, found), key=lambda fields: int(fields["entry"]))

    async def _read_acts(self, last_reading: int) -> None:
        after, latest = max(self._seen, last_reading), self._seen
        async for entry, fields in self._store.every_act():
            if entry <= after:
                break
            latest = max(latest, entry)
            if fields.get("kind") == self._kind:
                claim = _ACT.decode(fields["event"]).claim
                self._entries[claim] = max(entry, self._entries.get(claim, 0))
        self._seen = latest


async def holding_claims(store: LinkReader) -> Sequence[ClaimRecord]:
    """Return the records of a link's claims that hold their tables, oldest first."""
    waiting = await store.claims(await store.waiting())
    return _hand_pays(one for one in waiting if one and one["state"] not in {"paid", "rejected"})


async def reopenable_holds(rejected: DayClaims) -> Sequence[ClaimRecord]:
    """Return the records of rejected hand pays that can be reopened.

    A reopened hand pay holds its table again. It is included until it is paid or the gaming day is
    closed.
    """
    return _hand_pays(one for one in await rejected.claims() if one["state"] != "paid")


def _hand_pays(claims: Iterable[Mapping[str, str]]) -> Sequence[ClaimRecord]:
    return [one for one in map(record_of, claims) if one.holds_table]
