"""Ledger entries about outages, the times in which a link was inoperable (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError
from meters.wire.clock import now_text


class Outage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A period in which a link did not operate, or several such periods shortly after one another.

    Times are RFC 3339 in UTC; `until` is empty while the outage lasts. `reasons` has the first few
    different reasons. `times` is how often the link stopped operating during this outage.
    """

    id: str
    since: str
    reasons: tuple[str, ...]
    times: int = 1
    until: str = ""


OUTAGE: Final = msgspec.json.Decoder(Outage)


class OutageBook:
    def __init__(self, store: LinkStore, by: str) -> None:
        self._store = store
        self._by = by
        self._script = store.redis.register_script(load_script("note_outage"))

    async def note(self, outage: Outage) -> None:
        """Write a ledger entry about an outage that is over.

        Write nothing if the last outage in the ledger has the same id.

        Raises:
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
