"""Access to one link's data in Redis. Each change of money is made by one atomic Lua script."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, cast

import msgspec
from redis.commands.core import AsyncScript

from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Link
from meters.ledger.accounts import meter_account
from meters.ledger.chain import CHAIN
from meters.ledger.checkpoint import EMPTY, Checkpoint, proven
from meters.ledger.entered_cards import DEALT_KEPT
from meters.ledger.link_keys import LinkKeys
from meters.ledger.link_state import (
    Closure,
    IndexPart,
    LedgerHead,
    LinkState,
    MeterState,
    OpenDay,
    Snapshot,
    TableRecord,
)
from meters.ledger.money_terms import LinkTerms, adopted, terms_text
from meters.ledger.schema import FIELD, schema_problem, version_of
from meters.ledger.script_steps import (
    SCRIPT_ANSWERS,
    ReplyParts,
    ScriptAnswer,
    ScriptStep,
    chained_texts,
)
from meters.ledger.stored_tables import REPLIES_KEPT, StoredTable, reply_fields
from meters.store.facility_notes import FacilityNote
from meters.store.health import run_synced
from meters.store.indexes import read_snapshot
from meters.store.ledger_reading import add_replies, read_entries, read_entries_at
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.script_loader import load_script
from meters.store.slip_register import SlipRegister
from meters.store.stored_entries import Entry, StreamEntry, compress_texts, unpack_entry
from meters.wire.clock import now_text

FIXED_KEYS: Final = 7
"""Count of the Redis keys that every Lua script of a link receives first."""

APPLY_KEYS: Final = FIXED_KEYS + 6
"""Count of the Redis keys that the script `apply_events` receives before the keys of claims."""

_LINK_FIELDS: Final = (
    "terms", "closed", "closed_by", "closed_at", "rounds", "changes", "entries", "chain", "day",
    "day_closed",
)  # fmt: skip
TERMS_CHANGED: Final = "the link's terms in Redis are no longer those it opened with"


class TermsError(Exception):
    """The terms (such as rates) of a link's meters in Redis are missing or wrong (duty D10)."""


class BooksError(Exception):
    """A refusal by a Lua script of a link. The script changed nothing.

    `status` is the reason in the script's answer, such as ``same_person``, and `detail` the rest of
    the answer. For ``same_person``, `setter` is the person who set a PIN; empty if the same user
    did both acts.
    """

    def __init__(self, status: str, detail: str = "", setter: str = "") -> None:
        super().__init__(f"{status} {detail}".strip())
        self.status = status
        self.detail = detail
        self.setter = setter


class WrongStateError(BooksError):
    """A claim, a request or a proposal is not in the state that a decision on it needs.

    For example, somebody has already decided the claim. `state` is empty if it does not exist. `by`
    is the person who set the state, if anybody did.
    """

    def __init__(self, state: str, by: str) -> None:
        super().__init__("wrong_state", " by ".join(filter(None, (state, by))))
        self.state = state
        self.by = by


