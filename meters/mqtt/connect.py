import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from meters.floor.addresses import BrokerAddress
from meters.mqtt.connection import KEEPALIVE_S, BrokerConnection, UnsupportedVersionError
from meters.mqtt.incoming import Arrivals
from meters.mqtt.mqtt5_connection import Mqtt5Connection
from meters.mqtt.mqtt311_connection import Mqtt311Connection


@asynccontextmanager
async def connect_broker(
    address: BrokerAddress,
    identifier: str,
    arrived: Arrivals | None = None,
    *,
    keepalive_s: int = KEEPALIVE_S,
) -> AsyncIterator[BrokerConnection]:
    """Connect to a broker. On exit, disconnect.

    Only a broker that answers that it does not support MQTT 5 gets a connection over MQTT 3.1.1.
    Any other failure can have another cause, such as a broker that just starts. `identifier` is the
    client's name at the broker, if its credential does not determine the name. By default, each
    topic has its own lane in `arrived`. The broker asks a client that is silent for `keepalive_s`.

    Raises:
        BrokerError: the broker cannot be reached, refuses the connection, or does not answer.
        UserError: a file of the key bundle cannot be used.
    """
    arrived = Arrivals() if arrived is None else arrived
    async with AsyncExitStack() as stack:
        connection: BrokerConnection | None = None
        if address.mqtt5:
            with contextlib.suppress(UnsupportedVersionError):
                connection = await stack.enter_async_context(
                    Mqtt5Connection(address, identifier, arrived, keepalive_s=keepalive_s)
                )
        if connection is None:
            connection = await stack.enter_async_context(
                Mqtt311Connection(address, identifier, arrived, keepalive_s=keepalive_s)
            )
        yield connection
