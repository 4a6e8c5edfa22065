"""CPU time of processes. It shows whether a slow figure is due to a busy machine."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NS_PER_S: Final = 1e9


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU seconds of each process, user and system, all threads; works on Linux only."""
    return {name: _threads_ns(pid) / _NS_PER_S for name, pid in pids.items()}


def used_since(before: Mapping[str, float], pids: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU seconds of each process since `cpu_seconds` returned `before`."""
    now = cpu_seconds(pids)
    return {name: now[name] - before[name] for name in before}


def _threads_ns(pid: int) -> int:
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        # A thread may end between the two readings.
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(task.read_text().split()[0])
    return total
