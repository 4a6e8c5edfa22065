"""Ledger entries about restores of a link's data in Redis (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.wire.clock import now_text

VERSIONS_RAISED: Final = 1_000_000_000
"""The number by which a restore raises the version of each meter.

Between a copy of Redis and the loss of Redis, displays receive fewer versions than this number.
"""


class RestoreEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sources from which a link's data in Redis was restored.

    Attributes:
        seen: the count of ledger entries before the loss, according to the mark. 0 without a mark.
        chain: the digest of the last entry before the loss, according to the mark.
        held: the number of the last entry that Redis, or a copy of the ledger, still had.
        copied: True if the entries were written from a copy of the ledger.
        events: the count of events in tables' outboxes that were applied again.
        differing: the applied events whose reply differs from their first reply, as ``TABLE SEQ``.
        without: the tables that had no outbox.
        versions_raised: the number by which the versions of the meters rose.
        kept: by slip number, the claim for which the number stays used. The books have no payment
            with these numbers.
    """

    seen: int
    chain: str
    held: int
    copied: bool
    events: int
    differing: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    versions_raised: int = VERSIONS_RAISED
    kept: dict[str, str] = {}


RESTORING: Final = msgspec.json.Decoder(RestoreEntry)


class RestoreEntries:
    """The writer of restores in a link's ledger."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._script = store.redis.register_script(load_script("note_restore"))

    async def note(self, restoring: RestoreEntry, by: str) -> int:
        """Write the ledger entry of a restore, and return the number of the entry.

        Raises:
            RedisError: the store failed.
            TermsError: the meters' terms in Redis changed after the link was opened.
        """
        store = self._store
        match texts(
            await self._script(
                keys=[*store.fixed_keys, store.keys.slips],
                args=[
                    now_text(),
                    store.terms.digest,
                    by,
                    msgspec.json.encode(restoring),
                    restoring.versions_raised,
                ],
            )
        ):
            case ["done", entry]:
                return int(entry)
            case _:
                raise TermsError(TERMS_CHANGED)
