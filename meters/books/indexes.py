"""Reading of a link's indexes from Redis: undecided claims, wins, acts and payout slips.

An audit reads them whole, or only a part of them (`IndexPart`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from redis.asyncio.client import Pipeline

from meters.books.link_state import IndexCounts, IndexPart, Snapshot
from meters.redis_client.link_keys import LinkKeys

ANY_WIN: Final = ":"
"""Mark between meter and place in the members of the index of wins, for every win."""
METER_AWARD: Final = "!"
"""The same, for wins of a percentage of the meter. They have a member with each mark."""


def read_indexes(pipe: Pipeline, keys: LinkKeys) -> None:
    """Add the reading of all indexes of a link to a pipeline; see `with_indexes`."""
    pipe.zrange(keys.waiting, 0, -1, withscores=True)
    pipe.zrange(keys.wins, 0, -1)
    pipe.hgetall(keys.slips)
    pipe.zrange(keys.acts, 0, -1, withscores=True)


def read_part(pipe: Pipeline, keys: LinkKeys, part: IndexPart) -> None:
    """Add the reading of a part of the indexes of a link to a pipeline; see `with_part`."""
    spans = ((part.new_after, None), (part.old_after, part.old_to))
    for key in (keys.waiting, keys.wins, keys.acts):
        pipe.zcard(key)
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


def with_indexes(snapshot: Snapshot, rows: Sequence[Any]) -> Snapshot:
    """Return a snapshot with the indexes that `read_indexes` has read."""
    waiting, wins, slips, acts = rows
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in waiting},
        wins=frozenset(member.decode() for member in wins),
        slips={slip.decode(): claim.decode() for slip, claim in slips.items()},
        acts={act.decode(): int(order) for act, order in acts},
        counts=IndexCounts(len(waiting), len(wins), len(acts)),
    )


def with_part(snapshot: Snapshot, part: IndexPart, rows: Sequence[Any]) -> Snapshot:
    """Return a snapshot with the part of the indexes that `read_part` has read."""
    counts, (waiting, waiting_old, acts, acts_old), wins = rows[:3], rows[3:7], rows[7:]
    return replace(
        snapshot,
        waiting={claim.decode(): int(entry) for claim, entry in (*waiting, *waiting_old)},
        wins=frozenset(member.decode() for members in wins for member in members),
        acts={act.decode(): int(order) for act, order in (*acts, *acts_old)},
        part=part,
        counts=IndexCounts(*counts),
    )
