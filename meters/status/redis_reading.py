import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bonus.errors import UserError
from bonus.wagers import MICROS_PER_CENT
from meters.books.accounts import meter_account
from meters.books.link_state import Snapshot
from meters.books.link_stats import LinkStatsReader
from meters.books.slip_numbers import SLIPS_TAG
from meters.books.store import LinkStore
from meters.floor.floor_file import Floor, Link
from meters.redis_client.connect import open_redis
from meters.redis_client.health import redis_problem
from meters.redis_client.primary_discovery import NoPrimaryError
from meters.redis_client.replicated import ReplicatedRedis
from meters.redis_client.shards import AnyRedis, every_redis
from meters.selfcheck.check_result import Check
from meters.selfcheck.server_checks import check_replicas

_WHAT: Final = "redis"
_SEARCHES: Final = 3
_MOMENT: Final = "%b %d, %H:%M %Z"


@dataclass(frozen=True, slots=True)
class StoredLink:
    """The data of a link in Redis that `pitlink status` shows.

    Attributes:
        opened: True if Redis has data of the link.
        closure: who closed the link, when and why; None while the link is open.
        meters: the title and the amount in cents of each meter.
        wins: the count of wins that wait for a floorperson.
        oldest_s: the age of the oldest of these wins; 0 if there is none.
        requests: the count of correction requests that wait.
        day_closed: the last closed gaming day; empty if none was closed.
    """

    opened: bool
    closure: str | None
    meters: tuple[tuple[str, int], ...]
    wins: int
    oldest_s: float
    requests: int
    day_closed: str


@dataclass(frozen=True, slots=True)
class RedisReading:
    """The state of Redis, and the data of each link that could be read."""

    checks: tuple[Check, ...]
    links: Mapping[str, StoredLink]


async def read_redis(floor: Floor) -> RedisReading:
    """Read Redis. A failure is one of the checks in the result.

    An embedded Redis that does not run is not started.
    """
    try:
        async with open_redis(floor, only_reads=True, starts=False) as redis:
            tags = [SLIPS_TAG, *(link.id for link in floor.link)]
            clients = every_redis(redis, tags)
            await _find_primaries(clients)
            problem, links, replicas = await asyncio.gather(
                _problem(clients), _read_links(floor, redis), _check_replicas(clients)
            )
    except (RedisError, OSError, UserError) as error:
        return RedisReading((Check(_WHAT, holds=False, seen=str(error)),), {})
    except ValueError as error:
        seen = f"its data is damaged: {error}"
        return RedisReading((Check(_WHAT, holds=False, seen=seen),), {})
    check = Check(_WHAT, not problem, problem or "keeps every write")
    return RedisReading((check, *replicas), links)


async def _find_primaries(clients: Iterable[Redis]) -> None:
    """Connect to sentinels or cluster nodes before anything is read.

    `pitlink status` makes many TLS connections in its first second. On a busy machine, the first
    search for the primary can take longer than the search waits.
    """
    for client in clients:
        for _ in range(_SEARCHES):
            if not isinstance(client, ReplicatedRedis):
                break
            with contextlib.suppress(NoPrimaryError):
                await client.primary()
                break


async def _problem(clients: Mapping[Redis, str]) -> str:
    found = [await redis_problem(client, tag) for client, tag in clients.items()]
    return "; ".join(dict.fromkeys(filter(None, found)))


async def _check_replicas(clients: Iterable[Redis]) -> Sequence[Check]:
    # If Redis does not answer, the check of Redis itself says so.
    with contextlib.suppress(RedisError, OSError):
        return await check_replicas(clients)
    return ()


async def _read_links(floor: Floor, redis: AnyRedis) -> Mapping[str, StoredLink]:
    """Return the links that can be read. In a cluster, the primary of some links can be down."""
    found = {}
    for link in floor.link:
        with contextlib.suppress(RedisError, OSError):
            found[link.id] = await _read_link(floor, redis, link)
    return found


async def _read_link(floor: Floor, redis: AnyRedis, link: Link) -> StoredLink:
    store = LinkStore(redis, link)
    books = await store.snapshot()
    figures = await LinkStatsReader(store).read(int(books.meters.get("desk", "0")))
    since_s, now_s = figures.claims.since_s, time.time()
    return StoredLink(
        opened=bool(books.meters),
        closure=_closure(floor, books),
        meters=_amounts(link, books),
        wins=figures.claims.count,
        oldest_s=0.0 if since_s is None else max(0.0, now_s - since_s),
        requests=figures.corrections.count,
        day_closed=books.meters.get("day_closed", ""),
    )


def _amounts(link: Link, books: Snapshot) -> tuple[tuple[str, int], ...]:
    if not books.meters:
        return ()
    return tuple(
        (meter.title, books.accounts.get(meter_account(meter.meter_id), 0) // MICROS_PER_CENT)
        for meter in link.meter
    )


def _closure(floor: Floor, books: Snapshot) -> str | None:
    """Return the reason of a closed link as on the floor page, with its author and time."""
    reason = books.meters.get("closed")
    if reason is None:
        return None
    by, at = books.meters.get("closed_by"), books.meters.get("closed_at")
    if not by or not at:
        return reason
    zone = ZoneInfo(floor.facility.timezone)
    return f"closed by {by}, {datetime.fromisoformat(at).astimezone(zone):{_MOMENT}}: {reason}"
