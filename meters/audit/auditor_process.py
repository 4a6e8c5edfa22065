"""The auditor's process: it reads orders from standard input, and writes reports to its output.

`pitlink serve` starts the process, and starts it again when it ends. If the key bundle gives the
auditor a Redis user of its own, this user can write nothing. The process ends when its standard
input ends, so it does not outlive the service.
"""

import asyncio
import contextlib
import os
import pickle
from asyncio import StreamReader
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from meters.audit.auditor import AuditOrder, AuditorReport, LinkAuditor
from meters.floor.floor_file import Floor
from meters.process.signals import leave_stops_to_parent
from meters.store.link_store import LinkStore
from meters.store.redis_connect import open_redis

BEAT_EVERY_S: Final = 1.0
_NICE: Final = 5
_LENGTH_BYTES: Final = 4
_INPUT, _OUTPUT = 0, 1


class Beat(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A sign that the auditor runs, even during a long audit."""


_ORDER: Final = msgspec.msgpack.Decoder(AuditOrder)
_ANSWER: Final = msgspec.msgpack.Decoder(AuditorReport | Beat)


def frame(content: bytes) -> bytes:
    """Return content in the form that both processes send: its length, then the content."""
    return len(content).to_bytes(_LENGTH_BYTES) + content


async def read_frame(reader: StreamReader) -> bytes:
    """Return the next content.

    Raises:
        IncompleteReadError: the other process has closed its end.
    """
    length = await reader.readexactly(_LENGTH_BYTES)
    return await reader.readexactly(int.from_bytes(length))


def first_frame(floor: Floor) -> bytes:
    """Return what the auditor must receive first: the floor file as the service has read it."""
    return frame(pickle.dumps(floor))


def order_frame(order: AuditOrder) -> bytes:
    return frame(msgspec.msgpack.encode(order))


def answer_of(content: bytes) -> AuditorReport | Beat:
    return _ANSWER.decode(content)


def main() -> None:
    leave_stops_to_parent()
    with contextlib.suppress(OSError):  # a sandbox can refuse both
        Path("/proc/self/oom_score_adj").write_text("500")
        os.nice(_NICE)
    uvloop.run(_serve())


async def _serve() -> None:
    reader = StreamReader()
    protocol, pipe = asyncio.StreamReaderProtocol(reader), os.fdopen(_INPUT, "rb", 0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    floor: Floor = pickle.loads(await _order_in(reader))  # noqa: S301  (from the service)
    async with open_redis(floor, only_reads=True, starts=False, audits=True) as redis:
        data = Path(floor.service.data)
        auditors = {link.id: LinkAuditor(LinkStore(redis, link), data) for link in floor.link}
        async with asyncio.TaskGroup() as group:
            group.create_task(_beat())
            while True:
                order = _ORDER.decode(await _order_in(reader))
                group.create_task(_carry_out(auditors[order.link], order))


async def _order_in(reader: StreamReader) -> bytes:
    """Return the next content from the service. If the service has ended, end this process."""
    try:
        return await read_frame(reader)
    except asyncio.IncompleteReadError:
        os._exit(0)


async def _carry_out(auditor: LinkAuditor, order: AuditOrder) -> None:
    _send(await auditor.carry_out(order))


async def _beat() -> None:
    while True:
        _send(Beat())
        await asyncio.sleep(BEAT_EVERY_S)


def _send(answer: AuditorReport | Beat) -> None:
    rest = memoryview(frame(msgspec.msgpack.encode(answer)))
    try:
        while rest:
            rest = rest[os.write(_OUTPUT, rest) :]
    except BrokenPipeError:
        os._exit(0)  # the service has ended


if __name__ == "__main__":
    main()
