from collections.abc import Sequence

from meters.books.day_claims import DayClaims
from meters.books.store import LinkStore


class ReopeningRequests:
    def __init__(self, store: LinkStore) -> None:
        self._requested = DayClaims(store, "request_reopen")

    async def claims(self) -> Sequence[dict[str, str]]:
        """Return the fields of each claim with such a request, the oldest win first."""
        return [
            fields
            for fields in await self._requested.claims()
            if fields["state"] == "rejected" and "request_entry" in fields
        ]
