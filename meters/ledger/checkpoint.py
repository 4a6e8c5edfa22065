"""The checkpoint: the balances and claims of a link at the close of a gaming day.

A replay of the ledger can begin at a checkpoint, so the ledger entries before it can be deleted
from Redis: they are in the archive. The same balances and claims always make the same checkpoint
text. When a gaming day is archived, a ledger entry records the digest of this text. So if somebody
replaces the beginning of a ledger, an audit finds this (duties D17, D20).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

import msgspec

from meters.ledger.entry_messages import ARCHIVED
from meters.ledger.expected_transfers import Added, ExpectedBooks, HeldEnvy, HeldWin
from meters.ledger.floor_approvals import NotedApproval
from meters.ledger.money_terms import TermsText
from meters.wire.messages import UNREADABLE


class CheckpointError(ValueError):
    """The checkpoint in Redis is damaged, or differs from the one that the ledger records."""


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
        found = _CARRIED.decode(text)
        if found.closed_day:
            date.fromisoformat(found.closed_day)
    except (*UNREADABLE, ValueError) as error:
        raise CheckpointError(f"the balances of a day's close cannot be read: {error}") from None
    return found


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


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a ledger mark.

    `entries` is the number of the last ledger entry that was seen in Redis, and `chain` its digest.
    `sealed` is the number of the last entry of an audit that found no problem, and `seal` the
    digest over all entries up to it.
    """

    link: str
    entries: int = 0
    chain: str = ""
    sealed: int = 0
    seal: str = ""

    def differences(self, entries: int, chain: str, seal: str) -> Iterator[str]:
        """Yield texts if a ledger whose first `entries` entries were read is not that of the mark.

        `chain` is the digest of the last of these entries, and `seal` that over all of them.
        """
        if self.entries == entries and self.chain != chain:
            yield f"entry {entries} is not the one that was seen: {self.chain}"
        if self.sealed == entries and self.seal != seal:
            yield f"the entries up to {entries} are not those that were sealed"
