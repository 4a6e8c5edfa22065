"""One link's books in Redis. Each change of money is made by one atomic script."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.books.accounts import meter_account
from meters.books.checkpoint import (
    EMPTY,
    Checkpoint,
    proven,
)
from meters.books.correction_requests import Ask, AskAct
from meters.books.dealt_cards import DEALT_KEPT
from meters.books.link_state import (
    Act,
    Closure,
    DecisionResult,
    EnvyAct,
    LedgerHead,
    LinkState,
    MeterState,
    OpenDay,
    Snapshot,
    TableRecord,
)
from meters.books.money_terms import LinkTerms, adopted, terms_text
from meters.books.schema import FIELD, schema_problem, version_of
from meters.books.script_loader import load_script
from meters.books.script_steps import (
    EnvyCents,
    RoundContribution,
    ScriptAnswer,
    ScriptStep,
    read_answer,
)
from meters.books.slip_numbers import SlipRegister, fold_in_link
from meters.books.two_people import NO_SETTERS, PinSetters
from meters.floor.floor_file import Link
from meters.redis_client.health import run_synced
from meters.redis_client.link_keys import LinkKeys
from meters.redis_client.shards import AnyRedis, redis_of
from meters.wire.clock import now_text

REPLIES_KEPT: Final = 32
"""A table repeats only its last event. More replies are kept for delays of the broker."""

FIXED_KEYS: Final = 7
"""Count of the keys that every script receives first."""

CONTRIBUTED: Final = msgspec.msgpack.Decoder(tuple[RoundContribution, ...])
"""The contributions of a round's wagers, meter by meter, as `apply_events` keeps them."""

_LINK_FIELDS: Final = (
    "terms", "closed", "closed_by", "closed_at", "rounds", "desk", "entries", "chain", "day",
    "day_closed",
)  # fmt: skip
TERMS_CHANGED: Final = "the link's terms in the store are no longer those it opened with"


class TermsError(Exception):
    """The link's terms in the store are not those of the floor file, or are missing (duty D10)."""


class BooksError(Exception):
    """A refusal of a script; nothing was done.

    Attributes:
        status: its answer, such as ``same_person``.
        detail: the rest of its answer, if anything.
        setter: with ``same_person``: the person who set a PIN, empty if it is the same name.
    """

    def __init__(self, status: str, detail: str = "", setter: str = "") -> None:
        super().__init__(f"{status} {detail}".strip())
        self.status = status
        self.detail = detail
        self.setter = setter


class WrongStateError(Exception):
    """A claim has been decided already, or is not yet in the state that the act needs.

    Attributes:
        state: its state, or empty if there is no such claim.
        by: the person who set that state, if there is one.
    """

    def __init__(self, state: str, by: str) -> None:
        super().__init__(state)
        self.state = state
        self.by = by


