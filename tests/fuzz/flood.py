"""Flood one table's topic while the others play: ``python -m tests flood --rate 10000``.

The run starts a real mosquitto, a real redis-server and `pitlink serve`. Nineteen tables play at
their usual pace. It measures how long each waits for its replies, without a flood and under each
kind of flood.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Final

from tests.bench.client import LoadClient
from tests.bench.machine import rss_bytes
from tests.fuzz.junk import mutated
from tests.fuzz.service_targets import EVENTS
from tests.mqtt.events import encode, void, wagers
from tests.mqtt.stand import Stand
from tests.waiting import dies_with_us, eventually

KINDS: Final = ("repeats", "junk", "oversized")
OTHERS: Final = 19
PAUSE_S: Final = 0.2
"""Seconds between a reply and the table's next event."""
REPEAT_S: Final = 2.0
GIVEN_UP_S: Final = 10.0
"""Seconds after the end for which a table still waits for its reply."""
MAD: Final = "pitlink/v1/main/table/T-100/out"
_STEP_S: Final = 0.01
_OVERSIZED_BYTES: Final = 60_000
_AHEAD_BYTES: Final = 1_000_000
_MIB: Final = 1 << 20


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


@contextmanager
def flooded(port: int, rate: int, kind: str) -> Iterator[list[int]]:
    """Flood from another process until the end of the block; then yield how much was sent."""
    sent: list[int] = [0]
    if kind == "none":
        yield sent
        return
    command = [sys.executable, "-c", _FLOOD, str(port), str(rate), kind]
    with subprocess.Popen(dies_with_us(command), stdout=subprocess.PIPE) as process:
        try:
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


class Players:
    """The other tables, each with one unanswered event, over one connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._answered: dict[str, asyncio.Future[None]] = {}
        self._seqs: dict[str, int] = {}
        self.waited_ms: list[float] = []
        self.repeats = 0

    async def play(self, seconds: float) -> None:
        """Play for a number of seconds, and measure how long each event waits for its reply."""
        self.waited_ms, self.repeats = [], 0
        async with LoadClient(self._port, "players", self._hear) as client:
            await client.subscribe("pitlink/v1/main/table/+/in")
            await asyncio.gather(
                *(self._table(client, f"T-{1 + at}", seconds) for at in range(OTHERS))
            )

    def _hear(self, topic: str, payload: bytes) -> None:
        table = topic.split("/")[4]
        waiting = self._answered.get(table)
        if waiting is None or waiting.done():
            return
        reply = json.loads(payload)
        if reply["seq"] == self._seqs[table]:
            assert reply["status"] == "accepted", reply
            waiting.set_result(None)

    async def _table(self, client: LoadClient, table: str, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        out, end_s = f"pitlink/v1/main/table/{table}/out", loop.time() + seconds
        while loop.time() < end_s or self._seqs[table] % 2:
            seq = self._seqs[table] = self._seqs.get(table, 0) + 1
            make, of = (wagers, seq) if seq % 2 else (void, seq - 1)
            payload = encode(make(seq, f"R{of}"))
            self._answered[table] = loop.create_future()
            began_s = loop.time()
            while not self._answered[table].done() and loop.time() < end_s + GIVEN_UP_S:
                client.post(out, payload)
                await asyncio.wait({self._answered[table]}, timeout=REPEAT_S)
                self.repeats += not self._answered[table].done()
            self.waited_ms.append((loop.time() - began_s) * 1_000)
            await asyncio.sleep(PAUSE_S)


def measure(rate: int, seconds: float, kinds: Sequence[str]) -> bool:
    """Play without and with each flood and print the figures; return whether the books balance."""
    with tempfile.TemporaryDirectory(prefix="plt-") as home, Stand(Path(home)) as stand:
        # A subscriber to every message would only cost the machine's time.
        stand.ear.__exit__(None, None, None)
        players, service = Players(stand.mosquitto.port), stand.service
        print("flood        sent/s   events  repeats   p50 ms   p99 ms   ratio p50 p99"  # noqa: T201
              "   service MiB   broker MiB   log kB   dropped")  # fmt: skip

        def now() -> tuple[int, float]:
            logged = len(service.process.errors) + len(service.process.output)
            return logged, service.counted("pitlink_messages_dropped_total")

        quiet = None
        for kind in ("none", *kinds, "none"):
            logged, dropped = now()
            began = time.monotonic()
            with flooded(stand.mosquitto.port, rate, kind) as sent:
                asyncio.run(players.play(seconds))
                took_s = time.monotonic() - began
            marks = quantiles(players.waited_ms, n=100)
            p50, p99 = marks[49], marks[98]
            quiet = quiet or (p50, p99)
            eventually(service.ready, within_s=60, what="the service after the flood")
            logged_now, dropped_now = now()
            memory = [
                rss_bytes(pid) // _MIB for pid in (service.process.process.pid, stand.mosquitto.pid)
            ]
            print(  # noqa: T201
                f"{kind:10} {sent[0] / took_s:8.0f} {len(players.waited_ms):8} {players.repeats:8}"
                f" {p50:8.1f} {p99:8.1f} {p50 / quiet[0]:7.2f} {p99 / quiet[1]:7.2f}"
                f" {memory[0]:10} {memory[1]:12}"
                f" {(logged_now - logged) // 1000:8} {dropped_now - dropped:9.0f}",
                flush=True,
            )
        balanced = bool(service.audit()["balanced"])
        print(f"the books {'balance' if balanced else 'do not balance'}")  # noqa: T201
        return balanced


def main() -> None:
    """Read the arguments, and measure."""
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
    if not measure(asked.rate, asked.seconds, asked.kind or KINDS):
        sys.exit(1)


if __name__ == "__main__":
    main()
