"""Flood one table's topic while the others play: ``python -m tests flood --rate 10000``.

The run starts a real mosquitto, a real redis-server and `pitlink serve`. Nineteen tables of the
benchmark play at a steady pace. It measures how long each waits for its replies, without a flood
and under each kind of flood.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Final

import uvloop

from meters.wire import topics
from tests.bench.client import LoadClient
from tests.bench.floor import bench_floor_text, table_address
from tests.bench.load import Load, percentile_ms
from tests.bench.machine import rss_bytes
from tests.bench.place import a_place
from tests.fuzz.junk import mutated
from tests.fuzz.service_targets import EVENTS
from tests.mqtt.stand import Service
from tests.waiting import dies_with_us, eventually

KINDS: Final = ("repeats", "junk", "oversized")
OTHERS: Final = 19
PACE: Final = 50
"""Rounds a second that the other tables begin together."""
MAD: Final = topics.table_out(*table_address(OTHERS))
_STEP_S: Final = 0.01
_OVERSIZED_BYTES: Final = 60_000
_AHEAD_BYTES: Final = 1_000_000
_MIB: Final = 1 << 20


def payloads(kind: str) -> list[bytes]:
    random = Random(1)
    match kind:
        case "repeats":
            return [EVENTS[1].replace(b'"seq": 7', b'"seq": 1')]
        case "junk":
            return [mutated(random, EVENTS)[:4_000] for _ in range(500)]
        case _:
            return [b'{"seq":1,"x":"' + b"x" * _OVERSIZED_BYTES + b'"}']


@contextmanager
def flooded(port: int, rate: int, kind: str) -> Iterator[list[int]]:
    """Flood from another process until the end of the block; then yield how much was sent."""
    sent: list[int] = [0]
    if kind == "none":
        yield sent
        return
    command = [sys.executable, "-c", _FLOOD, str(port), str(rate), kind]
    with subprocess.Popen(dies_with_us(command), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()  # it has begun
            yield sent
        finally:
            process.terminate()
            said, _ = process.communicate()
            sent[0] = int((said.split() or [b"0"])[-1])


_FLOOD: Final = """
import sys
from tests.fuzz.flood import flood
flood(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
"""


def flood(port: int, rate: int, kind: str) -> None:
    """Publish forever, no faster than the broker accepts, and print how much was sent."""

    async def publish() -> None:
        made, sent, began_s = payloads(kind), 0, time.monotonic()
        async with LoadClient(port, "flooder") as client:
            while client.lost is None:
                due = int((time.monotonic() - began_s) * rate) - sent
                for _ in range(min(due, rate // 20) if client.unsent_bytes < _AHEAD_BYTES else 0):
                    client.post(MAD, made[sent % len(made)])
                    sent += 1
                print(sent, flush=True)  # noqa: T201
                await asyncio.sleep(_STEP_S)

    asyncio.run(publish())


async def measure(rate: int, seconds: float, kinds: Sequence[str]) -> bool:
    """Play without and with each flood and print the figures; return whether the books balance."""
    async with a_place(partial(bench_floor_text, tables=OTHERS + 1)) as place:
        with place.service() as (process, _):
            port, load = place.broker.port, Load(OTHERS, {})
            service = Service(place.config, int(place.parts.http.rpartition(":")[2]))
            pids = (process.process.pid, place.broker.pid)
            print("flood        sent/s   events  repeats   p50 ms   p99 ms   ratio p50 p99"  # noqa: T201
                  "   service MiB   broker MiB   log kB   dropped")  # fmt: skip

            def now() -> Counter[str]:
                return Counter(
                    logged=len(process.errors) + len(process.output),
                    dropped=int(service.counted("pitlink_messages_dropped_total")),
                    repeats=load.traffic.repeated,
                )

            quiet = None
            async with load.connected(port):
                for kind in ("none", *kinds, "none"):
                    before, began = now(), time.monotonic()
                    with flooded(port, rate, kind) as sent:
                        _, times_s = await load.latency(OTHERS, PACE, seconds)
                        took_s = time.monotonic() - began
                    waited_s = times_s["wagers_to_reply"] + times_s["result_to_reply"]
                    p50, p99 = (percentile_ms(waited_s, percent) for percent in (50, 99))
                    quiet = quiet or (p50, p99)
                    eventually(service.ready, within_s=60, what="the service after the flood")
                    more, memory = now() - before, [rss_bytes(pid) // _MIB for pid in pids]
                    print(  # noqa: T201
                        f"{kind:10} {sent[0] / took_s:8.0f} {len(waited_s):8} {more['repeats']:8}"
                        f" {p50:8.1f} {p99:8.1f} {p50 / quiet[0]:7.2f} {p99 / quiet[1]:7.2f}"
                        f" {memory[0]:10} {memory[1]:12}"
                        f" {more['logged'] // 1000:8} {more['dropped']:9}",
                        flush=True,
                    )
            balanced = service.audit()["balanced"]
            service.close()
    print(f"the books {'balance' if balanced else 'do not balance'}")  # noqa: T201
    return bool(balanced)


def main() -> None:
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__)
    parser.add_argument(
        "--rate", type=int, default=10_000, help="messages a second in the flood (default 10000)"
    )
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="length of each flood in seconds (default 10)"
    )
    parser.add_argument(
        "--kind", choices=KINDS, action="append", help="measure only this kind of flood"
    )
    asked = parser.parse_args()
    if not uvloop.run(measure(asked.rate, asked.seconds, asked.kind or KINDS)):
        sys.exit(1)


if __name__ == "__main__":
    main()
