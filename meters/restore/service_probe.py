"""Search for running services. A service publishes a heartbeat every second (duty D13)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.embedded.broker import embedded_address, embedded_broker
from meters.floor.addresses import BrokerAddress
from meters.floor.credentials import broker_address
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import DISPLAY
from meters.mqtt.connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError
from meters.restore.errors import RestoreError
from meters.wire import topics

HEARD_WITHIN_S: Final = 3.0
"""Seconds to wait for a heartbeat: a service sends three in this time, so one can be late."""
_CONNECTED_WITHIN_S: Final = 10.0
_STOPPED: Final = "--services-stopped"


async def probe_services(floor: Floor) -> set[str]:
    """Return the links on which a service runs now. An inoperable link is included.

    Raises:
        RestoreError: the broker cannot be reached, or refuses the connection.
    """
    found: set[str] = set()
    by_topic = {topics.controller(link.id): link.id for link in floor.link}
    try:
        async with _broker(floor) as address, _connected(address) as broker:
            for topic in by_topic:
                await broker.subscribe(topic)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARD_WITHIN_S):
                    while True:
                        for message in await broker.batch(len(by_topic)):
                            # The broker can have retained a heartbeat of a service that no longer
                            # runs.
                            if not message.retain:
                                found.add(by_topic[message.topic])
    except (BrokerError, TimeoutError, UserError) as error:
        raise RestoreError(
            f"the broker cannot be asked whether a service runs: {error}. If you know that every"
            f" service is stopped, add {_STOPPED}."
        ) from None
    return found


@asynccontextmanager
async def _broker(floor: Floor) -> AsyncIterator[BrokerAddress]:
    service = floor.service
    if service.broker == "embedded":
        async with embedded_broker(Path(service.data)) as url:
            yield embedded_address(url)
    else:
        yield broker_address(service, DISPLAY)


@asynccontextmanager
async def _connected(address: BrokerAddress) -> AsyncIterator[BrokerConnection]:
    async with contextlib.AsyncExitStack() as stack:
        async with asyncio.timeout(_CONNECTED_WITHIN_S):
            connection = await stack.enter_async_context(connect_broker(address, "pitlink-restore"))
        yield connection
