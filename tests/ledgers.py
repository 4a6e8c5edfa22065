"""Ledgers as tests read them from Redis, without the service."""

from typing import Any

import redis

from meters.ledger.redis_layout import LinkKeys
from meters.store.stored_entries import unpack_entry


def read_ledger(store: redis.Redis, link: str = "main") -> list[tuple[int, dict[str, bytes]]]:
    rows: Any = store.xrange(LinkKeys(link).ledger)
    return [entry for row in rows for entry in unpack_entry(row)]
