"""A connection to a real Redis. By the seed, it answers immediately, late or not at all."""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.sim.loop import current_process
from tests.sim.world import World

_PIECE_BYTES: Final = 262_144
_REAL_TIMEOUT: Final = struct.pack("@ll", 60, 0)
"""Seconds and microseconds after which a read or a write of the socket fails."""
_QUICK_S: Final = (0.0002, 0.004)
_STALLS_S: Final = (0.5, 40.0)
_CONNECTIONS: Final = 16
_ANSWER_WITHIN_S: Final = 30
_CONNECT_WITHIN_S: Final = 5
_SCRIPT: Final = b"EVALSHA"


class _Stream:
    """Reader and writer of one connection; a command and its answer are one blocking step."""

    def __init__(self, server: Path, world: World, wrote: Callable[[], None]) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        # The kernel's own timeouts need no further call of the kernel for each read and write.
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _REAL_TIMEOUT)
        self._socket.connect(str(server))
        self._world = world
        self._wrote = wrote
        self._chance = world.chance(f"redis/{world.events}")
        self._unsent: list[bytes] = []
        self._buffer = b""
        self._late = False
        self._broken = False

    def writelines(self, pieces: Iterable[bytes]) -> None:
        self._unsent += [bytes(piece) for piece in pieces]

    async def drain(self) -> None:
        command, self._unsent = b"".join(self._unsent), []
        script = _SCRIPT in command[:64]
        await self._before(script=script)
        self._socket.sendall(command)
        self._buffer += self._socket.recv(_PIECE_BYTES)
        self._late = True
        if self._buffer:
            if script:
                self._wrote()
            await self._after(script=script)

    async def _before(self, *, script: bool) -> None:
        world = self._world
        pause_s = self._chance.uniform(*_QUICK_S)
        if world.weather.strikes("redis stalls"):
            pause_s = self._chance.uniform(*_STALLS_S)
            world.note(f"redis stalls for {pause_s:.1f} s")
        await asyncio.sleep(pause_s)
        process = current_process()
        if script and process is not None:
            await world.crash("service killed before", process.kill)
        if world.weather.strikes("redis cut before"):
            raise ConnectionResetError(104, "cut before the command")

    async def _after(self, *, script: bool) -> None:
        world, process = self._world, current_process()
        if script and process is not None:
            await world.crash("service killed after", process.kill)
        self._broken = world.weather.strikes("redis cut after")

    async def read(self, _size: int) -> bytes:
        if self._late:
            self._late = False
            await asyncio.sleep(self._chance.uniform(*_QUICK_S))
        if self._broken:
            raise ConnectionResetError(104, "cut after the command")
        answer, self._buffer = self._buffer or self._socket.recv(_PIECE_BYTES), b""
        return answer

    def at_eof(self) -> bool:
        return self._broken

    def close(self) -> None:
        self._socket.close()

    async def wait_closed(self) -> None:
        """Return immediately, because `close` closes completely."""

    def get_extra_info(self, _name: str) -> None:
        """Return None for every name."""


class SimulatedConnection(AbstractConnection):
    def __init__(
        self,
        *,
        server: Path,
        world: World,
        wrote: Callable[[], None],
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        self._make: Callable[[], _Stream] = lambda: _Stream(server, world, wrote)
        super().__init__(**kwargs)

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("path", "simulated")]

    def _host_error(self) -> str:
        return "the simulated Redis"

    async def _connect(self) -> None:
        await asyncio.sleep(_QUICK_S[0])
        stream: Any = self._make()
        self._reader, self._writer = stream, stream
        await self.on_connect()


def troubled_redis(server: Path, world: World, wrote: Callable[[], None]) -> Redis:
    """Return a client with the service's own settings; call `wrote` after each script."""
    pool = BlockingConnectionPool(
        connection_class=SimulatedConnection,
        max_connections=_CONNECTIONS,
        timeout=_ANSWER_WITHIN_S,
        socket_timeout=_ANSWER_WITHIN_S,
        socket_connect_timeout=_CONNECT_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
        server=server,
        world=world,
        wrote=wrote,
    )
    return Redis(connection_pool=pool)
