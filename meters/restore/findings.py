"""The state of a link's data in Redis before a restore, and the events that must be applied."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Final

from bonus.json_input import UNREADABLE
from meters.ledger.checkpoint import Mark
from meters.ledger.entry_messages import RESTORING
from meters.ledger.link_rows import event_digest
from meters.ledger.redis_layout import LinkKeys
from meters.restore.outboxes import OutboxCopy, RestoreError
from meters.store.link_store import LinkStore


class StoreCondition(StrEnum):
    """The condition of a link's data in Redis.

    Attributes:
        EMPTY: Redis has no data of the link, or only approvals of its floor file.
        HALF: Redis has the unfinished data of an interrupted restore.
        THERE: Redis has data of the link, perhaps without the last part.
    """

    EMPTY = auto()
    HALF = auto()
    THERE = auto()


@dataclass(frozen=True, slots=True)
class StoreFindings:
    """The state of a link's data in Redis before the restore.

    `entries` is the number of the last ledger entry in Redis. `other_than_seen` is true if Redis
    and the ledger mark have different digests for the entry that the mark names. If the last ledger
    entry records a restore, `restored_from` has the number and digest of the ledger mark before
    that restore. `interrupted` is true if a restore began but did not finish.
    """

    standing: StoreCondition
    entries: int = 0
    other_than_seen: bool = False
    restored_from: tuple[int, str] | None = None
    interrupted: bool = False

    def lost_some(self, mark: Mark) -> bool:
        return self.entries < mark.entries or self.other_than_seen


@dataclass(frozen=True, slots=True)
class TableFindings:
    """The state of a table in Redis, or in the data that the restore will write.

    `last` is the number of the table's last event. `kept` is the digest of this event, followed by
    the stored reply if there is a reply.
    """

    last: int
    kept: bytes | None


@dataclass(frozen=True, slots=True)
class TableFound:
    """Comparison of a table's state in Redis with the table's outbox.

    `last` is the number of the last event in Redis or, if it is later, in the archive. `answered`
    is the number of the last answered event in the outbox. `missing` is a text about events after
    `last` that are in no outbox.
    """

    table: str
    last: int
    answered: int | None
    missing: str | None

    @property
    def again(self) -> int:
        """How many events from the table's outbox the restore must apply."""
        if self.answered is None or self.missing:
            return 0
        return max(0, self.answered - self.last)


_BOOKS: Final = ("accounts", "tallies", "ledger", "approved", "acts", "wins", "waiting")


async def inspect_store(store: LinkStore, mark: Mark) -> StoreFindings:
    """Inspect a link's data in Redis before a restore.

    Raises:
        RestoreError: Redis has accounts or a ledger of the link, but not its meters. The data is
            damaged, because no interrupted restore leaves such data.
    """
    redis, keys = store.redis, store.keys
    snapshot = await store.snapshot()
    interrupted = bool(await redis.exists(keys.restoring))
    if not snapshot.meters and interrupted:
        return StoreFindings(StoreCondition.HALF, interrupted=True)
    if not snapshot.meters and await redis.exists(*(_key(keys, name) for name in _BOOKS)):
        raise RestoreError(
            f"{keys.link}: Redis has data of the link but no meters, so the data is damaged: start"
            " Redis with an empty directory, or with a copy of its data. Then run the command again"
        )
    if not snapshot.is_opened:
        return StoreFindings(StoreCondition.EMPTY, interrupted=interrupted)
    last = snapshot.last_entry
    other = mark.entries <= last and await _chain_at(store, mark.entries) not in {None, mark.chain}
    restored = await _restored_from(store, last)
    return StoreFindings(StoreCondition.THERE, last, other, restored, interrupted)


async def hold_against_copy(store: LinkStore, entry: int, chain: str) -> None:
    """Check that a ledger entry is identical in Redis and in the copy of the ledger.

    Raises:
        RestoreError: the two entries differ.
    """
    if entry and await _chain_at(store, entry) not in {None, chain}:
        raise RestoreError(
            f"{store.link.id}: ledger entry {entry} in Redis is not that of the archive: one of"
            " the two is of another floor, or was altered. Nothing was done."
        )


def inspect_tables(
    findings: Mapping[str, TableFindings], outboxes: Mapping[str, OutboxCopy]
) -> list[TableFound]:
    """Compare each table's state in Redis with its outbox, to find the events that Redis lacks.

    Raises:
        RestoreError: an outbox does not belong to the data in Redis: it is from another floor, or
            too old.
    """
    return [_inspect_table(table, stand, outboxes.get(table)) for table, stand in findings.items()]


def _inspect_table(table: str, stand: TableFindings, outbox: OutboxCopy | None) -> TableFound:
    last = stand.last
    if outbox is None:
        return TableFound(table, last, None, f"the events after {last}")
    payload = outbox.payload(last) if last else None
    if payload is not None and stand.kept is not None:
        digest = event_digest(payload)
        if not stand.kept.startswith(digest):
            raise RestoreError(
                f"{outbox.path}: its event {last} differs from event {last} of table {table} in the"
                f" ledger of {outbox.link}: the outbox is of another floor, or too old"
            )
    missing = None
    if outbox.answered > last and outbox.lacks(last):
        missing = f"some of the events {last + 1} to {outbox.answered}"
    return TableFound(table, last, outbox.answered, missing)


def missing_outboxes(tables: Collection[TableFound], without: Collection[str]) -> list[str]:
    """Return a text for each table that lacks events, except the tables in `without`."""
    return [
        f"{one.table}: {one.missing} are in no outbox that was found"
        for one in tables
        if one.missing and one.table not in without
    ]


async def _chain_at(store: LinkStore, entry: int) -> str | None:
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
