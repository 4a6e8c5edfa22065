import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import structlog
from redis.exceptions import RedisError

from meters.mqtt.connection import BrokerConnection, BrokerError
from meters.wire import topics

log = structlog.get_logger()

_AGAIN_S: Final = 1.0


class EventSubscriptions:
    """Subscriptions to the events of the links that operate now.

    The broker sends each event to only one of the services that share subscriptions. A service that
    does not operate a link leaves the link's events to the other services. While every link
    operates, one subscription is for all topics, so tables that are not on the floor get a refusal.

    The services share their subscriptions in a group. The group's name is secret and is not logged:
    a foreign client in the group would get events, and mosquitto drops an event whose receiver has
    no right to read it.

    `operable` returns the links that operate now. Without `shared`, one service works alone.
    """

    def __init__(
        self, links: Collection[str], operable: Callable[[], Collection[str]], *, shared: bool
    ) -> None:
        self._links = frozenset(links)
        self._operable = operable
        self._shared = shared
        self._leaving = False
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()

    def refresh(self) -> None:
        self._changed.set()

    async def follow(
        self,
        connection: BrokerConnection,
        group: Callable[[], Awaitable[str]],
        subscribed: Callable[[], None],
    ) -> None:
        """Keep the subscriptions of a connection equal to the operable links, until canceled.

        `group` returns the secret name. `subscribed` is called once, when events begin to arrive.
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
            except (BrokerError, RedisError, OSError) as error:
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
        """End all subscriptions for good, and wait until no more events come from them."""
        self._leaving = True
        self._settled.clear()
        self.refresh()
        await self._settled.wait()

    async def _settle(self, connection: BrokerConnection, held: set[str], share: str) -> None:
        wanted = self._wanted(share)
        # In this order, no event is missed between the two calls. An event that arrives twice
        # counts once.
        for pattern in sorted(wanted - held):
            await connection.subscribe(pattern)
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
