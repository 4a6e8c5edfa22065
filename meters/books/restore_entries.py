"""Ledger entries about restores of a link's data in Redis (duty D17)."""

from typing import Final

import msgspec

from meters.books.script_loader import load_script
from meters.books.store import TERMS_CHANGED, LinkStore, TermsError, texts
from meters.wire.clock import now_text

VERSIONS_RAISED: Final = 1_000_000_000
"""The number by which a restore raises the version number of each meter. Displays ignore values
with old version numbers, and can have received fewer than this many newer ones between the last
copy of Redis and its loss."""


class RestoreEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A restore of a link's data in Redis, with the sources of the data.

    `seen` is the count of ledger entries before the loss, and `chain` the digest of the last one,
    according to the ledger mark: a file outside Redis that names the last entry that was seen.
    `held` is the number of the last entry that remained in Redis or in a copy of the ledger. With
    `copied`, the entries were written from this copy. `events` is the count of those from the
    tables' outboxes that the restore applied, and `differing` names the ones that got another reply
    than before the loss, as ``TABLE SEQ``. `without` are the tables whose outbox the restore did
    not have. `kept` are payout slip numbers that remain reserved, each with its claim. The restored
    data has no payment with such a number, but before the loss there can have been one. `confirmed`
    says that the person who restored the data had confirmed their name with their PIN.
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
    confirmed: bool = False


RESTORING: Final = msgspec.json.Decoder(RestoreEntry)


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
