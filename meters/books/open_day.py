"""The open gaming day in a link's books, under any terms of its meters."""

from datetime import date
from typing import cast

from meters.books.store import LinkStore


async def day_open(store: LinkStore) -> date | None:
    """Return the gaming day that is open; None if no service has begun one.

    Raises:
        ValueError: the store's value is not a day.
        RedisError: the store failed.
    """
    day = cast("bytes | None", await store.redis.hget(store.keys.meters, "day"))
    return date.fromisoformat(day.decode()) if day else None
