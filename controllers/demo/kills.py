"""Kills the service, Redis and the broker of a demonstration in turn, as `kill -9` does."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from controllers.demo.demo_service import DemoService

_BACK_WITHIN_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.05


async def kill_in_turn(
    service: DemoService, data: Path, pause_s: float
) -> AsyncIterator[tuple[str, float]]:
    """Kill the service, Redis and the broker in turn, without end, each after a pause.

    Yields:
        after each restart, the name of the killed process and the seconds that the restart took.

    Raises:
        UserError: a killed process did not start again, or the service did not become ready.
    """
    loop = asyncio.get_running_loop()
    for name in itertools.cycle(("service", "Redis", "broker")):
        await asyncio.sleep(pause_s)
        begun_s = loop.time()
        if name == "service":
            await service.kill()
        else:
            await _kill_server(name, data / name.lower())
        back_s = loop.time() - begun_s
        yield name, back_s
        await service.become_ready()


async def _kill_server(name: str, home: Path) -> None:
    """Kill the embedded server whose files are in `home`, and wait until another one runs."""
    killed = _server_of(home)
    if killed is not None:
        os.kill(killed, signal.SIGKILL)
    try:
        async with asyncio.timeout(_BACK_WITHIN_S):
            while _server_of(home) in {None, killed}:  # noqa: ASYNC110  (it has no event)
                await asyncio.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        raise UserError(f"{name} did not start again; see {home.parent / 'logs'}") from None


def _server_of(home: Path) -> int | None:
    supervisor = [b"meters.embedded.supervisor", os.fsencode(home.absolute())]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[3:5] == supervisor:
                servers = (process / "task" / process.name / "children").read_text().split()
                return int(servers[0]) if servers else None
    return None
