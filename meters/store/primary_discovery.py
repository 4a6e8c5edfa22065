"""Search for the primary Redis: ask the sentinels, or the nodes of a Redis Cluster."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from meters.floor.server_addresses import HostPort

_ANSWER_WITHIN_S: Final = 3.0
_LATER_BY_S: Final = 0.05
"""Time to wait for the remaining answers after most servers agree. Without this wait, each search
would disconnect a slower server, which would have to connect again."""

_DOWN: Final = ("is_sdown", "is_odown", "is_disconnected")
"""Flags with which a sentinel says that it does not reach a replica."""


class NoPrimaryError(RedisConnectionError):
    """The primary cannot be determined now."""


@dataclass(frozen=True, slots=True)
class _View:
    """Answers of one sentinel. `faults` has each replica's fault in words, or an empty text."""

    place: HostPort
    primary: HostPort | None
    faults: Mapping[str, str]


class SentinelDiscovery:
    """The search for the primary that most of the sentinels name.

    A network failure can separate one sentinel and the old primary from the other servers. This
    sentinel still names the old primary, while the other sentinels have possibly promoted a
    replica. So more than half of all sentinels must name the same address.
    """

    def __init__(self, sentinels: Mapping[Redis, HostPort], service: str) -> None:
        self._sentinels = sentinels
        self._service = service

    async def primary(self) -> HostPort:
        """Return the address that most sentinels name.

        Raises:
            NoPrimaryError: too few sentinels answer, or too few agree.
        """
        refusing: set[Redis] = set()

        async def ask(sentinel: Redis) -> HostPort | None:
            try:
                return await self._named(sentinel)
            except AuthenticationError:
                refusing.add(sentinel)
                raise

        found, needed = await _ask(self._sentinels, ask), _most_of(self._sentinels)
        address, agreeing = found.most_common(1)[0] if found else (None, 0)
        if address is not None and agreeing >= needed:
            return address
        if agreeing >= needed:
            raise NoPrimaryError(f"the sentinels watch no Redis called {self._service}")
        raise NoPrimaryError(
            f"{found.total()} of {len(self._sentinels)} sentinels answer, and {agreeing} agree on"
            f" the primary; {needed} must agree"
            + f"; {len(refusing)} refuse the password of the sentinels"
            " (sentinels/password in the directory of keys)" * bool(refusing)
        )

    async def missing(self) -> Sequence[str]:
        answers = await asyncio.gather(*map(self._view, self._sentinels))
        silent = [answer for answer in answers if isinstance(answer, str)]
        views = [answer for answer in answers if not isinstance(answer, str)]
        named = Counter(view.primary for view in views)
        usual = named.most_common(1)[0][0] if named else None
        odd = [
            f"sentinel {view.place} names another primary, {view.primary}"
            for view in views
            if view.primary != usual
        ]
        known = [view.faults for view in views if view.primary == usual]
        down = []
        for replica in sorted({replica for faults in known for replica in faults}):
            found = [faults[replica] for faults in known if replica in faults]
            # One sentinel can be separated from a replica that the other sentinels reach.
            if all(found):
                down.append(found[0])
        return [*silent, *odd, *down]

    async def _view(self, sentinel: Redis) -> _View | str:
        place = self._sentinels[sentinel]
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                rows = cast(
                    "Sequence[Mapping[str, object]]", await sentinel.sentinel_slaves(self._service)
                )
                primary = await self._named(sentinel)
            replicas = {f"{row['ip']}:{row['port']}": row for row in rows}
            faults = {replica: _fault(replica, row) for replica, row in replicas.items()}
            return _View(place, primary, faults)
        except AuthenticationError:
            return f"sentinel {place} refuses the password of the sentinels"
        except ResponseError as error:
            return f"sentinel {place} names no replicas of {self._service}: {error}"
        except (RedisError, OSError, TimeoutError):
            return f"sentinel {place} does not answer"
        except (KeyError, ValueError) as error:
            return f"sentinel {place} gives an answer that cannot be read: {error!r}"

    async def _named(self, sentinel: Redis) -> HostPort | None:
        row = cast(
            "Sequence[bytes] | None",
            await sentinel.execute_command(  # type: ignore[no-untyped-call]
                "SENTINEL", "get-master-addr-by-name", self._service
            ),
        )
        return HostPort(row[0].decode(), int(row[1])) if row else None


class ClusterDiscovery:
    """The search for the primary of one slot: the server that most of the answering nodes name.

    One answer is enough: a node that is separated from the other nodes soon refuses writes.
    """

    def __init__(self, nodes: Mapping[Redis, HostPort], slot: int) -> None:
        self._nodes = nodes
        self._slot = slot

    async def primary(self) -> HostPort:
        """Return the address of the node that serves the slot.

        Raises:
            NoPrimaryError: no node answers, or no node serves the slot.
        """
        found = await _ask(self._nodes, self._serving)
        served = Counter({place: count for place, count in found.items() if place is not None})
        if served:
            return served.most_common(1)[0][0]
        if found:
            raise NoPrimaryError(f"no node of the cluster serves slot {self._slot}")
        raise NoPrimaryError("no node of the cluster answers")

    async def missing(self) -> Sequence[str]:
        answers = await asyncio.gather(*(_answer(node, self._serving) for node in self._nodes))
        return [
            f"node {place} does not answer"
            for place, answer in zip(self._nodes.values(), answers, strict=True)
            if not answer
        ]

    async def _serving(self, node: Redis) -> HostPort | None:
        rows = cast(
            "Sequence[tuple[int, int, Sequence[bytes | int | None]]]",
            await node.execute_command("CLUSTER", "SLOTS"),  # type: ignore[no-untyped-call]
        )
        for first, last, (host, port, *_), *_ in rows:
            if first <= self._slot <= last and isinstance(port, int):
                # A node that does not know its own address returns an empty address for itself.
                named = host.decode() if isinstance(host, bytes) and host else None
                return HostPort(named or self._nodes[node].host, port)
        return None


PrimaryDiscovery = SentinelDiscovery | ClusterDiscovery


async def _ask(
    servers: Collection[Redis], ask: Callable[[Redis], Awaitable[HostPort | None]]
) -> Counter[HostPort | None]:
    """Ask servers in parallel. Return how many servers gave each answer.

    When most servers have given the same answer, wait only a little longer for the others.
    """
    found: Counter[HostPort | None] = Counter()
    asking = [asyncio.create_task(_answer(server, ask), name="where") for server in servers]
    until_s = asyncio.get_running_loop().time() + _ANSWER_WITHIN_S
    try:
        async with asyncio.timeout_at(until_s) as limit:
            for answered in asyncio.as_completed(asking):
                found.update(await answered)
                if max(found.values(), default=0) >= _most_of(servers):
                    now_s = asyncio.get_running_loop().time()
                    until_s = min(until_s, now_s + _LATER_BY_S)
                    limit.reschedule(until_s)
    except TimeoutError:
        pass  # the others do not answer in time
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    return found


async def _answer(
    server: Redis, ask: Callable[[Redis], Awaitable[HostPort | None]]
) -> Sequence[HostPort | None]:
    try:
        return [await ask(server)]
    except (RedisError, OSError, TimeoutError, ValueError):
        return []


def _fault(replica: str, row: Mapping[str, object]) -> str:
    if any(row[flag] for flag in _DOWN):
        return f"replica {replica} is down"
    if row["master-link-status"] != "ok":
        return (
            f"replica {replica} does not copy the primary's data yet: if this lasts, the log of the"
            " replica says why"
        )
    return ""


def _most_of(servers: Collection[Redis]) -> int:
    return len(servers) // 2 + 1
