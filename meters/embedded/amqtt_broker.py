"""The embedded broker amqtt on a loopback port, used if mosquitto is not installed.

Run it as ``python -m meters.embedded.amqtt_broker ADDRESS PORT``. It supports MQTT 3.1.1 and stores
nothing on disk: whenever the service connects, the service publishes all retained values again.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final

from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig
from amqtt.errors import AMQTTError
from amqtt.mqtt.packet import MQTTFixedHeader

from meters.embedded.broker import PACKET_BYTES_MAX
from meters.process.logs import log_to
from meters.process.signals import on_stop

_PLUGINS: Final = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
_read_header: Final = MQTTFixedHeader.from_stream


async def _read_bounded_header(reader: Any) -> Any:  # noqa: ANN401  (the library's own)
    """Refuse a packet that would fill the memory. The `AMQTTError` ends the connection."""
    header = await _read_header(reader)
    if header is not None and header.remaining_length > PACKET_BYTES_MAX:
        raise AMQTTError(f"a packet of {header.remaining_length:,} bytes is too long")
    return header


async def serve(address: str, port: int) -> None:
    MQTTFixedHeader.from_stream = _read_bounded_header
    stop = asyncio.Event()
    on_stop(stop.set, [signal.SIGTERM])
    listener = ListenerConfig(bind=f"{address}:{port}")
    broker = Broker(BrokerConfig(listeners={"default": listener}, plugins=_PLUGINS))
    await broker.start()
    try:
        await stop.wait()
    finally:
        await broker.shutdown()


def main(arguments: Sequence[str]) -> None:
    address, port = arguments
    log_to(sys.stderr)
    asyncio.run(serve(address, int(port)))


if __name__ == "__main__":
    main(sys.argv[1:])
