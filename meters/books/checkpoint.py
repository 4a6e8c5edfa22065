"""The checkpoint: a link's books at the close of a gaming day, from which a replay continues.

The ledger entries before a checkpoint can be missing in Redis and be only in the archive. The same
books always make the same checkpoint text. The ledger entry about the archived day has the digest
of this text. So nobody can replace the beginning of a ledger unnoticed (duties D17, D20).
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
    """The checkpoint in Redis for the last trimmed gaming day cannot be trusted."""


class NotedApproval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last approval of a floor file in a ledger (duty D12).

    Attributes:
        entry: the number of the ledger entry that records the approval.
        number: the number of the approval. The first approval of the link has the number 1.
        by: the person who approved the floor file.
        event: the text of the approval in the ledger.
    """

    entry: int
    number: int
    by: str
    event: str


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The state of a replay after a ledger entry. `balances` are micros by account.

    The text of a checkpoint omits each field that has its default value. So an old checkpoint keeps
    its digest when a later release adds a field.

    Attributes:
        entries: the number of the ledger entry, 0 before the first entry.
        chain: the digest of this entry.
        seal: the seal over all entries up to this one.
        closed_day: the gaming day that this entry closed.
        closed: True if the link is closed.
        contributed_micros: the contributions of all wagers, without voided rounds.
        approval: the last approval of a floor file, None before the first approval.
        variances: differences between the reading at the close of a gaming day and the ledger, as
            texts.
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
        """SHA-256 of the checkpoint's text, in hexadecimal."""
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
        first: the number of the day's first ledger entry.
        last: the number of the day's last ledger entry, the reading that closed the day.
        digest: the digest of the day's archive file.
        books: the digest of the checkpoint at the close of the day.
    """

    day: date
    first: int
    last: int
    digest: str
    books: str


class Expired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record that archive files of old gaming days were deleted, as the ledger keeps it.

    Attributes:
        since: the first gaming day whose file was deleted.
        until: the last gaming day whose file was deleted.
        last: the number of the last ledger entry in the deleted files.
        digest: the digest of the last deleted file.
    """

    since: date
    until: date
    last: int
    digest: str


EXPIRED: Final = msgspec.json.Decoder(Expired)
ARCHIVED: Final = msgspec.json.Decoder(Archived)
_CARRIED: Final = msgspec.json.Decoder(Checkpoint)
EMPTY: Final = Checkpoint(0, "", "", "", False, 0, None, (), {}, {}, {}, {}, {}, {})  # noqa: FBT003
"""The checkpoint before the first ledger entry: the books are empty."""


def digest_of(text: bytes) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text).hexdigest()


def read_checkpoint(text: bytes) -> Checkpoint:
    """Decode a checkpoint from its text.

    Raises:
        CheckpointError: the text is not a checkpoint.
    """
    try:
        return _CARRIED.decode(text)
    except UNREADABLE as error:
        raise CheckpointError(f"the books of a day's close cannot be read: {error}") from None


def proven(text: bytes, by: int, entries: Mapping[int, Mapping[str, bytes]]) -> Checkpoint:
    """Decode a checkpoint, and compare it with the ledger entry of the archived gaming day.

    Args:
        text: the text of the checkpoint in Redis.
        by: the number of the ledger entry that records the archived day.
        entries: ledger entries by number; entry `by` is among them.

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
            f"the books at entry {checkpoint.entries} are not those that entry {by} records as"
            " archived"
        )
    return checkpoint
