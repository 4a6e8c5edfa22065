"""What there is of a link before its store is restored, and what is to be done."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Final

from meters.books.ledger_mark import Mark
from meters.books.restore_entries import RESTORING
from meters.books.store import LinkStore
from meters.redis_client.link_keys import LinkKeys
from meters.restore.errors import RestoreError
from meters.restore.outboxes import OutboxCopy
from meters.restore.restored_tables import digest_of
from meters.wire.messages import UNREADABLE


class StoreCondition(StrEnum):
    """What is in a link's store.

    Attributes:
        EMPTY: nothing.
        HALF: what a restoring has left that was interrupted while it wrote the books.
        THERE: books.
    """

    EMPTY = auto()
    HALF = auto()
    THERE = auto()


@dataclass(frozen=True, slots=True)
class StoreFindings:
    """A link's store as it is.

    Attributes:
        standing: what it is.
        entries: the number of its last ledger entry.
        other_than_seen: whether the entry that the mark names is another in it.
        restored_from: the mark that its last entry, a restoring, names; or None.
        interrupted: whether a restoring was begun and not ended.
    """

    standing: StoreCondition
    entries: int = 0
    other_than_seen: bool = False
    restored_from: tuple[int, str] | None = None
    interrupted: bool = False

    def lost_some(self, mark: Mark) -> bool:
        """Whether it has not what was seen of it."""
        return self.entries < mark.entries or self.other_than_seen


@dataclass(frozen=True, slots=True)
class TableFindings:
    """Where a table stands in the books: its last number, and what is kept of that event."""

    last: int
    kept: bytes | None


@dataclass(frozen=True, slots=True)
class TableFound:
    """A table's part.

    Attributes:
        table: its id.
        last: the last event that the books know, once the copy of the ledger is in them.
        answered: the last event that its outbox says was answered, None where there is none.
        missing: which of its events are in no outbox, in words; or None.
    """

    table: str
    last: int
    answered: int | None
    missing: str | None

    @property
    def again(self) -> int:
        """How many events are to be taken again."""
        if self.answered is None or self.missing:
            return 0
        return max(0, self.answered - self.last)


_BOOKS: Final = ("accounts", "tallies", "ledger", "approved", "acts", "wins", "waiting")


async def inspect_store(store: LinkStore, mark: Mark) -> StoreFindings:
    """What is in a link's store.

    Raises:
        RestoreError: books without the meters, which no restoring left behind.
        RedisError: the store failed.
    """
    redis, keys = store.redis, store.keys
    snapshot = await store.snapshot()
    interrupted = bool(await redis.exists(keys.restoring))
    if not snapshot.meters and interrupted:
        return StoreFindings(StoreCondition.HALF, interrupted=True)
    if not snapshot.meters:
        if await redis.exists(*(_key(keys, name) for name in _BOOKS)):
            raise RestoreError(
                f"{keys.link}: the store has books and no meters, which is damage and no loss:"
                " start Redis on an empty directory, or on a copy of its own, and restore that"
            )
        return StoreFindings(StoreCondition.EMPTY)
    last = snapshot.last_entry
    other = mark.entries <= last and await _chain_at(store, mark.entries) not in {None, mark.chain}
    restored = await _restored_from(store, last)
    return StoreFindings(StoreCondition.THERE, last, other, restored, interrupted)


async def hold_against_copy(store: LinkStore, entry: int, chain: str) -> None:
    """Make sure that a store and a copy of its ledger are of the same books.

    Raises:
        RestoreError: they are not.
        RedisError: the store failed.
    """
    if entry and await _chain_at(store, entry) not in {None, chain}:
        raise RestoreError(
            f"{store.link.id}: ledger entry {entry} of the store is not that of the archive: one of"
            " the two is another's, or was altered. Nothing was done."
        )


def inspect_tables(
    findings: Mapping[str, TableFindings], outboxes: Mapping[str, OutboxCopy]
) -> list[TableFound]:
    """What the outboxes have beyond the books.

    Raises:
        RestoreError: an outbox is of other books.
    """
    return [_inspect_table(table, stand, outboxes.get(table)) for table, stand in findings.items()]


def _inspect_table(table: str, stand: TableFindings, outbox: OutboxCopy | None) -> TableFound:
    last = stand.last
    if outbox is None:
        return TableFound(table, last, None, f"what it sent after event {last}")
    payload = outbox.payload(last) if last else None
    if payload is not None and stand.kept is not None:
        digest = digest_of(payload)
        if not stand.kept.startswith(digest):
            raise RestoreError(
                f"{outbox.path}: its event {last} is not the one that the books of"
                f" {outbox.link} have of table {table}: it is another's, or an older one"
            )
    missing = None
    if outbox.answered > last and outbox.lacks(last):
        missing = f"some of the events {last + 1} to {outbox.answered}"
    return TableFound(table, last, outbox.answered, missing)


def missing_outboxes(tables: Collection[TableFound], without: Collection[str]) -> list[str]:
    """Which events of which tables are missing, in words; tables given up are left out."""
    return [
        f"{one.table}: {one.missing} is in no outbox that was found"
        for one in tables
        if one.missing and one.table not in without
    ]


async def _chain_at(store: LinkStore, entry: int) -> str | None:
    """The digest that an entry of the store carries, None where it is not kept there."""
    rows = await store.entries(entry - 1, 1) if entry else []
    if not rows or rows[0][0] != entry:
        return None
    return rows[0][1].get("chain", b"").decode("utf-8", "replace")


async def _restored_from(store: LinkStore, last: int) -> tuple[int, str] | None:
    rows = await store.entries(last - 1, 1)
    if not rows or rows[0][1].get("kind") != b"restore":
        return None
    try:
        restoring = RESTORING.decode(rows[0][1]["event"])
    except (KeyError, *UNREADABLE):
        return None
    return restoring.seen, restoring.chain


def _key(keys: LinkKeys, name: str) -> str:
    key: str = getattr(keys, name)
    return key
