"""Work in another process, because it would stop the event loop for too long."""

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
    """Return what `work` returns for the values, called in another process.

    The process ends with the call, also if the call is canceled. It has a low priority, and is the
    first that the kernel ends if memory is short.

    Raises:
        BrokenProcessPool: somebody ended the process, or the memory was short.
    """
    context = multiprocessing.get_context("spawn")
    # Not an event: its `set` waits for the process, and for ever for one that was killed.
    told, ended = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(1, context, _begin, (told,))
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *given)
    finally:
        ended.close()  # a service that stops does not wait for the work
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
