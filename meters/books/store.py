"""One link's books in Redis: every change of money through one atomic script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec
from redis.asyncio import Redis

from bonus.settling.holdings import MICROS_PER_CENT
from meters.books.accounts import meter_account
from meters.books.keys import LinkKeys
from meters.books.lua import load_script
from meters.books.steps import Answer, PaidDue, Status, Step
from meters.books.terms import LinkTerms
from meters.wire.clock import now_text
from meters.wire.floor import Link

REPLIES_KEPT: Final = 32
"""A table repeats its last event only; a few more replies are kept for what the broker delays."""

FIXED_KEYS: Final = 5
"""The keys that every script is given first."""

Act = Literal["validate", "reject", "pay"]


class TermsError(Exception):
    """The link's terms in the store are not those of the floor file, or are gone (duty D10)."""


class WrongStateError(Exception):
    """A claim has been decided already, or is not yet where the act needs it.

    Attributes:
        state: where it is, or empty where there is no such claim.
        by: who brought it there, if anybody.
    """

    def __init__(self, state: str, by: str) -> None:
        super().__init__(state)
        self.state = state
        self.by = by


@dataclass(frozen=True, slots=True)
class TableState:
    """Where a table stands: its last seq, its open round, the claims of its last result."""

    last_seq: int
    open_round: str | None
    basis: int
    wagers: bytes
    draw: bytes
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeterState:
    """A meter as the store has it; the amount in cents, without fractions."""

    meter: str
    amount_cents: int
    version: int
    cycle: int
    pending: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A link's accounts in micros and its counts, all of one moment."""

    accounts: dict[str, int]
    tallies: dict[str, int]
    meters: dict[str, str]

    @property
    def last_entry(self) -> int:
        """The number of the last ledger entry."""
        return int(self.meters.get("entries", "0"))


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision came to, in cents."""

    state: str
    amount_cents: int
    meter_after_cents: int
    entry: int


class LinkStore:
    """The books of one link."""

    def __init__(self, redis: Redis, link: Link) -> None:
        self.link = link
        self.terms = LinkTerms(link)
        self.keys = LinkKeys(link.id)
        self._redis = redis
        self._fixed = (
            self.keys.accounts,
            self.keys.tallies,
            self.keys.meters,
            self.keys.ledger,
            self.keys.waiting,
        )
        self._apply = redis.register_script(load_script("apply_events"))
        self._open = redis.register_script(load_script("open_link"))
        self._decide = redis.register_script(load_script("decide_claim"))

    async def open(self, by: str) -> None:
        """Seed meters that have never been; make sure that the others kept their terms.

        Raises:
            TermsError: they did not (duties D10, D12).
        """
        match _texts(
            await self._open(
                keys=list(self._fixed),
                args=[now_text(), self.terms.digest, by, *self.terms.opening],
            )
        ):
            case ["differs", meter, stored]:
                raise TermsError(
                    f"meter {meter} has other terms in the store, {stored}: no parameter changes"
                    " while the link operates"
                )
            case ["lost", meter]:
                raise TermsError(f"the store has lost the terms of meter {meter}")
            case ["dropped", meter]:
                raise TermsError(
                    f"the store holds meter {meter}, which the floor file does not name"
                )

    async def apply(self, steps: Sequence[Step], keys: Sequence[str]) -> list[Answer]:
        """Apply a batch in one atomic step; `keys` are those that the steps' places name.

        Raises:
            TermsError: the link's terms are not those that were opened; nothing was done.
        """
        rows = await self._apply(
            keys=[*self._fixed, *keys],
            args=[
                now_text(),
                self.terms.digest,
                REPLIES_KEPT,
                msgspec.msgpack.encode(steps),
            ],
        )
        if rows and rows[0][0] == b"terms":
            raise TermsError("the link's terms in the store are no longer those it opened with")
        return [_answer(row) for row in rows]

    async def decide(
        self,
        claim: str,
        act: Act,
        by: str,
        event: bytes,
        *,
        table: str,
        round_id: str,
        meter: str,
        percent: bool,
        hand_pay: bool,
    ) -> Decided:
        """Carry one decision on a claim, once.

        Raises:
            TermsError: the link's terms changed.
            WrongStateError: the claim is not where this act needs it.
        """
        rows = await self._decide(
            keys=[*self._fixed, self.keys.claim(claim)],
            args=[
                now_text(),
                self.terms.digest,
                claim,
                act,
                by,
                table,
                round_id,
                meter,
                "1" if percent else "",
                "1" if hand_pay else "",
                event,
            ],
        )
        match _texts(rows):
            case ["done", state, amount, after, entry]:
                return Decided(state, int(amount), int(after), int(entry))
            case ["wrong_state", state, who]:
                raise WrongStateError(state, who)
            case ["unknown_claim"]:
                raise WrongStateError("", "")
            case _:
                raise TermsError("the link's terms in the store are no longer those it opened with")

    async def table_states(self, tables: Sequence[str]) -> list[TableState]:
        """Where some tables stand, read in one round trip."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for table in tables:
                pipe.hmget(
                    self.keys.table(table), ["last", "round", "basis", "wagers", "draw", "claims"]
                )
            rows: list[list[bytes | None]] = await pipe.execute()
        return [
            TableState(
                last_seq=int(last or 0),
                open_round=round_id.decode() if round_id else None,
                basis=int(basis or 0),
                wagers=wagers or b"",
                draw=draw or b"null",
                claims=tuple((claims or b"").decode().split()),
            )
            for last, round_id, basis, wagers, draw, claims in rows
        ]

    async def state(self) -> list[MeterState]:
        """The link's terms and every meter, all of one moment.

        Raises:
            TermsError: the terms in the store are not those that the link opened with (D10).
        """
        ids = [meter.meter_id for meter in self.link.meter]
        fields = [f"{name}:{meter}" for meter in ids for name in ("version", "cycle", "pending")]
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hmget(self.keys.accounts, "house", *(meter_account(meter) for meter in ids))
            pipe.hmget(self.keys.meters, "terms", *fields)
            (_, *micros), (terms, *counts) = await pipe.execute()
        if (terms or b"").decode() != self.terms.digest:
            raise TermsError("the link's terms in the store are no longer those it opened with")
        return [
            MeterState(
                meter=meter,
                amount_cents=int(micros[at] or 0) // MICROS_PER_CENT,
                version=int(counts[3 * at] or 0),
                cycle=int(counts[3 * at + 1] or 0),
                pending=int(counts[3 * at + 2] or 0) > 0,
            )
            for at, meter in enumerate(ids)
        ]

    async def last_entry(self) -> int:
        """The number of the last ledger entry."""
        return int(await self._redis.hget(self.keys.meters, "entries") or 0)

    async def snapshot(self) -> Snapshot:
        """All accounts and counts of one moment."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(self.keys.accounts)
            pipe.hgetall(self.keys.tallies)
            pipe.hgetall(self.keys.meters)
            accounts, tallies, meters = await pipe.execute()
        return Snapshot(
            accounts={name.decode(): int(value) for name, value in accounts.items()},
            tallies={name.decode(): int(value) for name, value in tallies.items()},
            meters={name.decode(): value.decode() for name, value in meters.items()},
        )

    async def entries(self, after: int, count: int) -> list[tuple[int, dict[str, bytes]]]:
        """Up to `count` ledger entries that follow entry `after`, with their numbers."""
        rows = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            await self._redis.xrange(self.keys.ledger, min=f"({after}-0", count=count),
        )
        return [
            (int(entry.split(b"-")[0]), {name.decode(): value for name, value in fields.items()})
            for entry, fields in rows
        ]

    async def claims(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """The fields of some claims, empty where there is none."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for claim in ids:
                pipe.hgetall(self.keys.claim(claim))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [{name.decode(): value.decode() for name, value in row.items()} for row in rows]

    async def waiting(self, limit: int) -> list[str]:
        """The claims that wait for somebody, oldest first."""
        rows = cast("list[bytes]", await self._redis.zrange(self.keys.waiting, 0, limit - 1))
        return [claim.decode() for claim in rows]

    async def waiting_since(self) -> tuple[int, str | None]:
        """How many claims wait for somebody, and since when the oldest does."""
        count = int(await self._redis.zcard(self.keys.waiting))
        oldest = await self.claims(await self.waiting(1)) if count else []
        return count, oldest[0].get("at") if oldest else None


def _texts(row: Sequence[bytes]) -> list[str]:
    return [text.decode() for text in row]


def _answer(row: Sequence[bytes | list[tuple[bytes, bytes, bytes]]]) -> Answer:
    match row:
        case [bytes(status), bytes(reply), list(dues)]:
            paid = tuple(
                PaidDue(int(amount), int(after), int(entry)) for amount, after, entry in dues
            )
            return Answer(Status(status.decode()), reply, paid)
        case [bytes(status), bytes(text)]:
            return Answer(Status(status.decode()), text)
        case [bytes(status)]:
            return Answer(Status(status.decode()))
        case _:
            raise TypeError(f"the script answered {row!r}")
