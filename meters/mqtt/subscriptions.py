"""Subscriptions of a service to the tables' events of the links that operate for it."""

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
    """Subscribes to the events of the links that operate, and unsubscribes from the others.

    Services share the events among themselves. A service that cannot answer a link's events leaves
    them to the others; if there is none, the tables repeat them. While every link operates, there
    is one subscription. It also receives events of tables that the floor does not have, so they get
    a refusal.

    The name of the group is a secret of the services. A broker sends each event to one member of
    the group, and mosquitto drops it if that member may not read it. So anybody who could join
    would cause lost events. The name is in no log of ours, errors included.

    `operable` returns the links that operate now. Without `shared` the broker does not share
    events, and one service works alone.
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
        """Signal that a link has started or stopped operating."""
        self._changed.set()

    async def follow(
        self,
        connection: BrokerConnection,
        group: Callable[[], Awaitable[str]],
        subscribed: Callable[[], None],
    ) -> None:
        """Keep one connection's subscriptions equal to the operable links, until canceled.

        Args:
            connection: the connection.
            group: returns the secret name by which services share; called until it succeeds.
            subscribed: is called once when events arrive by the connection.
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
        """Unsubscribe from the events of every link for good.

        Events that the broker had sent before have arrived when this returns.
        """
        self._leaving = True
        self._settled.clear()
        self.refresh()
        await self._settled.wait()

    async def _settle(self, connection: BrokerConnection, held: set[str], share: str) -> None:
        wanted = self._wanted(share)
        # In this order no event is missed between the two; one received twice is a repeat.
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
