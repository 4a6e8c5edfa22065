"""The CPU time that processes have used, by which a figure can be told from a busy machine's."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NS_PER_S: Final = 1e9


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """What each process has used in seconds, user and system, all threads; only Linux tells."""
    return {name: _threads_ns(pid) / _NS_PER_S for name, pid in pids.items()}


def used_since(before: Mapping[str, float], pids: Mapping[str, int]) -> dict[str, float]:
    """What each process has used, in seconds, since `cpu_seconds` gave `before`."""
    now = cpu_seconds(pids)
    return {name: now[name] - before[name] for name in before}


def _threads_ns(pid: int) -> int:
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        # A thread may end between the two looks.
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(task.read_text().split()[0])
    return total
