"""The acts on a link, page by page from the link's ledger, the latest act first (duty D17).

An act is a decision of a person, such as to close the link, or an entry that the service itself
writes, such as the reading of the meters.
"""

from collections.abc import Sequence
from typing import cast

from meters.books.store import LinkStore


class ActIndex:
    """The index of acts: entries that no table made, and tables' corrections of entered cards."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(self, before: int | None, count: int) -> Sequence[tuple[int, dict[str, str]]]:
        """Return up to `count` acts before entry `before`, with their numbers, the latest first."""
        redis, keys = self._store.redis, self._store.keys
        most = "+inf" if before is None else f"({before}"
        rows = cast(
            "list[bytes]",
            await redis.zrevrangebyscore(keys.acts, most, "-inf", start=0, num=count),
        )
        return [
            (number, {name: value.decode("utf-8", "replace") for name, value in fields.items()})
            for number, fields in await self._store.entries_at([int(row) for row in rows])
        ]
