"""One link's books in Redis: every change of money through one atomic script."""

from collections.abc import Sequence
from typing import Final, cast

import msgspec

from bonus.settling.holdings import MICROS_PER_CENT
from meters.books.accounts import meter_account
from meters.books.carried import (
    EMPTY,
    Carried,
    proven,
)
from meters.books.keys import LinkKeys
from meters.books.lua import load_script
from meters.books.standing import (
    Act,
    Closure,
    Decided,
    Head,
    LinkState,
    MeterState,
    OpenDay,
    Snapshot,
    TableState,
)
from meters.books.steps import Answer, Step, read_answer
from meters.books.terms import LinkTerms, adopted, terms_text
from meters.failover.shards import AnyRedis, redis_of
from meters.schema import FIELD, schema_problem, version_of
from meters.wire.clock import now_text
from meters.wire.floor import Link

REPLIES_KEPT: Final = 32
"""A table repeats its last event only; a few more replies are kept for what the broker delays."""

FIXED_KEYS: Final = 7
"""The keys that every script is given first."""

_CONTRIBUTED: Final = msgspec.msgpack.Decoder(tuple[tuple[str, int, int, int, int, int, int], ...])
"""What `apply_events` keeps of a round's wagers, meter by meter."""

_LINK_FIELDS: Final = (
    "terms", "closed", "closed_by", "closed_at", "rounds", "desk", "entries", "chain", "day",
    "day_closed",
)  # fmt: skip
TERMS_CHANGED: Final = "the link's terms in the store are no longer those it opened with"


class TermsError(Exception):
    """The link's terms in the store are not those of the floor file, or are gone (duty D10)."""


class BooksError(Exception):
    """Something that a script does not do; nothing was done.

    Attributes:
        status: what it answered, such as ``same_person``.
        detail: what it said beside that, if anything.
    """

    def __init__(self, status: str, detail: str = "") -> None:
        super().__init__(f"{status} {detail}".strip())
        self.status = status
        self.detail = detail


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


