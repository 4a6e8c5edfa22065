"""The machine and the software versions of a benchmark."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from meters.embedded.redis_server import redis_command

_ANSWER_WITHIN_S: Final = 10.0


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Machine and versions of the parts; `cores` are those that this process may use."""

    cores: int
    cpu: str
    system: str
    python: str
    aiomqtt: str
    mqtt5: str
    redis_server: str
    mosquitto: str


def this_machine() -> Machine:
    """Return the description of this machine."""
    redis_server, *_ = redis_command(Path())
    return Machine(
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cpu_count(),
        cpu=_cpu_name(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        aiomqtt=version("aiomqtt"),
        mqtt5=version("mqtt5"),
        redis_server=_said(r"v=(\S+)", redis_server, "--version"),
        mosquitto=_said(r"mosquitto version (\S+)", "mosquitto", "-h"),
    )


def _cpu_count() -> int:
    return os.cpu_count() or 1


def _cpu_name() -> str:
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor()


def _said(pattern: str, *command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_ANSWER_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(pattern, done.stdout)
    return found[1] if found else ""
