"""The processes that are measured: commands, the service and a table's agent."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError
from meters.embedded.broker import LOOPBACK
from tests.approving import approve_before_serve
from tests.bench.cpu import cpu_seconds
from tests.bench.parts import Part, part
from tests.bench.stand import PITLINK

_COMMAND_WITHIN_S: Final = 1_200.0
_ROUND_WITHIN_S: Final = 60.0
_ANSWER_WITHIN_S: Final = 2.0
_BYTES_PER_KIB: Final = 1024
_FIVES: Final = {
    1: ("2c", "7d", "9h"), 2: ("3c", "8d", "Th"), 3: ("4c", "9d", "Jh"), 4: ("5c", "Td", "Qh"),
    5: ("2d", "8h", "Js"), 6: ("3d", "9s", "Qs"), 7: ("4d", "Ts", "Ks"),
}  # fmt: skip
_DEALER: Final = ("6c", "8s", "Kh")
_COMMUNITY: Final = ("5h", "Ac")


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    elapsed_s: float
    cpu_s: float


async def timed(home: Path, *arguments: str) -> Seconds:
    """Run one of our commands to its end."""
    import resource  # noqa: PLC0415  (it is not there on every system)

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    async with part(f"pitlink {arguments[0]}", [*PITLINK, *arguments], home) as command:
        try:
            async with asyncio.timeout(_COMMAND_WITHIN_S):
                status = await command.process.wait()
        except TimeoutError:
            raise UserError(f"{command.name} does not end{command.last_words()}") from None
        if status:
            raise UserError(f"{command.name} failed{command.last_words()}")
    elapsed, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(elapsed_s=elapsed, cpu_s=cpu_s)


@asynccontextmanager
async def running_service(
    config: Path, http: str, home: Path
) -> AsyncIterator[tuple[Part, Seconds]]:
    """Run `pitlink serve` until every link operates; yield it with the time that this took."""
    arguments = ("serve", "--config", str(config))
    await asyncio.to_thread(approve_before_serve, arguments, None, filled=True)
    began = time.monotonic()
    command = [*PITLINK, *arguments]
    async with part("the service", command, home) as service:
        await service.until(partial(_ready, http))
        elapsed = time.monotonic() - began
        cpu_s = cpu_seconds({"service": service.pid})["service"]
        yield service, Seconds(elapsed_s=elapsed, cpu_s=cpu_s)


async def _ready(http: str) -> bool:
    """Return whether every link of a service operates."""
    host, _, port = http.rpartition(":")
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_ANSWER_WITHIN_S):
            reader, writer = await asyncio.open_connection(host, int(port))
            with contextlib.closing(writer):
                writer.write(f"GET /readyz HTTP/1.0\r\nHost: {LOOPBACK}\r\n\r\n".encode())
                return b" 200 " in await reader.readline()
    return False


def rss_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if the system does not report it."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * _BYTES_PER_KIB
    return 0


async def play_agent(table: str, config: Path, outbox: Path, rounds: int) -> int:
    """Play rounds without a win at one table through its agent; return its memory in bytes."""
    command = [*PITLINK, "table", table, "--config", str(config), "--events"]
    command += ["--outbox", str(outbox)]
    async with part("the agent", command, outbox.parent, piped=True) as agent:
        try:
            for _ in range(rounds):
                async with asyncio.timeout(_ROUND_WITHIN_S):
                    await _play_round(agent)
            found = rss_bytes(agent.pid)
            async with asyncio.timeout(_ROUND_WITHIN_S):
                await agent.process.communicate(b"")
        except TimeoutError:
            raise UserError(f"the agent does not answer{agent.last_words()}") from None
        if agent.process.returncode:
            raise UserError(f"the agent failed{agent.last_words()}")
    return found


async def _play_round(agent: Part) -> None:
    pipe_in, pipe_out = agent.process.stdin, agent.process.stdout
    if pipe_in is None or pipe_out is None:
        raise ValueError("the agent has no pipes")
    lines = [msgspec.json.encode(line) for line in _round()]
    pipe_in.write(b"\n".join(lines) + b"\n")
    for _ in lines:
        answer = await pipe_out.readline()
        if b'"ok":true' not in answer:
            answer_text = answer.decode(errors="replace").strip()
            raise UserError(f"the agent refused an event: {answer_text}{agent.last_words()}")


def _round() -> Iterator[dict[str, object]]:
    """Yield the device events of a round with seven positions and two wagers each."""
    for position in _FIVES:
        for wager in ("progressive", "five_card_progressive"):
            amount = {"amount": 100, "patron": f"p{position}"}
            yield {"event": "wager", "position": position, "wager": wager, **amount}
    yield {"event": "lockout"}
    yield {"event": "chips", "count": 2 * len(_FIVES)}
    for position, cards in _FIVES.items():
        yield {"event": "hand", "position": position, "cards": cards}
    yield {"event": "dealer", "cards": _DEALER}
    yield {"event": "community", "cards": _COMMUNITY}
    yield {"event": "settle"}
    yield {"event": "next"}