class LinkStore:
    """The books of one link.

    Attributes:
        link: the link as it operates: as in the floor file, save for parameters that were changed
            since by proposal.
        terms: the terms of its meters.
        redis: where the books are.
        fixed_keys: the keys that every script is given first.
        head: the last ledger entry that the answer to a batch told of; batches are under way side
            by side, and their answers may come in any order.
    """

    def __init__(self, redis: AnyRedis, link: Link) -> None:
        redis = redis_of(redis, link.id)
        self.link = link
        self.terms = LinkTerms(link)
        self.keys = LinkKeys(link.id)
        self.redis = redis
        self._filed = link
        self.head = Head(0, "")
        self.fixed_keys = (
            self.keys.accounts,
            self.keys.tallies,
            self.keys.meters,
            self.keys.ledger,
            self.keys.waiting,
            self.keys.wins,
            self.keys.acts,
        )
        self._apply = redis.register_script(load_script("apply_events"))
        self._open = redis.register_script(load_script("open_link"))
        self._decide = redis.register_script(load_script("decide_claim"))

    async def open(self, by: str) -> None:
        """Seed meters that have never been; make sure that the others kept their terms.

        A meter whose terms were changed by proposal since the floor file was read keeps them, as
        long as the floor file says what it said then, or the same.

        Raises:
            TermsError: they did not (duties D10, D12).
        """
        stored = (await self.snapshot()).meters
        link = adopted(self._filed, stored)
        terms = LinkTerms(link)
        opening = [
            text
            for meter, filed in zip(link.meter, self._filed.meter, strict=True)
            for text in (
                meter.meter_id,
                terms_text(meter),
                terms_text(filed),
                str(meter.terms.seed_cents * MICROS_PER_CENT),
            )
        ]
        match texts(
            await self._open(
                keys=list(self.fixed_keys), args=[now_text(), terms.digest, by, *opening]
            )
        ):
            case ["open"]:
                self.link, self.terms = link, terms
            case ["schema", version]:
                raise TermsError(self._other_schema(int(version)))
            case ["differs", meter, stored_terms]:
                raise TermsError(
                    f"meter {meter} has other terms in the store, {stored_terms}: set the floor"
                    " file back, and change parameters by proposal while the link is closed"
                )
            case ["lost", meter]:
                raise TermsError(f"the store has lost the terms of meter {meter}")
            case ["dropped", meter]:
                raise TermsError(
                    f"the store holds meter {meter}, which the floor file does not name"
                )

    async def schema(self) -> int | None:
        """The version of the books' layout; None where the link was never opened.

        Raises:
            ValueError: what is noted there is none.
            RedisError: the store failed.
        """
        fields = [FIELD, "terms", "entries"]
        noted, *others = await self.redis.hmget(self.keys.meters, fields)
        return version_of(noted, begun=any(others))

    async def schema_problem(self) -> str | None:
        """Why this release may not work on the books, or None (duty D10).

        Raises:
            ValueError: no version is noted there, but something else.
            RedisError: the store failed.
        """
        return self._other_schema(await self.schema())

    def _other_schema(self, version: int | None) -> str | None:
        return schema_problem(f"the store of link {self.link.id} is", version)

    async def apply(self, steps: Sequence[Step], keys: Sequence[str]) -> list[Answer]:
        """Apply a batch in one atomic step; `keys` are those that the steps' places name.

        Raises:
            TermsError: the link's terms are not those that were opened; nothing was done.
        """
        rows = await self._apply(
            keys=[*self.fixed_keys, *keys],
            args=[
                now_text(),
                self.terms.digest,
                REPLIES_KEPT,
                msgspec.msgpack.encode(steps),
            ],
        )
        head, *answers = rows
        if head == [b"terms"]:
            raise TermsError(TERMS_CHANGED)
        entry, chain = texts(head)
        if int(entry) > self.head.entry:
            self.head = Head(int(entry), chain)
        return [read_answer(row) for row in answers]

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
        envy_back_cents: int = 0,
        slip: str = "",
        limit_cents: int = 0,
    ) -> Decided:
        """Carry one decision on a claim, once.

        Raises:
            TermsError: the link's terms changed.
            WrongStateError: the claim is not where this act needs it.
            BooksError: ``same_person``, ``slip_used`` with the claim, ``books_differ`` or
                ``books_full``.
        """
        rows = await self._decide(
            keys=[*self.fixed_keys, self.keys.claim(claim), self.keys.slips],
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
                envy_back_cents,
                " ".join(slip.casefold().split()),
                limit_cents * MICROS_PER_CENT,
            ],
        )
        match texts(rows):
            case ["done", state, amount, after, entry]:
                return Decided(state, int(amount), int(after), int(entry))
            case ["wrong_state", state, who]:
                raise WrongStateError(state, who)
            case ["unknown_claim"]:
                raise WrongStateError("", "")
            case ["same_person" | "slip_used" | "books_differ" | "books_full" as status, *detail]:
                raise BooksError(status, "".join(detail))
            case _:
                raise TermsError(TERMS_CHANGED)

    async def table_states(self, tables: Sequence[str]) -> list[TableState]:
        """Where some tables stand, read in one round trip."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for table in tables:
                pipe.hmget(
                    self.keys.table(table),
                    ["last", "round", "basis", "wagers", "draw", "contributed", "claims"],
                )
            rows: list[list[bytes | None]] = await pipe.execute()
        return [
            TableState(
                last_seq=int(last or 0),
                open_round=round_id.decode() if round_id else None,
                basis=int(basis or 0),
                wagers=wagers or b"",
                draw=draw or b"null",
                fed=tuple(meter for meter, *_ in _CONTRIBUTED.decode(contributed or b"\x90")),
                claims=tuple((claims or b"").decode().split()),
            )
            for last, round_id, basis, wagers, draw, contributed, claims in rows
        ]

    async def state(self) -> LinkState:
        """The link and every meter, all of one moment.

        Raises:
            TermsError: the terms in the store are not those that the link opened with, or the
                layout is no longer the one that this release works on (duty D10).
        """
        ids = [meter.meter_id for meter in self.link.meter]
        names = (*_LINK_FIELDS, FIELD)
        fields = [f"{name}:{meter}" for meter in ids for name in ("version", "cycle", "pending")]
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hmget(self.keys.accounts, "house", *(meter_account(meter) for meter in ids))
            pipe.hmget(self.keys.meters, *names, *fields)
            (_, *micros), values = await pipe.execute()
        counts = values[len(names) :]
        told = zip(names, values, strict=False)
        link = {name: of.decode() for name, of in told if of is not None}
        if link.get("terms") != self.terms.digest:
            raise TermsError(TERMS_CHANGED)
        if other := self._other_schema(version_of(values[len(names) - 1], begun=True)):
            raise TermsError(other)
        meters = tuple(
            MeterState(
                meter=meter,
                amount_cents=int(micros[place] or 0) // MICROS_PER_CENT,
                version=int(counts[3 * place] or 0),
                cycle=int(counts[3 * place + 1] or 0),
                pending=int(counts[3 * place + 2] or 0) > 0,
            )
            for place, meter in enumerate(ids)
        )
        return LinkState(
            meters=meters,
            closure=Closure(link["closed"], link.get("closed_by", ""), link.get("closed_at", ""))
            if "closed" in link
            else None,
            rounds_open=int(link.get("rounds", "0")),
            desk=int(link.get("desk", "0")),
            head=Head(int(link.get("entries", "0")), link.get("chain", "")),
            day=OpenDay(link.get("day", ""), link.get("day_closed", "")),
        )

    async def snapshot(self) -> Snapshot:
        """All accounts and counts of one moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
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
            await self.redis.xrange(self.keys.ledger, min=f"({after}-0", count=count),
        )
        return [
            (
                int(entry.split(b"-")[0]),
                {name.decode("utf-8", "replace"): value for name, value in fields.items()},
            )
            for entry, fields in rows
        ]

    async def carried(self) -> Carried:
        """The books from which a replay of what the ledger still holds goes on (duty D17).

        Raises:
            CarriedError: they are not those that the day was archived with.
            RedisError: the store failed.
        """
        held = await self._held_over()
        while held:
            text, by = held
            noted = await self.entries(by - 1, 1)
            # It may have been trimmed between the two looks: then others are carried over by now.
            was, held = held, await self._held_over()
            if held == was:
                return proven(text, by, dict(noted))
        return EMPTY

    async def _held_over(self) -> tuple[bytes, int] | None:
        text, by = cast(
            "list[bytes | None]", await self.redis.hmget(self.keys.carried, ["text", "by"])
        )
        return None if text is None else (text, int(by or 0))

    async def claims(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """The fields of some claims, empty where there is none."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for claim in ids:
                pipe.hgetall(self.keys.claim(claim))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [{name.decode(): value.decode() for name, value in row.items()} for row in rows]

    async def waiting(self, limit: int) -> list[str]:
        """The claims that wait for somebody, oldest first."""
        rows = cast("list[bytes]", await self.redis.zrange(self.keys.waiting, 0, limit - 1))
        return [claim.decode() for claim in rows]


def texts(row: Sequence[bytes]) -> list[str]:
    """A script's answer as texts."""
    return [text.decode() for text in row]
