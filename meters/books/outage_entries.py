"""Ledger entries of times in which a link was inoperable (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError
from meters.wire.clock import now_text


class Outage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A time in which a link did not operate, or several such times close together.

    Attributes:
        id: the id of the outage.
        since: its beginning, RFC 3339 in UTC.
        reasons: the first different reasons.
        times: how often the link stopped operating.
        until: its end, empty while it lasts.
    """

    id: str
    since: str
    reasons: tuple[str, ...]
    times: int = 1
    until: str = ""


OUTAGE: Final = msgspec.json.Decoder(Outage)


class OutageBook:
    """The writer of outages in a link's ledger."""

    def __init__(self, store: LinkStore, by: str) -> None:
        self._store = store
        self._by = by
        self._script = store.redis.register_script(load_script("note_outage"))

    async def note(self, outage: Outage) -> None:
        """Write an entry about an outage that is over; the last one is not written a second time.

        Raises:
            RedisError: the store failed.
            TermsError: the link's terms changed.
        """
        at = now_text()
        event = msgspec.json.encode(msgspec.structs.replace(outage, until=at))
        status, *_ = await self._script(
            keys=list(self._store.fixed_keys),
            args=[at, self._store.terms.digest, self._by, outage.id, event],
        )
        if status == b"terms":
            raise TermsError(TERMS_CHANGED)
