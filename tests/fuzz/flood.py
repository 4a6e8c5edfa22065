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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Final

from tests.bench.client import LoadClient
from tests.fuzz.flooder import KINDS
from tests.mqtt.events import encode, void, wagers
from tests.mqtt.stand import Stand
from tests.mqtt_packets import text
from tests.waiting import dies_with_us, eventually

OTHERS: Final = 19
PAUSE_S: Final = 0.2
"""Seconds between a reply and the table's next event."""
REPEAT_S: Final = 2.0
GIVEN_UP_S: Final = 10.0
"""Seconds after the end for which a table still waits for its reply."""
MAD: Final = "pitlink/v1/main/table/T-100/out"


@dataclass(frozen=True, slots=True)
class Waited:
    """Waiting times of the other tables in ms, and the number of their events."""

    events: int
    repeats: int
    p50_ms: float
    p99_ms: float


class Players:
    """The other tables, each with one unanswered event, over one connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._answered: dict[str, asyncio.Future[None]] = {}
        self._seqs: dict[str, int] = {}
        self._waited_s: list[float] = []
        self._repeats = 0

    async def play(self, seconds: float) -> Waited:
        """Play for a number of seconds."""
        self._waited_s, self._repeats = [], 0
        client = await LoadClient.connect(
            self._port, "players", subscribe=["pitlink/v1/main/table/+/in"], deliver=self._hear
        )
        try:
            await asyncio.gather(
                *(self._table(client, f"T-{1 + at}", seconds) for at in range(OTHERS))
            )
        finally:
            client.close()
        marks = quantiles(self._waited_s, n=100)
        return Waited(len(self._waited_s), self._repeats, marks[49] * 1000, marks[98] * 1000)

    def _hear(self, messages: Sequence[tuple[bytes, bytes]]) -> None:
        for topic, payload in messages:
            table = topic.split(b"/")[4].decode()
            waiting = self._answered.get(table)
            if waiting is None or waiting.done():
                continue
            reply = json.loads(payload)
            if reply["seq"] == self._seqs[table]:
                assert reply["status"] == "accepted", reply
                waiting.set_result(None)

    async def _table(self, client: LoadClient, table: str, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        out, end_s = text(f"pitlink/v1/main/table/{table}/out"), loop.time() + seconds
        while loop.time() < end_s or self._seqs[table] % 2:
            seq = self._seqs[table] = self._seqs.get(table, 0) + 1
            make, of = (wagers, seq) if seq % 2 else (void, seq - 1)
            payload = encode(make(seq, f"R{of}"))
            self._answered[table] = loop.create_future()
            began_s = loop.time()
            while not self._answered[table].done() and loop.time() < end_s + GIVEN_UP_S:
                client.publish(out, payload)
                client.flush()
                await asyncio.wait({self._answered[table]}, timeout=REPEAT_S)
                self._repeats += not self._answered[table].done()
            self._waited_s.append(loop.time() - began_s)
            await asyncio.sleep(PAUSE_S)


class Flood:
    """The process of the flooding table, from entry to exit."""

    def __init__(self, port: int, rate: int, kind: str) -> None:
        self._command = [sys.executable, "-m", "tests.fuzz.flooder"]
        self._command += [str(port), MAD, str(rate), kind]
        self.sent = 0

    def __enter__(self) -> "Flood":
        """Begin to flood."""
        self._process = subprocess.Popen(dies_with_us(self._command), stdout=subprocess.PIPE)
        return self

    def __exit__(self, *ended: object) -> None:
        """End the process, and count what was sent."""
        self._process.terminate()
        said, _ = self._process.communicate()
        self.sent = int((said.split() or [b"0"])[-1])


def memory_mib(pid: int) -> int:
    """Return a process's memory in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def measure(rate: int, seconds: float, kinds: Sequence[str]) -> bool:
    """Play without and with each flood and print the figures; return whether the books balance."""
    with tempfile.TemporaryDirectory(prefix="plt-") as home, Stand(Path(home)) as stand:
        # A subscriber to every message would only cost the machine's time.
        stand.ear.__exit__(None, None, None)
        players, pid = Players(stand.mosquitto.port), stand.service.process.process.pid
        print("flood        sent/s   events  repeats   p50 ms   p99 ms   ratio p50 p99"  # noqa: T201
              "   service MiB   broker MiB   log kB   dropped")  # fmt: skip
        quiet = None
        for kind in ("none", *kinds, "none"):
            logged = len(stand.service.process.errors) + len(stand.service.process.output)
            dropped = stand.service.counted("pitlink_messages_dropped_total")
            began = time.monotonic()
            with Flood(stand.mosquitto.port, rate, kind) if kind != "none" else _Nothing() as flood:
                waited = asyncio.run(players.play(seconds))
                took_s = time.monotonic() - began
            quiet = quiet or waited
            logged = len(stand.service.process.errors) + len(stand.service.process.output) - logged
            eventually(stand.service.ready, within_s=60, what="the service after the flood")
            dropped = stand.service.counted("pitlink_messages_dropped_total") - dropped
            print(  # noqa: T201
                f"{kind:10} {flood.sent / took_s:8.0f} {waited.events:8} {waited.repeats:8}"
                f" {waited.p50_ms:8.1f} {waited.p99_ms:8.1f}"
                f" {waited.p50_ms / quiet.p50_ms:7.2f} {waited.p99_ms / quiet.p99_ms:7.2f}"
                f" {memory_mib(pid):10} {memory_mib(stand.mosquitto.pid):12}"
                f" {logged // 1000:8} {dropped:9.0f}",
                flush=True,
            )
        balanced = bool(stand.service.audit()["balanced"])
        print(f"the books {'balance' if balanced else 'do not balance'}")  # noqa: T201
        return balanced


class _Nothing:
    sent = 0

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: object) -> None:
        return


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
