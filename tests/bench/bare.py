"""Baseline for aiomqtt: a subscriber that receives messages and does nothing with them.

Run as ``python -m tests.bench.bare PORT PATTERN WINDOW``. After each `WINDOW` messages it publishes
on its broker when the last one came: a single publish in thousands.
"""

import sys
import time
from collections.abc import Sequence
from typing import Final

import aiomqtt
import uvloop

from meters.embedded.broker import LOOPBACK

WINDOW_TAKEN: Final = "bench/window-taken"
"""Topic on which the subscriber reports a received window, by the monotonic clock in nanoseconds.
"""
SUBSCRIBED: Final = "bench/subscribed"
"""Topic on which it reports, retained, that it is subscribed."""

_CLIENT_ID: Final = "bench-bare"


async def take(port: int, pattern: str, window: int) -> None:
    """Receive messages forever."""
    async with aiomqtt.Client(LOOPBACK, port, identifier=_CLIENT_ID) as client:
        await client.subscribe(pattern, qos=1)
        await client.publish(SUBSCRIBED, b"yes", qos=1, retain=True)
        count = 0
        async for _ in client.messages:
            count += 1
            if count == window:
                count = 0
                await client.publish(WINDOW_TAKEN, str(time.monotonic_ns()))


def main(arguments: Sequence[str]) -> None:
    """Receive messages until the broker is gone."""
    port, pattern, window = arguments
    try:
        uvloop.run(take(int(port), pattern, int(window)))
    except aiomqtt.MqttError as error:
        sys.exit(f"the bare subscriber lost its broker: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
