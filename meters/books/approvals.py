"""Approvals of the part of the floor file that is about a link (duties D10, D12).

Each approval is in Redis and in the ledger.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from meters.books.checkpoint import NotedApproval
from meters.books.script_loader import load_script
from meters.books.store import BooksError, LinkStore, texts
from meters.wire.clock import now_text

_PAGE: Final = 1_000


class Approval(msgspec.Struct, frozen=True):
    """An approval of a floor file, in the form in which the ledger stores it.

    `changed` has a text for each difference from the configuration that was approved before. `text`
    is the whole approved part of the floor file, so the ledger shows under which configuration each
    wager was accepted.
    """

    digest: str
    text: str
    by: str
    changed: tuple[str, ...]


_APPROVAL: Final = msgspec.json.Decoder(Approval)


@dataclass(frozen=True, slots=True)
class Approved:
    """The approved configuration of a link.

    Attributes:
        digest: SHA-256 of `text`, in hexadecimal.
        text: the approved part of the floor file.
        by: the person who approved the text, at the time `at`.
        entry: the number of the ledger entry that records the approval.
    """

    digest: str
    text: str
    by: str
    at: str
    entry: int


class ForgedError(Exception):
    """The approved configuration in Redis differs from the one in the ledger."""

    def __init__(self, reason: str, held: str) -> None:
        super().__init__(reason)
        self.held = held
        """The digest of the approved configuration in Redis."""


class ApprovalBook:
    """The reader and writer of one link's approved configuration."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._script = store.redis.register_script(load_script("approve_link"))
        self._proven: Approved | None = None
        self._none_to = 0

    async def current(self) -> Approved | None:
        """Return the last approved configuration, or None if no configuration was ever approved.

        The call is fast if no configuration was approved since the last call.

        Raises:
            ForgedError: the approved configuration in Redis differs from the ledger.
            RedisError: Redis failed.
        """
        store = self._store
        digest, entry = cast(
            "list[bytes | None]",
            await store.redis.hmget(store.keys.approved, ["digest", "entry"]),
        )
        if digest is None:
            self._proven = None
            return None
        held = (digest.decode(), (entry or b"").decode())
        if self._proven is None or held != (self._proven.digest, str(self._proven.entry)):
            self._proven = await self._prove(digest.decode())
        return self._proven

    async def _prove(self, held: str) -> Approved:
        """Return the approved configuration, if it agrees with the ledger entry of its approval."""
        store = self._store
        async with store.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(store.keys.approved)
            pipe.hget(store.keys.tallies, "approvals")
            row, approvals = await pipe.execute()
        fields = {name.decode(): value.decode() for name, value in row.items()}
        try:
            found = Approved(
                fields["digest"], fields["text"], fields["by"], fields["at"], int(fields["entry"])
            )
            noted = await self._noted(found.entry)
            approval = _APPROVAL.decode(noted.event)
        except (KeyError, ValueError, msgspec.DecodeError):
            reason = "the approved configuration in Redis is in no ledger entry"
            raise ForgedError(reason, held) from None
        said = (approval.digest, approval.text, noted.by)
        digest = hashlib.sha256(found.text.encode()).hexdigest()
        if said != (digest, found.text, found.by) or digest != found.digest:
            raise ForgedError(
                f"the approved configuration in Redis is not the one in ledger entry {found.entry}",
                held,
            )
        if noted.number != int(approvals or 0):
            raise ForgedError(
                "the approved configuration in Redis is the one in ledger entry"
                f" {found.entry}, which is not the last approval",
                held,
            )
        return found

    async def approve(self, approval: Approval, replaces: str, *, first: bool = False) -> None:
        """Store a configuration as the approved one, and write a ledger entry about it.

        `replaces` is the digest of the approved configuration that the new one replaces. It is
        empty if no configuration was approved before. If `first` is true, the service approves the
        first configuration of the link without a person.

        Raises:
            BooksError: ``stale`` if the approved configuration is no longer the one with the digest
                `replaces`; ``lost`` if `first` is true, but Redis has lost an earlier approval.
            RedisError: Redis failed.
        """
        store = self._store
        if first and await self._was_ever():
            # Two workers can start at the same time. In that case the other worker has approved
            # already.
            raise BooksError("lost" if await self.current() is None else "stale")
        rows = await self._script(
            keys=[*store.fixed_keys, store.keys.approved],
            args=[
                now_text(),
                approval.digest,
                approval.by,
                approval.text,
                msgspec.json.encode(approval),
                replaces,
                "first" if first else "",
            ],
        )
        _done(texts(rows))

    async def _noted(self, entry: int) -> NotedApproval:
        """Return the approval that a ledger entry records.

        If the entry is not later than the checkpoint, return the approval that the checkpoint has.
        A checkpoint is the state of the accounts at the close of a gaming day.

        Raises:
            ValueError, KeyError: the entry is not an approval.
        """
        checkpoint = await self._store.checkpoint()
        if entry <= checkpoint.entries:
            if checkpoint.approval is None or checkpoint.approval.entry != entry:
                raise KeyError(entry)
            return checkpoint.approval
        ((number, fields),) = await self._store.entries(entry - 1, 1)
        if number != entry or fields["kind"] != b"approve":
            raise KeyError(entry)
        return NotedApproval(
            entry, int(fields["seq"]), fields["by"].decode(), fields["event"].decode()
        )

    async def _was_ever(self) -> bool:
        """Check whether the ledger has an approval.

        A ledger that an old release began can lack one.

        A time limit can stop the read of a long ledger. In that case the next call continues where
        this call stopped.
        """
        checkpoint = await self._store.checkpoint()
        if checkpoint.approval is not None:
            return True
        self._none_to = max(self._none_to, checkpoint.entries)
        while page := await self._store.entries(self._none_to, _PAGE):
            if any(fields.get("kind") == b"approve" for _, fields in page):
                return True
            self._none_to = page[-1][0]
        return False


def _done(row: Sequence[str]) -> None:
    if row[0] != "done":
        raise BooksError(row[0])
