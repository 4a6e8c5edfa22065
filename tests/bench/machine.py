import contextlib
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from tests.waiting import require

_NS_PER_S: Final = 1e9
_BYTES_PER_KIB: Final = 1024


def this_machine() -> dict[str, int | str]:
    """Return the machine and the versions of the parts; `cores` are those that we may use."""
    cpu = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu[1] if cpu else platform.processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "aiomqtt": version("aiomqtt"),
        "mqtt5": version("mqtt5"),
        "redis_server": _said(r"v=(\S+)", require("redis-server"), "--version"),
        "mosquitto": _said(r"mosquitto version (\S+)", require("mosquitto"), "-h"),
    }


def _said(pattern: str, *command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout)
    return found[1] if found else ""


def _read(path: str) -> str:
    """Return the text of a file of the system; nothing if the system does not have it."""
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8")
    return ""


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU seconds of each process, user and system, all threads; works on Linux only."""
    return {name: _threads_ns(pid) / _NS_PER_S for name, pid in pids.items()}


def _threads_ns(pid: int) -> int:
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    # A thread may end between the two readings.
    return sum(int((_read(str(thread)) or "0").split()[0]) for thread in threads)


def auditor_of(service: int) -> int:
    """Return the process id of the auditor that a service has started."""
    for child in _read(f"/proc/{service}/task/{service}/children").split():
        if "auditor_process" in _read(f"/proc/{child}/cmdline"):
            return int(child)
    raise UserError("the service has no auditor")


def read_bytes(pid: int) -> int:
    """Return how many bytes a process has read, also from its connections."""
    if found := re.search(r"^rchar: (\d+)", _read(f"/proc/{pid}/io"), re.MULTILINE):
        return int(found[1])
    raise UserError("an auditor ended during the measurement")


def rss_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if the system does not report it."""
    found = re.search(r"^VmRSS:\s*(\d+)", _read(f"/proc/{pid}/status"), re.MULTILINE)
    return int(found[1]) * _BYTES_PER_KIB if found else 0
