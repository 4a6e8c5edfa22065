"""The checkpoint: the balances and claims of a link at the close of a gaming day.

A replay of the ledger can begin at a checkpoint, so the ledger entries before it can be deleted
from Redis: they are in the archive. The same balances and claims always make the same checkpoint
text. When a gaming day is archived, a ledger entry records the digest of this text. So if somebody
replaces the beginning of a ledger, an audit finds this (duties D17, D20).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Final

import msgspec

from meters.books.expected_transfers import Added, ExpectedBooks, HeldEnvy, HeldWin
from meters.books.money_terms import TermsText
from meters.wire.messages import UNREADABLE


class CheckpointError(ValueError):
    """The checkpoint in Redis is damaged, or differs from the one that the ledger records."""


class NotedApproval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last approval of a floor file, as a ledger entry records it (duty D12).

    `entry` is the number of that entry, `number` that of the approval: the first for the link is 1.
    `event` is the text of the approval in the ledger.
    """

    entry: int
    number: int
    by: str
    event: str


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a replay after the ledger entry `entries`. `balances` are micros by account.

    `chain` is the digest of this entry, `seal` that over all entries up to it, and `closed_day` the
    gaming day that it closed. `contributed_micros` is the sum of the contributions of all wagers,
    without voided rounds. `variances` are differences between the reading at the close of a gaming
    day and the ledger. `house_paid` are, by claim, the micros that the house paid when a rejected
    win was reopened; the next decision on the win removes them.
    """

    entries: int
    chain: str
    seal: str
    closed_day: str
    closed: bool
    contributed_micros: int
    approval: NotedApproval | None
    variances: tuple[str, ...]
    balances: dict[str, int]
    cycles: dict[str, int]
    terms: dict[str, TermsText]
    rounds: dict[str, tuple[Added, ...]]
    claims: dict[str, HeldWin]
    tallies: dict[str, int]
    envy: dict[str, HeldEnvy]
    house_paid: dict[str, int]

    @property
    def waiting(self) -> set[str]:
        """The claims whose win or Envy Bonuses nobody has finally decided."""
        return self.claims.keys() | self.envy.keys()

    @property
    def text(self) -> bytes:
        return msgspec.json.encode(self, order="deterministic")

    @property
    def digest(self) -> str:
        return digest_of(self.text)

    def books(self) -> ExpectedBooks:
        return ExpectedBooks(
            dict(self.balances),
            dict(self.cycles),
            dict(self.terms),
            dict(self.rounds),
            dict(self.claims),
            Counter(self.tallies),
            dict(self.envy),
            house_paid=dict(self.house_paid),
        )


class Archived(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record in the ledger about an archived gaming day.

    `first` and `last` are the numbers of its ledger entries. The last one is the reading of the
    meters that closed the day. `digest` is that of the archive file, `books` that of the checkpoint
    at the close of the day.
    """

    day: date
    first: int
    last: int
    digest: str
    books: str


class Expired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record in the ledger about old archive files that were deleted.

    `since` and `until` are the first and the last gaming day of these files. `last` is the number
    of the last ledger entry in them, and `digest` that of the last file.
    """

    since: date
    until: date
    last: int
    digest: str


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


EXPIRED: Final = msgspec.json.Decoder(Expired)
ARCHIVED: Final = msgspec.json.Decoder(Archived)
RESTORING: Final = msgspec.json.Decoder(RestoreEntry)
_CARRIED: Final = msgspec.json.Decoder(Checkpoint)
EMPTY: Final = Checkpoint(0, "", "", "", False, 0, None, (), {}, {}, {}, {}, {}, {}, {}, {})  # noqa: FBT003
"""The checkpoint before the first ledger entry: no balances and no claims."""


def digest_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def read_checkpoint(text: bytes) -> Checkpoint:
    """Decode a checkpoint from its text.

    Raises:
        CheckpointError: the text is not a checkpoint.
    """
    try:
        return _CARRIED.decode(text)
    except UNREADABLE as error:
        raise CheckpointError(f"the balances of a day's close cannot be read: {error}") from None


def proven(text: bytes, by: int, entries: Mapping[int, Mapping[str, bytes]]) -> Checkpoint:
    """Decode a checkpoint, and compare it with the ledger entry of the archived gaming day.

    `by` is the number of this entry, which is among `entries`.

    Raises:
        CheckpointError: the checkpoint is not the one in entry `by`, or this entry records no
            archived day.
    """
    checkpoint, fields = read_checkpoint(text), entries.get(by, {})
    try:
        archived = ARCHIVED.decode(fields.get("event", b""))
    except UNREADABLE:
        raise CheckpointError(
            f"no ledger entry {by} records that the missing entries were archived"
        ) from None
    said = (fields.get("kind"), archived.last, archived.books)
    if said != (b"archive", checkpoint.entries, digest_of(text)):
        raise CheckpointError(
            f"the balances at entry {checkpoint.entries} are not those that entry {by} records as"
            " archived"
        )
    return checkpoint
