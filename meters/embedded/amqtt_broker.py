"""The embedded broker amqtt on a loopback port. It is used if mosquitto is not installed.

Run it as ``python -m meters.embedded.amqtt_broker ADDRESS PORT``. This broker supports MQTT 3.1.1,
and stores nothing on disk. When the service connects, the service publishes every retained value
again.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Final

from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig

from meters.logs.setup import log_to

_PLUGINS: Final = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}


async def serve(address: str, port: int) -> None:
    """Run the broker until the process receives SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    listener = ListenerConfig(bind=f"{address}:{port}")
    broker = Broker(BrokerConfig(listeners={"default": listener}, plugins=_PLUGINS))
    await broker.start()
    try:
        await stop.wait()
    finally:
        await broker.shutdown()


def main(arguments: Sequence[str]) -> None:
    """Run the broker at the address and port in the arguments."""
    address, port = arguments
    log_to(sys.stderr)
    asyncio.run(serve(address, int(port)))


if __name__ == "__main__":
    main(sys.argv[1:])
