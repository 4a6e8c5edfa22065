"""Work that runs in another process, because it would stop the event loop for too long."""

import asyncio
import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, TypeVar, TypeVarTuple

from meters.process.signals import begin_worker_process

_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")

_NICE: Final = 10


async def in_other_process(work: Callable[[*_Given], _T], *given: *_Given) -> _T:
    """Call `work` with the values in another process, and return its result.

    When the call ends or is canceled, the process ends. The process has a low priority. If memory
    is short, the kernel ends it before other processes.

    Raises:
        BrokenProcessPool: somebody ended the process, or memory was short.
    """
    context = multiprocessing.get_context("spawn")
    # The `set` of an event would wait for the process, even if the process was killed.
    told, ended = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(1, context, _begin, (told,))
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *given)
    finally:
        ended.close()  # this ends the process, even if the work is not done
        told.close()
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(told: Connection) -> None:
    begin_worker_process()
    threading.Thread(target=_end_after, args=(told,), daemon=True).start()
    with contextlib.suppress(OSError):  # a sandbox can refuse both
        Path("/proc/self/oom_score_adj").write_text("1000")
        os.nice(_NICE)


def _end_after(told: Connection) -> None:
    told.poll(None)
    os._exit(0)
