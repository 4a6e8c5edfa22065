"""Ledger entries about restores of a link's data in Redis (duty D17)."""

import msgspec

from meters.books.checkpoint import RestoreEntry
from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.wire.clock import now_text


class RestoreEntries:
    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._script = store.redis.register_script(load_script("note_restore"))

    async def note(self, restoring: RestoreEntry, by: str) -> int:
        """Write the ledger entry of a restore, and return its number.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
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
