"""Kills the service, Redis and the broker of a demonstration in turn, as `kill -9` does."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from controllers.demo.demo_service import DemoService


async def kill_in_turn(service: DemoService, data: Path, pause_s: float) -> AsyncIterator[str]:
    """Kill the service, Redis and the broker in turn, for ever, and yield the name of each.

    Each starts again, and the next one is killed `pause_s` seconds after the service is ready.

    Raises:
        UserError: the service did not start again.
    """
    for name in itertools.cycle(("service", "Redis", "broker")):
        await asyncio.sleep(pause_s)
        if name == "service":
            await service.kill()
        elif not _kill_server(data / name.lower()):
            continue
        yield name
        await service.become_ready()


def _kill_server(home: Path) -> bool:
    """Kill the embedded server whose files are in `home`; False if it does not run now."""
    supervisor = [b"meters.embedded.supervisor", os.fsencode(home.absolute())]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[3:5] == supervisor:
                servers = (process / "task" / process.name / "children").read_text().split()
                for server in servers:
                    os.kill(int(server), signal.SIGKILL)
                return bool(servers)
    return False
