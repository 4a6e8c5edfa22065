"""Ledger entries of a restore of a link's store (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.wire.clock import now_text

VERSIONS_RAISED: Final = 1_000_000_000
"""More versions than the displays of a link were shown between a copy of its store and its loss."""


class RestoreEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sources of a restored store.

    Attributes:
        seen: the count of ledger entries before, according to the mark; 0 without a mark.
        chain: the digest of the last of these.
        held: the last of these that the store, or the copy of its ledger, still had.
        copied: whether they were written from a copy of the ledger.
        events: the count of events from tables' outboxes that were applied again.
        differing: those of them whose reply differs from the first one, as ``TABLE SEQ``.
        without: the tables that had no outbox.
        versions_raised: the number by which the meters' versions rose.
        kept: the numbers of payout slips that stay used although the books have no payment with
            them, each with its claim.
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
        """Write the entry and return its number.

        Raises:
            RedisError: the store failed.
            TermsError: the link's terms are not those that it opened with.
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
