"""The open gaming day of a link, read from Redis without a check of the meters' terms."""

from datetime import date
from typing import cast

from meters.books.store import LinkStore


async def day_open(store: LinkStore) -> date | None:
    """Return the open gaming day, or None if no service has opened a gaming day yet.

    Raises:
        ValueError: the value in Redis is not a date.
    """
    day = cast("bytes | None", await store.redis.hget(store.keys.meters, "day"))
    return date.fromisoformat(day.decode()) if day else None
