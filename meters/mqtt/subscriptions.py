"""Which of the tables' events a service takes: those of the links that operate for it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import aiomqtt
import structlog
from redis.exceptions import RedisError

from meters.mqtt.connection import BrokerConnection
from meters.wire import topics

log = structlog.get_logger()

_AGAIN_S: Final = 1.0


class EventSubscriptions:
    """Subscribes to the events of the links that operate, and leaves those that do not.

    Services share the events out between them. One that cannot answer those of a link leaves them
    to the others; where there is none, the tables repeat them. While every link operates it is one
    subscription, by which tables that the floor does not have are heard and told so too.

    The name of the group is a secret of the services. A broker gives each event to one member of
    the group, and mosquitto drops it where that member may not read it: whoever could join would
    have events lost. The name is in no log of ours, errors included.

    `operable` tells which links operate now. Without `shared` the broker does not share events out,
    and one service works alone.
    """

    def __init__(
        self,
        links: Collection[str],
        operable: Callable[[], Collection[str]],
        *,
        shared: bool,
    ) -> None:
        self._links = frozenset(links)
        self._operable = operable
        self._shared = shared
        self._leaving = False
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()

    def refresh(self) -> None:
        """Have it seen that a link has begun to operate, or has ceased to."""
        self._changed.set()

    async def follow(
        self,
        connection: BrokerConnection,
        group: Callable[[], Awaitable[str]],
        subscribed: Callable[[], None],
    ) -> None:
        """Keep one connection's subscriptions as the links are, until cancelled.

        Args:
            connection: the connection.
            group: finds the secret name by which services share; asked until it answers.
            subscribed: is told once that events arrive by it.
        """
        held: set[str] = set()
        name: str | None = None
        logged = False
        while True:
            self._changed.clear()
            try:
                if name is None and self._shared and self._wanted(""):
                    name = await group()
                await self._settle(connection, held, f"$share/{name}")
            except (aiomqtt.MqttError, RedisError, OSError) as error:
                log.warning("not subscribed", reason=str(error))
                await asyncio.sleep(_AGAIN_S)
                continue
            if not logged:
                logged = True
                subscribed()
            if not self._changed.is_set():
                self._settled.set()
            await self._changed.wait()

    async def leave(self) -> None:
        """Leave the events of every link for good.

        What the broker had given us before has arrived when this returns.
        """
        self._leaving = True
        self._settled.clear()
        self.refresh()
        await self._settled.wait()

    async def _settle(self, connection: BrokerConnection, held: set[str], share: str) -> None:
        wanted = self._wanted(share)
        # In this order nothing is missed between two; what comes twice is a repeat.
        for pattern in sorted(wanted - held):
            await connection.subscribe(pattern, qos=1)
            held.add(pattern)
        for pattern in sorted(held - wanted):
            await connection.unsubscribe(pattern)
            held.discard(pattern)

    def _wanted(self, share: str) -> frozenset[str]:
        if self._leaving:
            return frozenset()
        if not self._shared:
            return frozenset({topics.EVERY_TABLE_OUT})
        operable = self._links.intersection(self._operable())
        if operable == self._links:
            return frozenset({f"{share}/{topics.EVERY_TABLE_OUT}"})
        return frozenset(f"{share}/{topics.table_out(link, '+')}" for link in operable)
