"""Figures of a link for monitoring. The service reads them from Redis with each check."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from redis.exceptions import RedisError

from meters.ledger.accounts import overflow_account, reserve_account
from meters.ledger.claim_records import record_of
from meters.ledger.table_corrections import StoredAsk, stored_asks
from meters.store.link_store import LinkStore

_CLAIMS_READ: Final = 1_000
_FEW: Final = 50
_MANY_EVERY_S: Final = 5.0
"""Shortest time between two reads of many claims, because such a read takes long."""


@dataclass(frozen=True, slots=True)
class WaitingCount:
    """A count of waiting items, and when the oldest began to wait, in seconds since 1970."""

    count: int = 0
    since_s: float | None = None


@dataclass(frozen=True, slots=True)
class LinkStats:
    """The figures of a link for monitoring, except the values of the meters.

    Attributes:
        reserve_micros: by meter id.
        overflow_micros: by meter id.
        claims: the wins that wait for a validation or for their payment.
        hand_pays: the hand pays among these wins.
        envy: the hands with due Envy Bonuses that nobody has confirmed as paid.
        archived_s: when a gaming day was last archived, in seconds since 1970.
        read_s: the time of the last meter reading, in seconds since 1970.
    """

    reserve_micros: Mapping[str, int]
    overflow_micros: Mapping[str, int]
    claims: WaitingCount
    hand_pays: WaitingCount
    proposals: int
    entries_live: int
    entries_archived: int = 0
    archived_s: float | None = None
    read_s: float | None = None
    envy: WaitingCount = WaitingCount()
    corrections: WaitingCount = WaitingCount()


@dataclass(frozen=True, slots=True)
class RedisMemory:
    """The memory of Redis. A limit of 0 means no limit."""

    used_bytes: int
    limit_bytes: int


class LinkStatsReader:
    """The reader of a link's figures.

    Claims are read again only if `LinkState.floor_changes` or the number of undecided claims has
    changed, and correction requests only if `floor_changes` has changed.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._claims_as_of = -1
        self._claims = WaitingCount()
        self._hand_pays = WaitingCount()
        self._envy = WaitingCount()
        self._corrections = WaitingCount()
        self._asks_as_of = -1
        self._listed = 0
        self._not_before_s = 0.0

    async def read(self, floor_changes: int) -> LinkStats:
        """Read the figures from Redis. `floor_changes` is the present `LinkState.floor_changes`.

        Raises:
            ValueError: a value in Redis is not valid.
        """
        store, keys = self._store, self._store.keys
        ids = [meter.meter_id for meter in store.link.meter]
        accounts = [*map(reserve_account, ids), *map(overflow_account, ids)]
        async with store.redis.pipeline(transaction=True) as pipe:
            pipe.hmget(keys.accounts, accounts)
            pipe.zcard(keys.waiting)
            pipe.zcard(keys.proposals)
            pipe.hget(keys.checkpoint, "entries")
            pipe.hmget(keys.meters, ["entries", "archived", "archived_at", "reading_at"])
            micros, waiting, proposals, trimmed, (last, *days) = await pipe.execute()
        held = [int(each or 0) for each in micros]
        now_s = asyncio.get_running_loop().time()
        changed = floor_changes != self._claims_as_of or waiting != self._listed
        if changed and (waiting <= _FEW or now_s >= self._not_before_s):
            await self._read_claims(waiting)
            self._claims_as_of, self._not_before_s = floor_changes, now_s + _MANY_EVERY_S
        if floor_changes != self._asks_as_of:
            asks = [one for one in stored_asks(await store.asks()) if not one.decision]
            self._corrections = _waiting([at for one in asks if (at := _asked_s(one)) is not None])
            self._asks_as_of = floor_changes
        self._claims = replace(self._claims, count=self._claims.count + waiting - self._listed)
        self._listed = waiting
        archived_s, read_s = (_since_s(each.decode()) if each else None for each in days[1:])
        return LinkStats(
            dict(zip(ids, held, strict=False)),
            dict(zip(ids, held[len(ids) :], strict=True)),
            self._claims,
            self._hand_pays,
            proposals,
            int(last or 0) - int(trimmed or 0),
            int(days[0] or 0),
            archived_s,
            read_s,
            self._envy,
            self._corrections,
        )

    async def _read_claims(self, count: int) -> None:
        """Read the undecided claims, and count the wins, hand pays and Envy Bonuses that wait.

        Only the 1,000 oldest claims are read. `count` is the number of all undecided claims.
        """
        found = [
            (fields, record_of(fields).is_hand_pay)
            for fields in await self._store.claims(await self._store.waiting(_CLAIMS_READ))
            if fields
        ]
        envy = [_since_s(one["at"]) for one, _ in found if one.get("envy") == "validated"]
        wins = [
            (_since_s(one["at"]), by_hand)
            for one, by_hand in found
            if one["state"] == "pending" or (one["state"] == "validated" and by_hand)
        ]
        self._claims = _waiting([since_s for since_s, _ in wins], count - len(found))
        self._hand_pays = _waiting([since_s for since_s, by_hand in wins if by_hand])
        self._envy = _waiting(envy)
        self._listed = count

    async def memory(self) -> RedisMemory | None:
        try:
            info = cast("Mapping[str, object]", await self._store.redis.info("memory"))
        except RedisError:
            return None
        used, limit = info.get("used_memory"), info.get("maxmemory")
        if not isinstance(used, int) or not isinstance(limit, int):
            return None
        return RedisMemory(used, limit)


def _waiting(since_s: Sequence[float], more: int = 0) -> WaitingCount:
    return WaitingCount(len(since_s) + more, min(since_s, default=None))


def _asked_s(stored: StoredAsk) -> float | None:
    """Return when a table first sent a correction request, in seconds since 1970.

    Return None if somebody has altered the request in Redis. The audit reports this.
    """
    try:
        return _since_s(stored.ask.at)
    except ValueError:
        return None


def _since_s(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
