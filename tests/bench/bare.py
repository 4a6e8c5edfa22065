"""The measure of what aiomqtt itself can do: a subscriber that takes messages and does nothing.

Run as ``python -m tests.bench.bare PORT PATTERN WINDOW``. After each `WINDOW` messages it says so
on its broker, with the moment at which the last one came: a single publish in thousands.
"""

import sys
import time
from collections.abc import Sequence
from typing import Final

import aiomqtt
import uvloop

from meters.embedded.broker import LOOPBACK

WINDOW_TAKEN: Final = "bench/window-taken"
"""Where the subscriber says that a window is taken: the monotonic clock in nanoseconds."""
SUBSCRIBED: Final = "bench/subscribed"
"""Where it says, retained, that it listens."""

_CLIENT_ID: Final = "bench-bare"


async def take(port: int, pattern: str, window: int) -> None:
    """Take messages for ever."""
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
    """Take messages until the broker is gone."""
    port, pattern, window = arguments
    try:
        uvloop.run(take(int(port), pattern, int(window)))
    except aiomqtt.MqttError as error:
        sys.exit(f"the bare subscriber lost its broker: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
