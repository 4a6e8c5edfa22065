"""The checkpoint: the state of a link at the close of a gaming day.

A replay of the ledger can begin at a checkpoint. So the ledger entries before the checkpoint can be
deleted from Redis: they are in the archive. The same state always makes the same checkpoint text.
When a gaming day is archived, a ledger entry records the digest of this text. So an audit notices
if somebody replaced the beginning of a ledger (duties D17, D20).
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

import msgspec

from bonus.json_input import UNREADABLE
from meters.ledger.entry_messages import ARCHIVED
from meters.ledger.expected_transfers import ExpectedBooks
from meters.ledger.floor_approvals import HalfApproval, NotedApproval
from meters.ledger.link_evidence import LinkEvidence
from meters.ledger.table_evidence import TableEvidence


class CheckpointError(ValueError):
    """A checkpoint is damaged, or differs from the one that the ledger records."""


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a link after the ledger entry `entries`.

    `chain` is the digest of this entry, and `seal` is the digest over all entries up to this one.
    `closed_day` is the last closed gaming day. `contributed_micros` is the sum of the contributions
    of all wagers, without voided rounds. `approval` is the last approval of a floor file; `half` is
    the first of two approvals, while it waits for the second. `variances` are differences between
    meter readings and the ledger. `claims`, `ended` and `assets` are as in `Evidence`. At the close
    of a gaming day, `claims` and `ended` have only the claims of `Evidence.remaining`.
    """

    entries: int = 0
    chain: str = ""
    seal: str = ""
    closed_day: str = ""
    closed: bool = False
    contributed_micros: int = 0
    variances: tuple[str, ...] = ()
    approval: NotedApproval | None = None
    half: HalfApproval | None = None
    books: ExpectedBooks = msgspec.field(default_factory=ExpectedBooks)
    tables: TableEvidence = msgspec.field(default_factory=TableEvidence)
    link: LinkEvidence = msgspec.field(default_factory=LinkEvidence)
    claims: dict[str, dict[str, str]] = {}
    ended: dict[str, int] = {}
    assets: dict[str, tuple[str, ...]] = {}

    @property
    def text(self) -> bytes:
        return msgspec.json.encode(self, order="deterministic")

    @property
    def digest(self) -> str:
        return digest_of(self.text)


_CHECKPOINT: Final = msgspec.json.Decoder(Checkpoint)


def digest_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def read_checkpoint(text: bytes) -> Checkpoint:
    """Decode a checkpoint from its text.

    Raises:
        CheckpointError: the text is not a checkpoint.
    """
    try:
        found = _CHECKPOINT.decode(text)
        if found.closed_day:
            date.fromisoformat(found.closed_day)
    except (*UNREADABLE, ValueError) as error:
        raise CheckpointError(f"the state at a day's close cannot be read: {error}") from None
    return found


def proven(text: bytes, by: int, entries: Mapping[int, Mapping[str, bytes]]) -> Checkpoint:
    """Decode a checkpoint, and compare it with the ledger entry of the archived gaming day.

    `by` is the number of this entry.

    Raises:
        CheckpointError: the checkpoint cannot be read, or entry `by` does not record it.
    """
    checkpoint, fields = read_checkpoint(text), entries.get(by, {})
    try:
        archived = ARCHIVED.decode(fields.get("event", b""))
    except UNREADABLE:
        raise CheckpointError(
            f"ledger entry {by} does not record that the missing entries were archived"
        ) from None
    said = (fields.get("kind"), archived.last, archived.books)
    if said != (b"archive", checkpoint.entries, digest_of(text)):
        raise CheckpointError(
            f"the state at entry {checkpoint.entries} is not the one that entry {by} records as"
            " archived"
        )
    return checkpoint


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a ledger mark.

    `entries` is the number of the last ledger entry that was seen in Redis, and `chain` is its
    digest. `sealed` is the number of the last entry up to which an audit found no problem, and
    `seal` is the digest over all entries up to this one.
    """

    link: str
    entries: int = 0
    chain: str = ""
    sealed: int = 0
    seal: str = ""

    def differences(self, entries: int, chain: str, seal: str) -> Iterator[str]:
        """Compare the first `entries` entries of a ledger with the mark; yield the differences.

        `chain` is the digest of the last entry, and `seal` is the digest over all these entries.
        """
        if self.entries == entries and self.chain != chain:
            yield f"entry {entries} is not the one that was seen: its digest was {self.chain}"
        if self.sealed == entries and self.seal != seal:
            yield f"the entries up to {entries} are not those that were sealed"
