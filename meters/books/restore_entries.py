"""That a link's store was restored, in its ledger (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.wire.clock import now_text

VERSIONS_RAISED: Final = 1_000_000_000
"""More than the displays of any link were shown between a copy of its store and its loss."""


class RestoreEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a store was restored from.

    Attributes:
        seen: how many entries its ledger had before, as the mark said; 0 where none was kept.
        chain: the digest that the last of these carried.
        held: up to which entry the store, or the copy of its ledger, still had them.
        copied: whether they were written from a copy of the ledger.
        events: how many events of tables' outboxes were taken again.
        differing: as ``TABLE SEQ``, those of them that were answered otherwise than before.
        without: the tables of which there was no outbox.
        versions_raised: by how much the meters' versions rose.
    """

    seen: int
    chain: str
    held: int
    copied: bool
    events: int
    differing: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    versions_raised: int = VERSIONS_RAISED


RESTORING: Final = msgspec.json.Decoder(RestoreEntry)


class RestoreEntries:
    """Notes in a link's ledger that its store was restored."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._script = store.redis.register_script(load_script("note_restore"))

    async def note(self, restoring: RestoreEntry, by: str) -> int:
        """Write the entry; gives its number.

        Raises:
            RedisError: the store failed.
            TermsError: the link's terms are not those that it opened with.
        """
        store = self._store
        match texts(
            await self._script(
                keys=list(store.fixed_keys),
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
