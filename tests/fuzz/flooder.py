"""Connection of one flooding table: it publishes at a rate on its topic until it is ended.

Run as ``python -m tests.fuzz.flooder PORT TOPIC RATE KIND``. Every second it prints how many
messages it sent.
"""

import asyncio
import sys
from random import Random
from typing import Final

from tests.bench.client import LoadClient
from tests.fuzz.junk import mutated
from tests.fuzz.service_targets import EVENTS
from tests.mqtt_packets import text

KINDS: Final = ("repeats", "junk", "oversized")
_STEP_S: Final = 0.01
_OVERSIZED_BYTES: Final = 60_000
_AHEAD_BYTES: Final = 1_000_000


def payloads(kind: str) -> list[bytes]:
    """Return the payloads: the same good event, bad ones, or ones that are far too long."""
    random = Random(1)
    match kind:
        case "repeats":
            return [EVENTS[1].replace(b'"seq": 7', b'"seq": 1')]
        case "junk":
            return [mutated(random, EVENTS)[:4_000] for _ in range(500)]
        case _:
            return [b'{"seq":1,"x":"' + b"x" * _OVERSIZED_BYTES + b'"}']


async def flood(port: int, topic: str, rate: int, kind: str) -> None:
    """Publish forever, no faster than the broker accepts."""
    client = await LoadClient.connect(port, "flooder", subscribe=["none"], deliver=lambda _: None)
    loop = asyncio.get_running_loop()
    made, sent, reported_s, began_s = payloads(kind), 0, loop.time(), loop.time()
    where = text(topic)
    while not client.lost.done():
        due = int((loop.time() - began_s) * rate) - sent
        for _ in range(min(due, rate // 20) if client.unsent_bytes < _AHEAD_BYTES else 0):
            client.publish(where, made[sent % len(made)])
            sent += 1
        client.flush()
        if loop.time() - reported_s >= 1:
            reported_s = loop.time()
            sys.stdout.write(f"{sent}\n")
            sys.stdout.flush()
        await asyncio.sleep(_STEP_S)


if __name__ == "__main__":
    asyncio.run(flood(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]))