class LinkStore:
    """The books of one link.

    Attributes:
        link: the link in operation: as in the floor file, except for parameters that a proposal
            changed since.
        terms: the terms of its meters.
        redis: the Redis that has the books.
        fixed_keys: the keys that every script receives first.
        slip_register: the reserved numbers of payout slips, over all links.
        must_keep: whether a batch is answered only if Redis syncs every write; a service sets it.
        head: the latest ledger entry in the answers to batches. Batches run in parallel, and their
            answers may come in any order.
    """

    def __init__(self, redis: AnyRedis, link: Link) -> None:
        self.slip_register = SlipRegister(redis)
        redis = redis_of(redis, link.id)
        self.link = link
        self.terms = LinkTerms(link)
        self.keys = LinkKeys(link.id)
        self.redis = redis
        self._filed = link
        self.head = LedgerHead(0, "")
        self.must_keep = False
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
        self._decide_envy = redis.register_script(load_script("decide_envy"))
        self._decide_ask = redis.register_script(load_script("decide_ask"))

    async def open(self, by: str) -> None:
        """Seed new meters, and check that the other meters kept their terms.

        A proposal may have changed a meter's terms since the floor file was read. The meter keeps
        these terms if the floor file has the old terms still, or has the same terms.

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
        """Return the version of the books' layout; None if the link was never opened.

        Raises:
            ValueError: the value is not a version.
            RedisError: the store failed.
        """
        fields = [FIELD, "terms", "entries"]
        noted, *others = await self.redis.hmget(self.keys.meters, fields)
        return version_of(noted, begun=any(others))

    async def schema_problem(self) -> str | None:
        """Return why this release may not work on the books, or None if it may (duty D10).

        Raises:
            ValueError: the value there is not a version.
            RedisError: the store failed.
        """
        return self._other_schema(await self.schema())

    def _other_schema(self, version: int | None) -> str | None:
        return schema_problem(f"the store of link {self.link.id} is", version)

    async def apply(self, steps: Sequence[ScriptStep], keys: Sequence[str]) -> list[ScriptAnswer]:
        """Apply a batch in one atomic step. `keys` are the keys that the steps' places refer to.

        Raises:
            TermsError: the link's terms are not those that were opened; nothing was done.
            NotSyncedError: Redis may lose the changes: the replies must not be sent.
        """
        every = [*self.fixed_keys, *keys, self.keys.asks, self.keys.dealt]
        args: list[str | int | bytes] = [now_text(), self.terms.digest, REPLIES_KEPT]
        args += [msgspec.msgpack.encode(steps), DEALT_KEPT]
        if self.must_keep:
            rows = await run_synced(self._apply, every, args)
        else:
            rows = await self._apply(keys=every, args=args)
        head, *answers = rows
        if head == [b"terms"]:
            raise TermsError(TERMS_CHANGED)
        entry, chain, in_ledger = texts(head)
        if int(entry) > self.head.entry or not self.head.in_ledger:
            self.head = LedgerHead(int(entry), chain, in_ledger == "1")
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
        envy_cents: int = 0,
        owed: Sequence[EnvyCents] = (),
        slip: str = "",
        limit_cents: int = 0,
        setters: PinSetters = NO_SETTERS,
    ) -> DecisionResult:
        """Apply one decision on a claim, once.

        `owed` are the cents of its Envy Bonuses by meter. `envy_cents` is their sum if a rejection
        finds that they are not due, or if they were paid together with the win. Otherwise it is 0.

        Raises:
            TermsError: the link's terms changed.
            WrongStateError: the claim is not in the state that this act needs.
            BooksError: ``same_person`` with the validator and the person who set a PIN,
                ``slip_used`` with the claim, ``envy_decided``, ``books_differ`` or ``books_full``.
        """
        rows = await self._decide(
            keys=[
                *self.fixed_keys,
                self.keys.claim(claim),
                self.keys.slips,
                self.keys.table(table),
            ],
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
                envy_cents,
                fold_in_link(slip),
                limit_cents * MICROS_PER_CENT,
                setters.text,
                msgspec.msgpack.encode(owed),
            ],
        )
        state, amount, after, entry = _decided(rows)
        return DecisionResult(state, int(amount), int(after), int(entry))

    async def decide_envy(
        self,
        claim: str,
        act: EnvyAct,
        by: str,
        event: bytes,
        *,
        table: str,
        round_id: str,
        only_envy: bool,
        hand_pay: bool,
        owed: Sequence[EnvyCents],
    ) -> int:
        """Settle the Envy Bonuses that are owed under a claim, once; return the ledger entry.

        Raises:
            TermsError: the link's terms changed.
            WrongStateError: they are not owed.
            BooksError: ``books_differ`` or ``books_full``.
        """
        rows = await self._decide_envy(
            keys=[*self.fixed_keys, self.keys.claim(claim)],
            args=[
                now_text(),
                self.terms.digest,
                claim,
                act,
                by,
                table,
                round_id,
                "1" if only_envy else "",
                "1" if hand_pay else "",
                msgspec.msgpack.encode(owed),
                event,
            ],
        )
        _, _, entry = _decided(rows)
        return int(entry)

    async def decide_ask(
        self, ask: Ask, act: AskAct, by: str, event: bytes, *, refusal: str = ""
    ) -> int:
        """Confirm or refuse a correction request, once; return the ledger entry.

        `refusal` is the part after the number of the reply to the table's next try.

        Raises:
            TermsError: the link's terms changed.
            WrongStateError: the table asks for it no longer, or it was decided already.
        """
        rows = await self._decide_ask(
            keys=[*self.fixed_keys, self.keys.asks],
            args=[
                now_text(),
                self.terms.digest,
                ask.ask,
                act,
                by,
                ask.table,
                ask.correction.round,
                ask.correction.digest,
                refusal,
                event,
            ],
        )
        (entry,) = _decided(rows)
        return int(entry)

    async def asks(self) -> dict[str, str]:
        """Return the correction requests by table, and their decisions, as the store keeps them."""
        rows = cast("dict[bytes, bytes]", await self.redis.hgetall(self.keys.asks))
        return _decoded(rows)

    async def asks_at(self) -> tuple[int, dict[str, str]]:
        """Return the same, and the last ledger entry of that moment."""
        entries, (row,) = await self._hashes_at([self.keys.asks])
        return entries, _decoded(row)

    async def table_states(self, tables: Sequence[str]) -> list[TableRecord]:
        """Return the state of some tables, read in one round trip."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for table in tables:
                pipe.hmget(
                    self.keys.table(table),
                    ["last", "round", "basis", "wagers", "draw", "contributed", "claims"],
                )
            rows: list[list[bytes | None]] = await pipe.execute()
        return [
            TableRecord(
                last_seq=int(last or 0),
                open_round=round_id.decode() if round_id else None,
                basis=int(basis or 0),
                wagers=wagers or b"",
                draw=draw or b"null",
                fed=tuple(one.meter for one in CONTRIBUTED.decode(contributed or b"\x90")),
                claims=tuple((claims or b"").decode().split()),
            )
            for last, round_id, basis, wagers, draw, contributed, claims in rows
        ]

    async def state(self) -> LinkState:
        """Return the link and all its meters at one moment.

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
            pipe.xrevrange(self.keys.ledger, count=1)
            (_, *micros), values, last = await pipe.execute()
        counts = values[len(names) :]
        fields_read = zip(names, values, strict=False)
        link = {name: of.decode() for name, of in fields_read if of is not None}
        if link.get("terms") != self.terms.digest:
            raise TermsError(TERMS_CHANGED)
        if other := self._other_schema(version_of(values[len(names) - 1], begun=True)):
            raise TermsError(other)
        meters = tuple(
            MeterState(
                meter=meter,
                amount_cents=int(micros[index] or 0) // MICROS_PER_CENT,
                version=int(counts[3 * index] or 0),
                cycle=int(counts[3 * index + 1] or 0),
                pending=int(counts[3 * index + 2] or 0) > 0,
            )
            for index, meter in enumerate(ids)
        )
        return LinkState(
            meters=meters,
            closure=Closure(link["closed"], link.get("closed_by", ""), link.get("closed_at", ""))
            if "closed" in link
            else None,
            rounds_open=int(link.get("rounds", "0")),
            desk=int(link.get("desk", "0")),
            head=_head(int(link.get("entries", "0")), link.get("chain", ""), last),
            day=OpenDay(link.get("day", ""), link.get("day_closed", "")),
        )

    async def snapshot(self, *, indexes: bool = False) -> Snapshot:
        """Return all accounts and counts of one moment. With `indexes`, return the indexes too."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(self.keys.accounts)
            pipe.hgetall(self.keys.tallies)
            pipe.hgetall(self.keys.meters)
            if indexes:
                pipe.zrange(self.keys.waiting, 0, -1, withscores=True)
                pipe.zrange(self.keys.wins, 0, -1)
                pipe.hgetall(self.keys.slips)
                pipe.zrange(self.keys.acts, 0, -1, withscores=True)
                pipe.zrange(self.keys.proposals, 0, -1, withscores=True)
                pipe.hgetall(self.keys.approved)
                # ZCOUNT is not used, because the Redis ACL of an earlier release does not allow it.
                pipe.zrevrangebyscore(self.keys.wins, "+inf", "(0")
                pipe.zrevrangebyscore(self.keys.wins, "(0", "-inf")
            accounts, tallies, meters, *rest = await pipe.execute()
        waiting, wins, slips, acts, proposals, approved, *misplaced = rest or (
            [], [], {}, [], [], {},
        )  # fmt: skip
        return Snapshot(
            accounts={name.decode(): int(value) for name, value in accounts.items()},
            tallies={name.decode(): int(value) for name, value in tallies.items()},
            meters=_decoded(meters),
            waiting={claim.decode(): int(entry) for claim, entry in waiting},
            wins=frozenset(member.decode() for member in wins),
            slips=_decoded(slips),
            acts={act.decode(): int(order) for act, order in acts},
            misplaced=sum(map(len, misplaced)),
            proposals={proposal.decode(): int(entry) for proposal, entry in proposals},
            approved=_decoded(approved),
        )

    async def _hashes_at(self, keys: Iterable[str]) -> tuple[int, list[dict[bytes, bytes]]]:
        """Read some hashes, and the last ledger entry of that moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hget(self.keys.meters, "entries")
            for key in keys:
                pipe.hgetall(key)
            entries, *rows = await pipe.execute()
        return int(entries or 0), rows

    async def claims_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the fields of some claims, and the last ledger entry of that moment."""
        entries, rows = await self._hashes_at(map(self.keys.claim, ids))
        return entries, [_decoded(row) for row in rows]

    async def proposals_at(self, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        """Return the fields of some proposals, and the last ledger entry of that moment."""
        entries, rows = await self._hashes_at(map(self.keys.proposal, ids))
        return entries, [_decoded(row) for row in rows]

    async def tables_at(
        self, tables: Sequence[str], fields: Sequence[str]
    ) -> tuple[int, list[list[bytes | None]]]:
        """Return some fields of some tables, and the last ledger entry of that moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hget(self.keys.meters, "entries")
            for table in tables:
                pipe.hmget(self.keys.table(table), list(fields))
            entries, *rows = await pipe.execute()
        return int(entries or 0), rows

    async def whole_tables_at(self, tables: Sequence[str]) -> tuple[int, list[dict[str, bytes]]]:
        """Return all fields of some tables, and the last ledger entry of that moment."""
        entries, rows = await self._hashes_at(map(self.keys.table, tables))
        return entries, [
            {name.decode("utf-8", "replace"): value for name, value in row.items()} for row in rows
        ]

    async def entries(self, after: int, count: int) -> list[tuple[int, dict[str, bytes]]]:
        """Return up to `count` ledger entries that follow entry `after`, with their numbers."""
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

    async def last_entry(self) -> int:
        """Return the number of the ledger's last entry, or of the checkpoint's if it is empty."""
        rows = cast(
            "list[tuple[bytes, object]]", await self.redis.xrevrange(self.keys.ledger, count=1)
        )
        return int(rows[0][0].split(b"-")[0]) if rows else (await self.checkpoint()).entries

    async def checkpoint(self) -> Checkpoint:
        """Return the checkpoint from which a replay of the store's entries continues (duty D17).

        Raises:
            CheckpointError: it is not the one with which the day was archived.
            RedisError: the store failed.
        """
        held = await self._held_over()
        while held:
            text, by = held
            noted = await self.entries(by - 1, 1)
            # The entry may have been trimmed between the two reads. Then there is another
            # checkpoint.
            was, held = held, await self._held_over()
            if held == was:
                return proven(text, by, dict(noted))
        return EMPTY

    async def _held_over(self) -> tuple[bytes, int] | None:
        text, by = cast(
            "list[bytes | None]", await self.redis.hmget(self.keys.checkpoint, ["text", "by"])
        )
        return None if text is None else (text, int(by or 0))

    async def claims(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return the fields of some claims, empty if there is no such claim."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for claim in ids:
                pipe.hgetall(self.keys.claim(claim))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [_decoded(row) for row in rows]

    async def waiting(self, limit: int = 0) -> list[str]:
        """Return the waiting claims, oldest first; up to `limit`, or all of them."""
        rows = cast("list[bytes]", await self.redis.zrange(self.keys.waiting, 0, limit - 1))
        return [claim.decode() for claim in rows]


def _decided(rows: Sequence[bytes]) -> list[str]:
    """Return the answer of a decision's script after ``done``; raise its refusal."""
    match texts(rows):
        case ["done", *result]:
            return result
        case ["terms"]:
            raise TermsError(TERMS_CHANGED)
        case ["wrong_state", state, who]:
            raise WrongStateError(state, who)
        case ["unknown_claim" | "unknown_ask"]:
            raise WrongStateError("", "")
        case [status, *detail]:
            raise BooksError(status, *detail)
    raise TypeError(f"the script answered {rows!r}")


def _decoded(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}


def texts(row: Sequence[bytes]) -> list[str]:
    """Return a script's answer as texts."""
    return [text.decode() for text in row]


def _head(
    entry: int, chain: str, last: Sequence[tuple[bytes, Mapping[bytes, bytes]]]
) -> LedgerHead:
    """Make the head from its fields, and check that the ledger's last entry is that one."""
    had = [(id_.decode(), fields.get(b"chain", b"").decode()) for id_, fields in last]
    return LedgerHead(entry, chain, had == ([(f"{entry}-0", chain)] if entry else []))
