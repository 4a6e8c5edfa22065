from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Self, cast

import msgspec
from redis.asyncio import Redis

from meters.ledger.checkpoint import Checkpoint
from meters.ledger.link_rows import LinkRows
from meters.ledger.redis_layout import (
    DIGEST,
    PACK,
    STATE,
    LinkKeys,
    StoredTable,
    entry_of,
    kept_text,
    read_kept,
    reply_fields,
)
from meters.restore.copy_reading import ArchivedLedger
from meters.restore.rebuild import Rebuild
from meters.store.ledger_reading import LedgerReader
from meters.store.link_store import LinkStore
from meters.store.stored_entries import Entry

Keys = dict[str, dict[str, bytes]]


class Copy(ArchivedLedger):
    """Ledger entries that were copied in time. Its disk may fail when it is read again."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.last = entries[-1][0]
        self.days = ()
        self.fails_at = 0
        self._readings = 0

    @property
    def opening(self) -> Checkpoint:
        return Checkpoint()

    @classmethod
    async def of(cls, store: LinkStore) -> Self:
        return cls(await store.entries(0, 10_000))

    async def entries(self, after: int = 0) -> AsyncIterator[tuple[int, Mapping[str, bytes]]]:
        self._readings += 1
        for number, fields in self._entries:
            if self._readings == 2 and number == self.fails_at:
                raise OSError("the disk failed")
            if number > after:
                yield number, fields


async def read_store(redis: Redis, keys: LinkKeys) -> Keys:
    """Return every key of a link except its ledger; of sorted sets the scores."""
    found: Keys = {}
    async for name in redis.scan_iter(match=f"{keys.claim('').removesuffix('claim:')}*"):
        key = name.decode()
        if key in keys.sorted_sets:
            rows = await redis.zrange(key, 0, -1, withscores=True)
            members = cast("list[tuple[bytes, float]]", rows)
            found[key] = {member.decode(): b"%d" % int(score) for member, score in members}
        elif key != keys.ledger:
            fields = cast("dict[bytes, bytes]", await redis.hgetall(key))
            found[key] = {field.decode(): value for field, value in fields.items()}
    await _put_texts(redis, keys, found)
    return found


async def _put_texts(redis: Redis, keys: LinkKeys, found: Keys) -> None:
    """Give the tables the texts that are only in the ledger, as a restore does."""
    states = {table: STATE.decode(packed) for table, packed in found.get(keys.tables, {}).items()}
    opened = {table: state for table, state in states.items() if state.entry}
    ledger = LedgerReader(redis, keys.link)
    for table, state in opened.items():
        ((_, fields),) = await ledger.entries_at([state.entry])
        found.setdefault(keys.rounds, {})[table] = fields["event"]
        found[keys.tables][table] = PACK.encode(msgspec.structs.replace(state, entry=0))
    for field, text in found.get(keys.replies, {}).items():
        seq, stored = read_kept(text) or (0, b"")
        if (entry := entry_of(stored)) is not None:
            ((_, fields),) = await ledger.entries_at([entry])
            found[keys.replies][field] = kept_text(seq, stored[:DIGEST] + fields["reply"])


def keys_of(rows: LinkRows) -> Keys:
    return {key: dict(fields) for key, fields in rows}


def hold_alike(made: Keys, was: Keys, keys: LinkKeys) -> None:
    """Check that a rebuilt store has all that the other had, except what no entry records.

    Correction requests of tables are in no entry, although they raise the count of the floor page.
    """
    made, was = {**made}, {**was}
    made.pop(keys.asks, None)
    was.pop(keys.asks, None)
    tables_made, tables_were = _tables(made, keys), _tables(was, keys)
    for table in tables_made.keys() | tables_were.keys():
        _hold_table(tables_made.get(table, {}), tables_were.get(table, {}))
    # The service opens a day. The tests of scripts do not.
    hold_books(made, was, keys, but={"changes"} | ({"day"} - was[keys.meters].keys()))
    assert made == was


def hold_books(made: Keys, was: Keys, keys: LinkKeys, *, but: Collection[str] = ()) -> None:
    """Take out meters, accounts and counts, and check that they are equal; versions may be higher.

    The fields `but` of the meters may differ.
    """
    meters, meters_were = made.pop(keys.meters), was.pop(keys.meters)
    versions = {name for name in meters_were if name.startswith("version:")}
    for name in versions:
        assert int(meters[name]) >= int(meters_were[name]), name
    free = {*versions, *but}
    assert _but_nothing(meters, free) == _but_nothing(meters_were, free)
    for key in (keys.accounts, keys.tallies):
        assert _but_nothing(made.pop(key, {})) == _but_nothing(was.pop(key, {})), key


def hold_restored(made: Keys, was: Keys, keys: LinkKeys) -> None:
    """Check that a restored store lacks nothing, and records that it was restored.

    Its entries for repeated events have the time of the restoring.
    """
    made, was = _undated(made, keys), _undated(was, keys)
    last = int(was[keys.meters]["entries"])
    assert int(made[keys.meters].pop("entries")) == last + 1
    assert made[keys.acts].pop(str(last + 1))
    assert made[keys.meters].pop("chain") != was[keys.meters].pop("chain")
    del was[keys.meters]["entries"]
    for table, packed in was.get(keys.tables, {}).items():
        assert STATE.decode(made[keys.tables][table]).last == STATE.decode(packed).last
    hold_alike(made, was, keys)


def _undated(store: Keys, keys: LinkKeys) -> Keys:
    undated = {key: dict(fields) for key, fields in store.items()}
    for key, fields in undated.items():
        if key.startswith(keys.claim("")):
            del fields["at"]
        elif key == keys.approved:
            # If nothing was left, the person who restores it adopts the floor file.
            del fields["at"], fields["by"]
    return undated


def _but_nothing(fields: Mapping[str, bytes], without: Collection[str] = ()) -> dict[str, bytes]:
    """Return the fields except zeros, because a value of zero may be missing."""
    return {name: value for name, value in fields.items() if value != b"0" and name not in without}


def _tables(store: Keys, keys: LinkKeys) -> dict[str, dict[str, bytes]]:
    """Take the tables out of a store. Return the data of each as named fields."""
    states, rounds, claims, replies = (
        store.pop(key, {}) for key in (keys.tables, keys.rounds, keys.repeated_claims, keys.replies)
    )
    named = {*states, *rounds, *claims, *(field.rpartition(":")[0] for field in replies)}
    return {
        table: _fields_of(
            StoredTable(
                states.get(table), rounds.get(table), claims.get(table),
                [replies.get(field) for field in reply_fields(table)],
            )
        )
        for table in named
    }  # fmt: skip


def _fields_of(stored: StoredTable) -> dict[str, bytes]:
    if stored.packed_state is None:
        return {}
    state = stored.state
    held = "\n".join(sorted(state.held.splitlines()))
    texts = {"round": state.round, "over": state.over, "held": held}
    found = {"last": b"%d" % state.last}
    found |= {name: text.encode() for name, text in texts.items() if text}
    if stored.wagers is not None:
        found |= {
            "basis": b"%d" % state.basis,
            "wagers": stored.wagers,
            "draw": state.draw.encode(),
            "contributed": msgspec.msgpack.encode(sorted(state.contributed)),
        }
    if state.over or stored.repeated:
        found["claims"] = stored.repeated or b""
    return found | {f"reply:{seq}": reply for seq, reply in stored.replies.items()}


def _hold_table(made: dict[str, bytes], was: dict[str, bytes]) -> None:
    """Compare two tables. Only the table and its store know the seqs of refused events."""
    replies, were = _replies(made), _replies(was)
    accepted = {seq: value for seq, value in were.items() if b'"status":"accepted"' in value}
    assert {seq: _kept(value) for seq, value in were.items() if seq in replies} == {
        seq: _kept(value) for seq, value in replies.items() if seq in were
    }
    assert accepted.keys() <= replies.keys()
    last, last_was = int(made.pop("last", b"0")), int(was.pop("last", b"0"))
    assert last == max(replies, default=0) <= last_was
    assert made == was


def _kept(reply: bytes) -> bytes:
    """Return a stored reply, without the text of a refusal."""
    digest, said = reply[:DIGEST], reply[DIGEST:]
    return digest + (b"refused" if b'"refused"' in said else said)


def _replies(fields: dict[str, bytes]) -> dict[int, bytes]:
    kept = [name for name in fields if name.startswith("reply:")]
    return {int(name.removeprefix("reply:")): fields.pop(name) for name in kept}


class Kept:
    """Contents of a store at some moment, to be put back as from an older file of Redis."""

    def __init__(self, keys: Mapping[bytes, bytes], match: str) -> None:
        self._keys = keys
        self._match = match

    @classmethod
    async def of(cls, redis: Redis, match: str = "*") -> Self:
        keys = redis.scan_iter(match)
        return cls({key: cast("bytes", await redis.dump(key)) async for key in keys}, match)

    async def put_back(self, redis: Redis) -> None:
        for key in [key async for key in redis.scan_iter(self._match)]:
            await redis.delete(key)
        for key, value in self._keys.items():
            await redis.restore(key, 0, value)


async def rebuilt(rebuild: Rebuild, store: LinkStore) -> Rebuild:
    while page := await store.entries(rebuild.replay.entries, 100):
        for number, fields in page:
            rebuild.apply_entry(number, fields)
    return rebuild