class LinkStore:
    """The reader and writer of one link's data in Redis.

    Every method that waits raises a `RedisError` if Redis fails. `link` is as in the floor file
    (`filed`), with the parameters that proposals changed later. `fixed_keys` are the Redis keys
    that every Lua script of the link receives first. With `must_keep`, as in a service, Redis must
    sync all writes before a batch is answered. `head` is the ledger entry with the highest number
    among the answers to batches: they run in parallel, so an older answer can arrive after a newer
    one.
    """

    def __init__(self, redis: AnyRedis, link: Link) -> None:
        self.slip_register = SlipRegister(redis)
        self.facility = FacilityNote(redis)
        self._servers = redis
        redis = redis_of(redis, link.id)
        self.link = link
        self.terms = LinkTerms(link)
        self.keys = LinkKeys(link.id)
        self.redis = redis
        self.filed = link
        self.head = LedgerHead(0, "")
        self.must_keep = False
        self.fixed_keys = (
            self.keys.accounts,
            self.keys.tallies,
            self.keys.meters,
            self.keys.ledger,
            self.keys.waiting,
            self.keys.wins,
            self.keys.acts,
        )
        self._scripts: dict[str, AsyncScript] = {}

    def of_link(self, link: Link) -> "LinkStore":
        return LinkStore(self._servers, link)

    def script(self, name: str) -> AsyncScript:
        if name not in self._scripts:
            self._scripts[name] = self.redis.register_script(load_script(name))
        return self._scripts[name]

    async def call(
        self, script: str, *args: str | int | bytes, keys: Sequence[str] = ()
    ) -> list[str]:
        """Run a script on the fixed keys and `keys`, at the present time. Return its answer.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        rows = await self.script(script)(keys=[*self.fixed_keys, *keys], args=[now_text(), *args])
        answer = [text.decode() for text in cast("list[bytes]", rows)]
        if answer == ["terms"]:
            raise TermsError(TERMS_CHANGED)
        return answer

    async def act(
        self, script: str, *args: str | int | bytes, keys: Sequence[str] = ()
    ) -> list[str]:
        """Run the script of an act, which needs the terms of `LinkStore.open`.

        Return the values after ``done`` in its answer.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
            WrongStateError: what the act decides is not in the state that it needs.
            BooksError: the script refused.
        """
        return done(await self.call(script, self.terms.digest, *args, keys=keys))

    async def open(self, by: str) -> None:
        """Seed new meters, and check that the terms of other meters are unchanged.

        A confirmed proposal can change a parameter without a change of the floor file. It remains
        in force if the floor file has the parameter's old value or its new value.

        Raises:
            TermsError: the meters or their terms in Redis differ from the floor file, or Redis has
                data of another schema version (duties D10, D12).
        """
        stored = (await self.snapshot()).meters
        link = adopted(self.filed, stored)
        terms = LinkTerms(link)
        opening = [
            text
            for meter, filed in zip(link.meter, self.filed.meter, strict=True)
            for text in (
                meter.meter_id,
                terms_text(meter),
                terms_text(filed),
                str(meter.terms.seed_cents * MICROS_PER_CENT),
            )
        ]
        match await self.call("open_link", terms.digest, by, *opening):
            case ["open"]:
                self.link, self.terms = link, terms
            case ["schema", version]:
                raise TermsError(self._other_schema(version_of(version, begun=True)))
            case ["differs", meter, stored_terms] if stored_terms != stored.get(f"terms:{meter}"):
                # A proposal was confirmed after the terms were read: read them again.
                await self.open(by)
            case ["differs", meter, stored_terms]:
                raise TermsError(
                    f"meter {meter} has other terms in Redis, {stored_terms}: set the floor"
                    " file back, and change parameters by proposal while the link is closed"
                )
            case ["lost", meter]:
                raise TermsError(f"Redis has lost the terms of meter {meter}")
            case ["dropped", meter]:
                raise TermsError(f"Redis holds meter {meter}, which the floor file does not name")

    async def schema(self) -> int | None:
        """Return the schema version of the link's data, or None if Redis has no data yet.

        Raises:
            ValueError: the value in Redis is not a schema version.
        """
        fields = [FIELD, "terms", "entries"]
        noted, *others = await self.redis.hmget(self.keys.meters, fields)
        return version_of(noted, begun=any(others))

    async def schema_problem(self) -> str | None:
        """Return the reason why this release must not use the link's data, or None (duty D10).

        Raises:
            ValueError: the schema version in Redis is not valid.
        """
        return self._other_schema(await self.schema())

    def _other_schema(self, version: int | None) -> str | None:
        return schema_problem(f"the data of link {self.link.id} is", version)

    async def apply(
        self,
        steps: Sequence[ScriptStep],
        texts: Sequence[tuple[bytes, ReplyParts]],
        claim_keys: Sequence[str] = (),
    ) -> Sequence[ScriptAnswer]:
        """Apply a batch of table events in one atomic script call.

        `texts` are the texts and replies of the events for the ledger, empty for an event without a
        ledger entry. `claim_keys` are the Redis keys of the claims that the events open. An event
        refers to such a key by its place after the first `APPLY_KEYS` keys.

        Raises:
            TermsError: the terms (such as rates) of a meter have changed; nothing was done.
            NotSyncedError: Redis can still lose the changes, so the replies must not be sent.
            RedisError: Redis failed. It is not known if the batch was applied.
        """
        keys = self.keys
        tables = (keys.tables, keys.rounds, keys.replies, keys.repeated_claims)
        every = [*self.fixed_keys, *tables, keys.asks, keys.dealt, *claim_keys]
        args: list[str | int | bytes] = [now_text(), self.terms.digest, REPLIES_KEPT]
        args += [msgspec.msgpack.encode(steps), DEALT_KEPT, compress_texts(texts)]
        args += [chained_texts(event, reply) for event, reply in texts]
        if self.must_keep:
            output = await run_synced(self.script("apply_events"), every, args)
        else:
            output = await self.script("apply_events")(keys=every, args=args)
        found = SCRIPT_ANSWERS.decode(output)
        if not found.terms:
            raise TermsError(TERMS_CHANGED)
        if found.entry > self.head.entry or not self.head.in_ledger:
            self.head = LedgerHead(found.entry, found.chain, found.in_ledger)
        return await add_replies(self.redis, keys, found.answers)

    async def asks(self) -> dict[str, str]:
        """Return the fields with correction requests (``TABLE``) and decisions (``TABLE!``)."""
        rows = cast("dict[bytes, bytes]", await self.redis.hgetall(self.keys.asks))
        return _decoded(rows)

    async def asks_at(self) -> tuple[int, dict[str, str]]:
        """Return the last ledger entry's number and the correction requests, at one moment."""
        entries, (row,) = await self._hashes_at([self.keys.asks])
        return entries, _decoded(row)

    async def table_states(
        self, tables: Sequence[str], *, wagers: bool = True
    ) -> list[TableRecord]:  # fmt: skip
        """Return the state of some tables; with `wagers`, also those of their open rounds.

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

    async def state(self) -> LinkState:
        """Return the state of the link and of all its meters at one moment.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`, or the
                data has another schema version (duty D10).
        """
        ids = [meter.meter_id for meter in self.link.meter]
        names = (*_LINK_FIELDS, FIELD)
        fields = [f"{name}:{meter}" for meter in ids for name in ("version", "cycle", "pending")]
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hmget(self.keys.accounts, "house", *(meter_account(meter) for meter in ids))
            pipe.hmget(self.keys.meters, *names, *fields)
            pipe.xrevrange(self.keys.ledger, count=1)
            (_, *micros), values, last = await pipe.execute()
        counts = values[len(names) :]
        fields_read = zip(names, values, strict=False)
        link = {name: of.decode() for name, of in fields_read if of is not None}
        if link.get("terms") != self.terms.digest:
            raise TermsError(TERMS_CHANGED)
        if other := self._other_schema(version_of(values[len(names) - 1], begun=True)):
            raise TermsError(other)
        meters = tuple(
            MeterState(
                meter=meter,
                amount_cents=int(micros[index] or 0) // MICROS_PER_CENT,
                version=int(counts[3 * index] or 0),
                cycle=int(counts[3 * index + 1] or 0),
                pending=int(counts[3 * index + 2] or 0) > 0,
            )
            for index, meter in enumerate(ids)
        )
        return LinkState(
            meters=meters,
            closure=Closure(link["closed"], link.get("closed_by", ""), link.get("closed_at", ""))
            if "closed" in link
            else None,
            rounds_open=int(link.get("rounds", "0")),
            floor_changes=int(link.get("changes", "0")),
            head=_head(int(link.get("entries", "0")), link.get("chain", ""), last),
            day=OpenDay(link.get("day", ""), link.get("day_closed", "")),
        )

    async def snapshot(self, *, indexes: bool = False, part: IndexPart | None = None) -> Snapshot:
        """Return all accounts and counts at one moment, with the indexes or a `part` of them."""
        return await read_snapshot(self.redis, self.keys, indexes=indexes, part=part)

    async def _hashes_at(self, keys: Iterable[str]) -> tuple[int, list[dict[bytes, bytes]]]:
        """Return the last ledger entry's number and some Redis hashes, at one moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hget(self.keys.meters, "entries")
            for key in keys:
                pipe.hgetall(key)
            entries, *rows = await pipe.execute()
        return int(entries or 0), rows

    async def claims_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the last ledger entry's number and the fields of some claims, at one moment."""
        entries, rows = await self._hashes_at(map(self.keys.claim, ids))
        return entries, [_decoded(row) for row in rows]

    async def proposals_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the last ledger entry's number and the fields of some proposals, at one moment."""
        entries, rows = await self._hashes_at(map(self.keys.proposal, ids))
        return entries, [_decoded(row) for row in rows]

    async def tables_at(
        self, tables: Sequence[str], *, replies: bool = False
    ) -> tuple[int, list[StoredTable]]:
        """Return the last ledger entry's number and the data of some tables, at one moment.

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

        The fields of the kept replies are read only if `replies` is true.
        """
        keys = self.keys
        every = [keys.tables, keys.rounds, keys.repeated_claims, *([keys.replies] * replies)]
        _, rows = await self._hashes_at(every)
        return {
            key: frozenset(name.decode("utf-8", "replace") for name in row)
            for key, row in zip(every, rows, strict=True)
        }

    async def entries(self, after: int, count: int) -> list[Entry]:
        """Return up to `count` ledger entries after entry `after`, each with its number.

        If Redis has an entry after `after`, at least one is returned, and none is left out.
        """
        return await read_entries(self.redis, self.keys, after, count)

    async def entries_at(self, numbers: Sequence[int]) -> list[Entry]:
        """Return the ledger entries with some numbers. Those that Redis lacks are left out."""
        return await read_entries_at(self.redis, self.keys, numbers)

    async def last_entry(self) -> int:
        """Return the last ledger entry's number; from the checkpoint if Redis has no entry."""
        rows = cast(
            "list[tuple[bytes, object]]", await self.redis.xrevrange(self.keys.ledger, count=1)
        )
        return int(rows[0][0].split(b"-")[0]) if rows else (await self.checkpoint()).entries

    async def open_day(self) -> date | None:
        """Return the open gaming day, also if the terms in Redis differ; None if there is none yet.

        Raises:
            ValueError: the value in Redis is not a date.
        """
        day = cast("bytes | None", await self.redis.hget(self.keys.meters, "day"))
        return date.fromisoformat(day.decode()) if day else None

    async def checkpoint(self) -> Checkpoint:
        """Return the checkpoint from which a replay of the ledger in Redis begins (duty D17).

        Raises:
            CheckpointError: the checkpoint differs from the one that the ledger records for the
                last gaming day that was deleted from Redis.
        """
        held = await self._held_over()
        while held:
            text, by = held
            noted = await self.entries(by - 1, 1)
            # Between the two reads, another process can delete the entry from Redis, because the
            # entry is archived. In that case there is a new checkpoint.
            was, held = held, await self._held_over()
            if held == was:
                return proven(text, by, dict(noted))
        return EMPTY

    async def _held_over(self) -> tuple[bytes, int] | None:
        text, by = cast(
            "list[bytes | None]", await self.redis.hmget(self.keys.checkpoint, ["text", "by"])
        )
        return None if text is None else (text, int(by or 0))

    async def claims(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return the fields of some claims. A claim that does not exist has no fields."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for claim in ids:
                pipe.hgetall(self.keys.claim(claim))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [_decoded(row) for row in rows]

    async def waiting(self, limit: int = 0) -> list[str]:
        """Return at most `limit` undecided claims, the oldest first. Return all if `limit` is 0."""
        rows = cast("list[bytes]", await self.redis.zrange(self.keys.waiting, 0, limit - 1))
        return [claim.decode() for claim in rows]


def done(answer: Sequence[str]) -> list[str]:
    """Return the values after ``done`` in a script's answer, or raise its refusal as an error."""
    match answer:
        case ["done", *result]:
            return result
        case ["wrong_state", state, who]:
            raise WrongStateError(state, who)
        case ["unknown_claim" | "unknown_ask"]:
            raise WrongStateError("", "")
        case [status, *detail]:
            raise BooksError(status, *detail)
    raise TypeError(f"the script answered {answer!r}")


def _decoded(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    # Somebody can have written other bytes than UTF-8. Readers must then still show the rest.
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, value in fields.items()
    }


def _head(entry: int, chain: str, last: Sequence[StreamEntry]) -> LedgerHead:
    """Make a `LedgerHead`, and compare it with `last`, the last entry of the stream."""
    had = [(row[0].decode(), unpack_entry(row)[-1][1].get(CHAIN, b"").decode()) for row in last]
    return LedgerHead(entry, chain, had == ([(f"{entry}-0", chain)] if entry else []))
