"""Reading of a link's balances and indexes from Redis, at one moment.

The indexes are: undecided claims, wins, acts and payout slips. An audit reads them whole, or only a
part of them (`IndexPart`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from meters.ledger.link_keys import ANY_WIN, METER_AWARD, LinkKeys
from meters.ledger.link_state import IndexCounts, IndexPart, Snapshot


async def read_snapshot(
    redis: Redis, keys: LinkKeys, *, indexes: bool, part: IndexPart | None
) -> Snapshot:
    async with redis.pipeline(transaction=True) as pipe:
        pipe.hgetall(keys.accounts)
        pipe.hgetall(keys.tallies)
        pipe.hgetall(keys.meters)
        if indexes:
            pipe.zrange(keys.proposals, 0, -1, withscores=True)
            pipe.hgetall(keys.approved)
            pipe.zcount(keys.wins, "(0", "+inf")
            pipe.zcount(keys.wins, "-inf", "(0")
        if part:
            _read_part(pipe, keys, part)
        elif indexes:
            _read_indexes(pipe, keys)
        accounts, tallies, meters, *rest = await pipe.execute()
    snapshot = Snapshot(
        accounts={name.decode(): int(value) for name, value in accounts.items()},
        tallies={name.decode(): int(value) for name, value in tallies.items()},
        meters=_texts(meters),
    )
    if not indexes:
        return snapshot
    proposals, approved, above, below, *rows = rest
    snapshot = replace(
        snapshot,
        proposals={proposal.decode(): int(entry) for proposal, entry in proposals},
        approved=_texts(approved),
        misplaced=above + below,
    )
    return _with_part(snapshot, part, rows) if part else _with_indexes(snapshot, rows)


def _read_indexes(pipe: Pipeline, keys: LinkKeys) -> None:
    pipe.zrange(keys.waiting, 0, -1, withscores=True)
    pipe.zrange(keys.wins, 0, -1)
    pipe.hgetall(keys.slips)
    pipe.zrange(keys.acts, 0, -1, withscores=True)


def _read_part(pipe: Pipeline, keys: LinkKeys, part: IndexPart) -> None:
    spans = ((part.new_after, None), (part.old_after, part.old_to))
    for key in (keys.waiting, keys.wins, keys.acts):
        pipe.zcard(key)
    pipe.hlen(keys.slips)
    for key in (keys.waiting, keys.acts):
        for after, to in spans:
            most = "+inf" if to is None else to
            pipe.zrevrangebyscore(key, most, f"({after}", withscores=True)
    for meter in part.meters:
        for mark in (ANY_WIN, METER_AWARD):
            for after, to in spans:
                # The members of one meter and mark are in the order of their entries.
                end = f"{meter}{chr(ord(mark) + 1)}"
                if to is not None:
                    end = f"{meter}{mark}{to + 1:016d}"
                begin = f"[{meter}{mark}{after + 1:016d}"
                pipe.zrevrangebylex(keys.wins, f"({end}", begin)


def _with_indexes(snapshot: Snapshot, rows: Sequence[Any]) -> Snapshot:
    waiting, wins, slips, acts = rows
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in waiting},
        wins=frozenset(member.decode() for member in wins),
        slips=_texts(slips),
        acts={act.decode(): int(order) for act, order in acts},
        counts=IndexCounts(len(waiting), len(wins), len(acts), len(slips)),
    )


def _with_part(snapshot: Snapshot, part: IndexPart, rows: Sequence[Any]) -> Snapshot:
    counts, (waiting, waiting_old, acts, acts_old), wins = rows[:4], rows[4:8], rows[8:]
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in (*waiting, *waiting_old)},
        wins=frozenset(member.decode() for members in wins for member in members),
        acts={act.decode(): int(order) for act, order in (*acts, *acts_old)},
        part=part,
        counts=IndexCounts(*counts),
    )


async def slips_at(redis: Redis, keys: LinkKeys, slips: Sequence[str]) -> dict[str, str]:
    if not slips:
        return {}
    held = cast("list[bytes | None]", await redis.hmget(keys.slips, list(slips)))
    found = zip(slips, held, strict=True)
    return {slip: claim.decode() for slip, claim in found if claim is not None}


def _texts(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}
