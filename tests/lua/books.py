"""One link's books for the tests of the scripts, changed by individually written steps."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar, cast

import msgspec
import pytest
from redis.asyncio import Redis

from bonus.wagers import Percent, percent_bps
from meters.floor.floor_file import Link, parse_floor
from meters.ledger.claim_records import ClaimRecord, OwedEnvy
from meters.ledger.entry_messages import DecisionRecord
from meters.ledger.link_state import Act, DecisionResult, EnvyAct
from meters.ledger.script_steps import (
    Contribution,
    DueStep,
    EnvyStep,
    Kind,
    PercentStep,
    ReplyParts,
    ReplyWork,
    ResultWork,
    ScriptAnswer,
    ScriptStep,
    Status,
    WagersWork,
    Work,
    contributions_text,
    reply_text,
)
from meters.store.link_acts import decide_claim, decide_envy
from meters.store.link_store import APPLY_KEYS, BooksError, LinkStore
from tests.floor_text import floor_text, link_text, meter_text, table_text

MAX: Final = 9_007_199_254_740_991
"""Largest possible balance, 2^53 - 1 micros."""

CENT: Final = 10_000
SEED: Final = 100_000 * CENT
"""First balance of the progressive meter."""

METER: Final = "progressive"
BONUS: Final = "five_card_hand_bonus"


def books_floor(*meters: str, feeds: Sequence[str] = (METER, BONUS)) -> str:
    link = link_text(
        "lua", *meters, table_text("T-1", *feeds, asset="1"), name="Three Card Poker Jackpot"
    )
    return floor_text(link, name="Keystone Casino")


FLOOR: Final = books_floor(meter_text(METER), meter_text(BONUS))
OTHER_TERMS: Final = books_floor(meter_text(METER, paytable="B"), meter_text(BONUS))
"""The same link, whose progressive has another paytable."""

Keyspace = dict[str, object]
Error = TypeVar("Error", bound=Exception)


def link_of(text: str = FLOOR) -> Link:
    return parse_floor(text).link[0]


class Step(ScriptStep, frozen=True, array_like=True):
    """An event for the script, and the reply to it, which the script does not get."""

    reply: ReplyParts = ()


def _record(claim: str, *owed: tuple[str, int], hand_pay: bool = True) -> ClaimRecord:
    """Make the record of a claim of a percentage of the meter."""
    return ClaimRecord(
        claim, "lua", METER, "T-1", "1", 1, None, METER, "", (), (), (), "10",
        "hand_pay" if hand_pay else "table_inventory", "", 100, "R1", 1, 1, (),
        tuple(OwedEnvy(2, None, METER, cents, meter) for meter, cents in owed),
    )  # fmt: skip


class Books:
    def __init__(self, redis: Redis, link: Link | None = None) -> None:
        self.redis = redis
        self.store = LinkStore(redis, link or link_of())
        self.keys = self.store.keys

    async def apply(self, *steps: ScriptStep) -> list[ScriptAnswer]:
        """Apply steps as one batch, after filling in the positions of their keys."""
        keys: list[str] = []
        placed = []
        for step in steps:
            work = step.work
            if isinstance(work, ResultWork):
                dues = []
                for due in work.dues:
                    if due.claim:
                        keys.append(self.keys.claim(due.claim))
                    key = APPLY_KEYS + len(keys) if due.claim else 0
                    dues.append(msgspec.structs.replace(due, claim_key=key))
                envy = []
                for one in work.envy:
                    keys.append(self.keys.claim(one.claim))
                    place_of_claim = APPLY_KEYS + len(keys)
                    envy.append(msgspec.structs.replace(one, claim_key=place_of_claim))
                work = msgspec.structs.replace(work, dues=tuple(dues), envy=tuple(envy))
            fields = {name: getattr(step, name) for name in ScriptStep.__struct_fields__}
            placed.append(ScriptStep(**fields | {"work": work}))
        replies = [one.reply if isinstance(one, Step) else () for one in steps]
        events = [f'{{"seq":{one.seq},"type":"{one.kind}"}}'.encode() for one in steps]
        texts = list(zip(events, replies, strict=True))
        answers = (await self.store.apply(placed, texts, keys)).answers
        return [
            msgspec.structs.replace(
                answer, text=reply_text(reply, [due.amount_cents for due in answer.paid]).decode()
            )
            if answer.status is Status.ACCEPTED
            else answer
            for reply, answer in zip(replies, answers, strict=True)
        ]

    async def one(self, step: ScriptStep) -> ScriptAnswer:
        return (await self.apply(step))[0]

    async def accept(self, *steps: ScriptStep) -> list[ScriptAnswer]:
        answers = [await self.one(step) for step in steps]
        assert [answer.status for answer in answers] == [Status.ACCEPTED] * len(steps)
        return answers

    async def apply_both_ways(
        self, *batches: Sequence[ScriptStep]
    ) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Apply batches to a new ledger, then their steps one by one to another new ledger.

        Check that all steps are accepted, and that both ways leave the same data. Return the
        balances in micros that are not 0, and the tallies.
        """
        found = []
        for each in (batches, [[step] for batch in batches for step in batch]):
            await self.redis.flushall()
            await self.store.open("service")
            for batch in each:
                answers = await self.apply(*batch)
                assert {answer.status for answer in answers} == {Status.ACCEPTED}
            snapshot = await self.store.snapshot()
            moves = [fields["transfers"] for _, fields in await self.store.entries(0, 100)]
            tables = await self.redis.hgetall(self.keys.tables)
            held = {account: micros for account, micros in snapshot.accounts.items() if micros}
            found.append((held, snapshot.tallies, moves, tables))
        assert found[0] == found[1]
        return found[0][:2]

    async def decide(
        self, claim: str, act: Act, *, by: str | None = None, hand_pay: bool = True
    ) -> DecisionResult:
        """Apply a decision on a percentage; one person validates and another pays."""
        by = by or ("cashier" if act == "pay" else "floor")
        record, decision = _record(claim, hand_pay=hand_pay), DecisionRecord(claim, act, by)
        return await decide_claim(self.store, record, decision)

    async def decide_envy(self, claim: str, act: EnvyAct, *owed: tuple[str, int], by: str) -> int:
        """Settle the Envy Bonuses of a claim, in cents by meter; return the ledger entry."""
        record, decision = _record(claim, *owed), DecisionRecord(claim, act, by)
        return await decide_envy(self.store, record, decision)

    async def accounts(self) -> dict[str, int]:
        """Return every balance in micros."""
        return (await self.store.snapshot()).accounts

    async def alter_terms(self) -> None:
        """Change the digest of the terms in Redis. Every script then refuses to write."""
        await self.redis.hset(self.keys.meters, "terms", "altered")

    async def set_accounts(self, balances: Mapping[str, int]) -> None:
        """Set balances directly in Redis, in micros by account."""
        for account, micros in balances.items():
            await self.redis.hset(self.keys.accounts, account, str(micros))

    async def last_entry(self) -> dict[str, str]:
        """Return the last ledger entry's fields, its number as ``id``."""
        snapshot = await self.store.snapshot()
        ((number, fields),) = await self.store.entries(snapshot.last_entry - 1, 1)
        return {"id": str(number)} | {name: value.decode() for name, value in fields.items()}

    async def transfers(self) -> list[list[object]]:
        entry = await self.last_entry()
        return msgspec.json.decode(entry["transfers"], type=list[list[object]])

    async def keyspace(self) -> Keyspace:
        return await keyspace(self.redis)

    @asynccontextmanager
    async def unchanged(self) -> AsyncIterator[None]:
        before = await self.keyspace()
        yield
        assert await self.keyspace() == before

    @asynccontextmanager
    async def refuses(
        self, error: type[Error], status: str = ""
    ) -> AsyncIterator[pytest.ExceptionInfo[Error]]:
        async with self.unchanged():
            with pytest.raises(error) as refused:
                yield refused
        if isinstance(refused.value, BooksError) and status:
            assert refused.value.status == status


