"""Approvals of the part of the floor file that is about a link (duties D4, D10, D12).

`floor_file_approval.py` decides whether one person or two people must approve. The ledger has each
approval. Until the second person approves, or another approval replaces the first one, Redis has
the number of the first approval's ledger entry.
"""

import hashlib
from dataclasses import dataclass
from typing import cast

import msgspec

from meters.ledger.floor_approvals import APPROVAL, HALF, Approval, HalfApproval, NotedApproval
from meters.ledger.two_people import NO_SETTERS, PinSetters, why_one_person
from meters.store.link_store import BooksError, LinkStore, done


@dataclass(frozen=True, slots=True)
class Waiting:
    """The first of two approvals, while it waits for the second.

    `entry` is the number of its ledger entry, as Redis has it; empty if no approval waits. If the
    ledger entry cannot be read, `half` is None, and the approval does not count.
    """

    entry: str = ""
    at: str = ""
    half: HalfApproval | None = None

    def counts_for(self, digest: str, replaces: str, after: int) -> bool:
        """Check if this first approval still counts for the configuration with the digest `digest`.

        `replaces` and `after` must also be the same as at the first approval. `replaces` is the
        digest of the approved configuration. `after` is the order of the last approval that had one
        of the link's tables.
        """
        half = self.half
        return half is not None and (half.digest, half.replaces, half.after) == (
            digest,
            replaces,
            after,
        )


class Approved(Approval, frozen=True, kw_only=True):
    """The approved configuration of a link: its last approval, with its time and ledger entry."""

    at: str
    entry: int


class ForgedError(Exception):
    """The approved configuration in Redis differs from the ledger."""

    def __init__(self, reason: str, held: str) -> None:
        super().__init__(reason)
        self.held = held
        """The digest of the approved configuration in Redis."""


