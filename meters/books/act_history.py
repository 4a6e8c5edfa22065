"""Pages of the acts that people did on a link, read from its ledger, latest first (duty D17)."""

from collections.abc import Sequence
from typing import cast

from meters.books.store import LinkStore


class ActIndex:
    """The entries of a link's ledger that no table made."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(self, before: int | None, count: int) -> Sequence[tuple[int, dict[str, str]]]:
        """Return entries with their numbers, latest first.

        All numbers are lower than `before`. If it is None, the page begins with the latest entry.

        Raises:
            RedisError: the store failed.
        """
        redis, keys = self._store.redis, self._store.keys
        most = "+inf" if before is None else f"({before}"
        rows = cast(
            "list[bytes]",
            await redis.zrevrangebyscore(keys.acts, most, "-inf", start=0, num=count),
        )
        async with redis.pipeline(transaction=False) as pipe:
            for row in rows:
                entry = f"{row.decode()}-0"
                pipe.xrange(keys.ledger, min=entry, max=entry)
            found: list[list[tuple[bytes, dict[bytes, bytes]]]] = await pipe.execute()
        return [
            (int(row), {name.decode(): value.decode() for name, value in entry[0][1].items()})
            for row, entry in zip(rows, found, strict=True)
            if entry
        ]