async def keyspace(redis: Redis) -> Keyspace:
    held: Keyspace = {}
    async for key in redis.scan_iter():
        kind = cast("bytes", await redis.type(key)).decode()
        match kind:
            case "hash":
                value: object = await redis.hgetall(key)
            case "stream":
                info = await redis.xinfo_stream(key)
                value = (await redis.xrange(key), info["last-generated-id"])
            case "zset":
                value = await redis.zrange(key, 0, -1, withscores=True)
            case _:
                value = await redis.dump(key)
        held[key.decode()] = (kind, value, await redis.pttl(key))
    return held


def added(
    micros: int, reserve_micros: int = 0, *, meter: str = METER, wagers: int = 1, cents: int = 100,
    limit: int = 0, above: tuple[int, int, int] = (0, 0, 0),
) -> Contribution:  # fmt: skip
    """Return what an event's wagers add to a meter, up to its limit in micros, and its reserve.

    If the meter has the first number of `above`, they add the two others instead.
    """
    return Contribution(meter, wagers, cents, micros, reserve_micros, limit, *above)


def _step(
    seq: int, kind: Kind, round_id: str, work: Work | None, *, table: str, basis: int | None,
    digest: str, reply: ReplyParts = (),
) -> ScriptStep:  # fmt: skip
    return Step(
        table=table,
        seq=seq,
        digest=digest or f"{seq:032x}",
        kind=kind,
        round=round_id,
        basis=basis,
        work=work,
        reply=reply,
    )