class ApprovalBook:
    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._proven: Approved | None = None

    async def current(self) -> Approved | None:
        """Return the last approved configuration.

        If Redis has the same one as at the last call, the ledger is not read again.

        Raises:
            ForgedError: the approved configuration in Redis differs from the ledger.
        """
        store = self._store
        digest, *where = cast(
            "list[bytes | None]",
            await store.redis.hmget(store.keys.approved, ["digest", "entry", "at"]),
        )
        if digest is None:
            self._proven = None
            return None
        held = [(one or b"").decode("utf-8", "replace") for one in (digest, *where)]
        known = self._proven
        if known is None or held != [known.digest, str(known.entry), known.at]:
            self._proven = await self._prove(held[0])
        return self._proven

    async def _prove(self, held: str) -> Approved:
        store = self._store
        async with store.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(store.keys.approved)
            pipe.hget(store.keys.tallies, "approvals")
            row, approvals = await pipe.execute()
        try:
            fields = {name.decode(): value.decode() for name, value in row.items()}
            noted = await self._noted(int(fields["entry"]))
            approval = APPROVAL.decode(noted.event)
            said = (fields["digest"], fields["text"], fields["by"])
            at, entry = fields["at"], noted.entry
        except (KeyError, ValueError, msgspec.DecodeError):
            reason = "the approved configuration in Redis is in no ledger entry"
            raise ForgedError(reason, held) from None
        digest = hashlib.sha256(approval.text.encode()).hexdigest()
        noted_there = (digest, approval.text, noted.by)
        if not said == noted_there == (approval.digest, approval.text, approval.by):
            raise ForgedError(
                f"the approved configuration in Redis is not the one in ledger entry {entry}", held
            )
        if noted.number != int(approvals or 0):
            raise ForgedError(
                "the approved configuration in Redis is the one in ledger entry"
                f" {entry}, which is not the last approval",
                held,
            )
        return Approved(**msgspec.structs.asdict(approval), at=at, entry=entry)

    async def last_noted(self) -> Approval | None:
        """Return the last approval in the ledger, even if Redis has another approved configuration.

        Raises:
            CheckpointError: the checkpoint is damaged.
        """
        noted = (await self._store.checkpoint()).approval
        event = noted.event if noted else None
        async for _, fields in self._store.every_act():
            if fields.get("kind") == "approve":
                event = fields["event"]
                break
        try:
            return APPROVAL.decode(event) if event else None
        except msgspec.DecodeError:
            return None

    async def waiting(self) -> Waiting:
        """Return the first approval that waits for a second one, as the ledger has it."""
        store = self._store
        entry = cast("bytes | None", await store.redis.hget(store.keys.approved, "first"))
        if entry is None:
            return Waiting()
        number = int(entry) if entry.isdigit() else 0
        found = await store.entries(number - 1, 1) if number else []
        for noted, fields in found:
            if noted == number and fields["kind"] == b"approve_first":
                half = HALF.decode(fields["event"])
                if half.by == fields["by"].decode():
                    return Waiting(str(number), fields["at"].decode(), half)
        # The entry is archived, or somebody altered Redis: the approval does not count.
        return Waiting(entry.decode())

    async def approve_alone(
        self,
        approval: Approval,
        replaces: str,
        *,
        of_empty_link: bool = True,
        terms: str = "",
        continues: str = "",
    ) -> None:
        """Store a configuration as the approved one, and write a ledger entry about it.

        `replaces` is the digest of the previous approved configuration, or empty. With
        `of_empty_link`, the link must not have any ledger entry. Otherwise, `terms` and `continues`
        are checked if they are not empty. The link's terms must still have the digest `terms`. The
        last approval must still have the ledger entry and the time in `continues`.

        Raises:
            BooksError: ``stale`` if somebody has approved since `replaces` was read, or if one of
            these conditions does not hold.
        """
        mode = "empty" if of_empty_link else "alone"
        done(await self._run(mode, approval, replaces, await self.waiting(), terms, continues))

    async def approve_first(
        self, approval: Approval, replaces: str, after: int, waiting: Waiting
    ) -> None:
        """Note the first of two approvals in the ledger. Nothing else changes.

        `after` is the order of the last approval that had one of the link's tables. If an earlier
        first approval still waits, `waiting` is that approval, and the new one replaces it.

        Raises:
            BooksError: ``stale`` if somebody has approved since `replaces` and `waiting` were read.
        """
        half = HalfApproval(
            approval.digest, replaces, approval.by, approval.changed, approval.pin_set_by, after
        )
        done(await self._run("first", approval, replaces, waiting, event=half))

    async def approve_second(
        self, approval: Approval, replaces: str, waiting: Waiting, setters: PinSetters
    ) -> None:
        """Store a configuration as the approved one, as the second of two people.

        Raises:
            BooksError: ``stale`` as for the first approval. ``same_person``, with the reason: one
                person could have made both approvals (duty D4).
        """
        answer = await self._run("second", approval, replaces, waiting, setters=setters)
        if answer[0] == "same_person":
            _, first, setter = answer
            by = approval.by
            reason = why_one_person(first, by, setter, did="approved it first", does="approve too")
            raise BooksError("same_person", reason)
        done(answer)

    async def _run(  # noqa: PLR0917
        self,
        mode: str,
        approval: Approval,
        replaces: str,
        waiting: Waiting,
        terms: str = "",
        continues: str = "",
        *,
        event: Approval | HalfApproval | None = None,
        setters: PinSetters = NO_SETTERS,
    ) -> list[str]:
        store, half = self._store, waiting.half
        return await store.call(
            "approve_link",
            approval.digest,
            approval.by,
            approval.text,
            msgspec.json.encode(event or approval),
            replaces,
            mode,
            waiting.entry,
            half.by if half else "",
            msgspec.json.encode(half) if half else "{}",
            setters.text,
            terms,
            continues,
            keys=[store.keys.approved],
        )

    async def _noted(self, entry: int) -> NotedApproval:
        """Return the approval that a ledger entry records; an archived one is in the checkpoint.

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
