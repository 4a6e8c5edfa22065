"""Work in another process, because it would stop the event loop for too long."""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Event
from typing import TypeVar, TypeVarTuple

from meters.process.signals import begin_worker_process

_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")


async def in_other_process(work: Callable[[*_Given], _T], *given: *_Given) -> _T:
    """Return what `work` returns for the values, called in another process.

    The process ends with the call, also if the call is canceled.

    Raises:
        BrokenProcessPool: somebody ended the process, or the memory was short.
    """
    context = multiprocessing.get_context("spawn")
    ended = context.Event()
    pool = ProcessPoolExecutor(1, context, _begin, (ended,))
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *given)
    finally:
        ended.set()  # a service that stops does not wait for the work
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(ended: Event) -> None:
    begin_worker_process()
    threading.Thread(target=_end_after, args=(ended,), daemon=True).start()


def _end_after(ended: Event) -> None:
    ended.wait()
    os._exit(0)
