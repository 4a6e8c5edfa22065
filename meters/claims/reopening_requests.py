"""Requests to reopen rejected wins. Each request waits for a second person."""

from collections.abc import Sequence

from meters.books.day_claims import DayClaims
from meters.books.store import LinkStore


class ReopeningRequests:
    """The rejected wins of one link that somebody has requested to reopen."""

    def __init__(self, store: LinkStore) -> None:
        self._requested = DayClaims(store, "request_reopen")

    async def claims(self) -> Sequence[dict[str, str]]:
        """Return the fields of each claim with such a request, the oldest win first.

        Raises:
            RedisError: Redis failed.
        """
        return [
            fields
            for fields in await self._requested.claims()
            if fields["state"] == "rejected" and "request_entry" in fields
        ]
