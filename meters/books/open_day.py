"""Which gaming day a link's books say is open, under whatever terms its meters are."""

from datetime import date
from typing import cast

from meters.books.store import LinkStore


async def day_open(store: LinkStore) -> date | None:
    """The gaming day that is open; None where no service has begun one.

    Raises:
        ValueError: what the store holds there is no day.
        RedisError: the store failed.
    """
    day = cast("bytes | None", await store.redis.hget(store.keys.meters, "day"))
    return date.fromisoformat(day.decode()) if day else None
