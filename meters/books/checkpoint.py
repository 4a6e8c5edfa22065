"""A link's books at the close of a gaming day, from which a replay goes on.

What came before may then be in the archive alone. The text is always written the same way: its
digest stands in the ledger entry that says that the day was archived, so that a ledger cannot be
given another beginning (duties D17, D20).
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
    """What the store holds as the books of the last day that was trimmed cannot be believed."""


class NotedApproval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last approval of a floor file that a ledger has (duty D12).

    Attributes:
        entry: its entry.
        number: which one it was, counted from 1.
        by: who approved.
        event: the approval as the ledger has it.
    """

    entry: int
    number: int
    by: str
    event: str


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that a replay knows after an entry; micros by account.

    What has a default is left out of the text where it has that: books from before it was kept
    have the digest that they had.

    Attributes:
        entries: the entry's number, 0 before the first.
        chain: the digest that it carries.
        seal: the seal over all entries up to it.
        closed_day: the gaming day that it closed.
        closed: whether the link is closed.
        contributed_micros: what wagers added, net of voided rounds.
        approval: the last approval, None before the first.
        variances: what was read at a close and was not what it must have been, in words.
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
        """The claims of which the win or its Envy is not decided for good."""
        return self.claims.keys() | self.envy.keys()

    @property
    def text(self) -> bytes:
        """The same as one text."""
        return msgspec.json.encode(self, order="deterministic")

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return digest_of(self.text)

    def books(self) -> ExpectedBooks:
        """The books, to go on with."""
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
    """That a gaming day was archived, as the ledger keeps it.

    Attributes:
        day: which.
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
    """That the files of archived days were deleted, as the ledger keeps it.

    Attributes:
        since: the first day that was deleted.
        until: the last.
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
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(text).hexdigest()


def read_checkpoint(text: bytes) -> Checkpoint:
    """The books that a text holds.

    Raises:
        CheckpointError: it is none.
    """
    try:
        return _CARRIED.decode(text)
    except UNREADABLE as error:
        raise CheckpointError(f"the books of a day's close cannot be read: {error}") from None


def proven(text: bytes, by: int, entries: Mapping[int, Mapping[str, bytes]]) -> Checkpoint:
    """The books that a text holds, held against the ledger entry by which they were archived.

    Args:
        text: the books as the store has them.
        by: the number of that entry.
        entries: it, by its number, and whatever else was found there.

    Raises:
        CheckpointError: they are not what it says, or it is no such entry.
    """
    checkpoint, fields = read_checkpoint(text), entries.get(by, {})
    try:
        archived = ARCHIVED.decode(fields.get("event", b""))
    except UNREADABLE:
        raise CheckpointError(
            f"no ledger entry {by} says that what it lacks was archived"
        ) from None
    said = (fields.get("kind"), archived.last, archived.books)
    if said != (b"archive", checkpoint.entries, digest_of(text)):
        raise CheckpointError(
            f"the books at entry {checkpoint.entries} are not those that entry {by} says were"
            " archived"
        )
    return checkpoint
