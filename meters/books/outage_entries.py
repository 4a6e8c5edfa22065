"""Ledger entries about outages, the times in which a link was inoperable (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError
from meters.wire.clock import now_text


class Outage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A period in which a link did not operate, or several such periods shortly after one another.

    Attributes:
        id: the id of the outage.
        since: the beginning of the outage, RFC 3339 in UTC.
        reasons: the first few different reasons for the outage.
        times: the number of times that the link stopped operating during this outage.
        until: the end of the outage, empty while the outage lasts.
    """

    id: str
    since: str
    reasons: tuple[str, ...]
    times: int = 1
    until: str = ""


OUTAGE: Final = msgspec.json.Decoder(Outage)


class OutageBook:
    """The writer of ledger entries about outages of a link."""

    def __init__(self, store: LinkStore, by: str) -> None:
        self._store = store
        self._by = by
        self._script = store.redis.register_script(load_script("note_outage"))

    async def note(self, outage: Outage) -> None:
        """Write a ledger entry about an outage that is over.

        Write nothing if the last outage in the ledger has the same id.

        Raises:
            RedisError: Redis failed.
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        at = now_text()
        event = msgspec.json.encode(msgspec.structs.replace(outage, until=at))
        status, *_ = await self._script(
            keys=list(self._store.fixed_keys),
            args=[at, self._store.terms.digest, self._by, outage.id, event],
        )
        if status == b"terms":
            raise TermsError(TERMS_CHANGED)