def wagers(
    seq: int, *contributions: Contribution, round_id: str = "R1", table: str = "T-1",
    reply: str = "", digest: str = "",
) -> ScriptStep:  # fmt: skip
    """Return accepted wagers; by default 14% of a dollar."""
    work = WagersWork("null", contributions_text(contributions or (added(140_000),)))
    parts = (reply or f'{{"wagers":{seq}}}',)
    return _step(
        seq, Kind.WAGERS, round_id, work, table=table, basis=None, digest=digest, reply=parts
    )


def void(seq: int, *, round_id: str = "R1", table: str = "T-1", digest: str = "") -> ScriptStep:
    parts = (f'{{"void":{seq}}}',)
    return _step(
        seq, Kind.VOID, round_id, None, table=table, basis=None, digest=digest, reply=parts
    )


def refusal(seq: int, *, basis: int | None = None, digest: str = "") -> ScriptStep:
    """Return an event that was judged and refused before the script runs."""
    work = ReplyWork(f'{{"refused":{seq}}}')
    return _step(seq, Kind.REFUSED, "", work, table="T-1", basis=basis, digest=digest)


def result(
    seq: int, *dues: DueStep, takes: Sequence[PercentStep] = (), basis: int, round_id: str = "R1",
    table: str = "T-1", reply: Sequence[str | int] | None = None, digest: str = "",
    envy: Sequence[EnvyStep] = (),
) -> ScriptStep:  # fmt: skip
    """Return a result; by default its reply has the cents of each due, separated by bars."""
    parts: list[str | int] = [f'{{"result":{seq},"cents":"']
    for number in range(1, len(dues) + 1):
        parts += [number, "|"]
    parts.append('"}')
    if not dues:
        parts = ["".join(map(str, parts))]
    said = tuple(reply if reply is not None else parts)
    work = ResultWork(tuple(takes), dues, tuple(envy), gaps=said if len(said) > 1 else ())
    return _step(
        seq, Kind.RESULT, round_id, work, table=table, basis=basis, digest=digest, reply=said
    )


def take(
    percent: Percent, shares: int = 1, *, meter: str = METER, reseed_cents: int = 100_000,
    from_reserve: bool = False, limit: int = 0, continues: bool = False, reseeds: bool = False,
) -> PercentStep:  # fmt: skip
    """Return a percentage taken off a meter, which reseeds to its limit in micros at most."""
    return PercentStep(
        meter, percent_bps(percent), shares, reseed_cents * CENT, from_reserve, limit,
        continues, reseeds or percent == 100,
    )  # fmt: skip


def share(of: int = 1, *, claim: str = "", meter: str = METER) -> DueStep:
    """Return a share of a taken percentage (counted from 1), claimed or paid immediately."""
    return DueStep(of, 0, meter, 0, claim, f'{{"claim":"{claim}"}}' if claim else "")


def odds(cents: int, *, claim: str = "", meter: str = METER) -> DueStep:
    """Return a fixed amount in cents, claimed or paid immediately."""
    return DueStep(0, cents, meter, 0, claim, f'{{"claim":"{claim}"}}' if claim else "")


def envy_due(cents: int, claim: str, *, meter: str = METER) -> DueStep:
    return DueStep(0, cents, meter, 0, "", "", envy=claim)


def envy_under(claim: str) -> EnvyStep:
    return EnvyStep(0, claim, METER, "")


def total(accounts: Mapping[str, int]) -> int:
    return sum(accounts.values())
