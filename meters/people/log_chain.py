"""Walking the operators' log: whether it is as it was written, entry by entry (duty D17)."""

from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from meters.books.chain import link_entry
from meters.failover.shards import AnyRedis, redis_of
from meters.people.keys import PEOPLE_TAG, PeopleKeys

PROBLEMS_MAX: Final = 20
"""After so many the log is plainly altered, and more would not help to find out how."""

_PAGE: Final = 1_000
_CHAIN: Final = b"chain"

_Entry = tuple[bytes, dict[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class LogFinding:
    """What a walk found.

    Attributes:
        entries: the number of the last entry.
        chain: the chain's value there, to be held against a copy kept elsewhere.
        problems: what does not hold, in words.
    """

    entries: int
    chain: str
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Walk:
    entries: int
    chain: str
    chained: bool
    problems: list[str]

    def take(self, entry: _Entry) -> None:
        """Hold one entry against the one before."""
        id_, fields = entry[0].decode(), dict(entry[1])
        expected = f"{self.entries + 1}-0"
        number = int(id_.partition("-")[0])
        if id_ != expected:
            self._tell(f"entry {id_} stands where {expected} should: some are missing, or added")
        told = fields.pop(_CHAIN, b"").decode()
        made = link_entry(self.chain, id_, tuple(fields.items()))
        if told:
            if told != made:
                self._tell(f"entry {number}, or the one before it, was altered: the chain breaks")
            self.chained = True
        elif self.chained:
            self._tell(f"entry {number} has lost its chain")
        self.entries, self.chain = number, told

    def end(self, entries: int, chain: str) -> None:
        """Hold the end against the head."""
        if (self.entries, self.chain) != (entries, chain):
            self._tell(f"it ends at entry {self.entries}, its head says {entries}: the end differs")

    def _tell(self, problem: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"the operators' log: {problem}")


async def check_log(everywhere: AnyRedis) -> LogFinding:
    """Walk the operators' log of a facility from its first entry.

    Entries of a release that did not chain yet, at the beginning, are taken as they are.

    Args:
        everywhere: where the people's keys are, or all.

    Raises:
        RedisError: the store failed.
        ValueError: an entry's id or its chain is no text of ours.
    """
    keys, redis = PeopleKeys(), redis_of(everywhere, PEOPLE_TAG)
    async with redis.pipeline(transaction=True) as pipe:
        pipe.hmget(keys.log_head, ["entries", "chain"])
        pipe.xrevrange(keys.log, count=1)
        (entries, chain), last = await pipe.execute()
    walk = _Walk(0, "", chained=False, problems=[])
    if last:
        await _walk(redis, walk, keys.log, last[0][0])
    if walk.chained or entries is not None:
        walk.end(int(entries or 0), (chain or b"").decode())
    return LogFinding(walk.entries, walk.chain, tuple(walk.problems))


async def _walk(redis: Redis, walk: _Walk, log: str, last: bytes) -> None:
    after = b"-"
    while after != b"(" + last:
        page = cast("list[_Entry]", await redis.xrange(log, min=after, max=last, count=_PAGE))
        if not page:
            return
        for entry in page:
            walk.take(entry)
        after = b"(" + page[-1][0]
