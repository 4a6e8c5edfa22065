"""The checkpoint: a link's books at the close of a gaming day, from which a replay continues.

Earlier entries may then be only in the archive. The text of a checkpoint is always written in the
same way. Its digest is in the ledger entry that records the archived day, so nobody can replace the
beginning of a ledger (duties D17, D20).
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
    """The store's checkpoint for the last trimmed day cannot be trusted."""


class NotedApproval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last approval of a floor file in a ledger (duty D12).

    Attributes:
        entry: the number of its entry.
        number: the number of the approval, counted from 1.
        by: the person who approved.
        event: the approval as the ledger has it.
    """

    entry: int
    number: int
    by: str
    event: str


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that a replay knows after an entry; micros by account.

    A field with a default is left out of the text if it has that value. So a checkpoint that is
    older than the field keeps its digest.

    Attributes:
        entries: the entry's number, 0 before the first.
        chain: the digest that the entry has.
        seal: the seal over all entries up to it.
        closed_day: the gaming day that it closed.
        closed: whether the link is closed.
        contributed_micros: the contributions of wagers, without voided rounds.
        approval: the last approval, None before the first.
        variances: differences between a reading at a close and the ledger, as texts.
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
    envy: dict[str, HeldEnvy] = {}

    @property
    def waiting(self) -> set[str]:
        """The claims whose win or Envy Bonuses are not finally decided."""
        return self.claims.keys() | self.envy.keys()

    @property
    def text(self) -> bytes:
        """The checkpoint as one text."""
        return msgspec.json.encode(self, order="deterministic")

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return digest_of(self.text)

    def books(self) -> ExpectedBooks:
        """Return the books from which a replay continues."""
        return ExpectedBooks(
            dict(self.balances),
            dict(self.cycles),
            dict(self.terms),
            dict(self.rounds),
            dict(self.claims),
            Counter(self.tallies),
            dict(self.envy),
        )


class Archived(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record of an archived gaming day, as the ledger keeps it.

    Attributes:
        day: the gaming day.
        first: the number of its first entry.
        last: the number of its last entry, the reading that closed it.
        digest: the digest of its file.
        books: the digest of the books at its close.
    """

    day: date
    first: int
    last: int
    digest: str
    books: str


class Expired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record of deleted files of archived days, as the ledger keeps it.

    Attributes:
        since: the first day that was deleted.
        until: the last day that was deleted.
        last: the number of the last entry that was deleted.
        digest: the digest of the last file that was deleted.
    """

    since: date
    until: date
    last: int
    digest: str


EXPIRED: Final = msgspec.json.Decoder(Expired)
ARCHIVED: Final = msgspec.json.Decoder(Archived)
_CARRIED: Final = msgspec.json.Decoder(Checkpoint)
EMPTY: Final = Checkpoint(0, "", "", "", False, 0, None, (), {}, {}, {}, {}, {}, {})  # noqa: FBT003
"""The books before the first entry."""


def digest_of(text: bytes) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return hashlib.sha256(text).hexdigest()


def read_checkpoint(text: bytes) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CheckpointError: the text is not a checkpoint.
    """
    try:
        return _CARRIED.decode(text)
    except UNREADABLE as error:
        raise CheckpointError(f"the books of a day's close cannot be read: {error}") from None


def proven(text: bytes, by: int, entries: Mapping[int, Mapping[str, bytes]]) -> Checkpoint:
    """Read a checkpoint and compare it with the ledger entry that archived it.

    Args:
        text: the checkpoint as the store has it.
        by: the number of that entry.
        entries: entries by number, that one among them.

    Raises:
        CheckpointError: the checkpoint differs from the entry, or the entry does not archive a day.
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
            f"the books at entry {checkpoint.entries} are not those that entry {by} records as"
            " archived"
        )
    return checkpoint
