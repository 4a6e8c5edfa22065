"""Device events as lines of JSON on standard input, answered on standard output."""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Final

from bonus.printable import escape_in_json
from controllers.table.device_events import LINE_BYTES_MAX, DeviceAnswer, encode_answer

_CHUNK_BYTES: Final = 65_536


DeviceHandler = Callable[[bytes], Coroutine[object, None, DeviceAnswer]]


def read_lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file descriptor without their ends.

    A line that is too long is cut just after the limit, so the caller can detect the excess.
    """
    held = b""
    passing = False
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        *lines, rest = (held + chunk).split(b"\n")
        for line in lines:
            if not passing:
                yield line[: LINE_BYTES_MAX + 1]
            passing = False
        held = b"" if passing else rest
        if len(held) > LINE_BYTES_MAX:
            yield held[: LINE_BYTES_MAX + 1]
            held, passing = b"", True
    if held and not passing:
        yield held


async def answer_lines(handle: DeviceHandler, source: int, sink: int) -> bool:
    """Answer the device events that file descriptor `source` gives, until its end.

    Each line waits for the answer to the one before. A separate thread reads and writes, because
    files, pipes and terminals can block. If this call is canceled, the thread is left running: a
    blocked thread cannot be stopped.

    Returns:
        True if every line was accepted.

    Raises:
        OSError: the lines cannot be read, or the answers cannot be written.
    """
    loop = asyncio.get_running_loop()
    ended: concurrent.futures.Future[bool] = concurrent.futures.Future()

    def converse() -> bool:
        all_taken = True
        for line in read_lines(source):
            answer = asyncio.run_coroutine_threadsafe(handle(line), loop).result()
            text = escape_in_json(encode_answer(answer).decode())
            _write_all(sink, f"{text}\n".encode())
            all_taken = all_taken and answer.ok
        return all_taken

    def work() -> None:
        # From here on, a cancellation of the waiting task does not stop this thread.
        ended.set_running_or_notify_cancel()
        try:
            ended.set_result(converse())
        except (OSError, RuntimeError, concurrent.futures.CancelledError) as error:
            ended.set_exception(error)

    threading.Thread(target=work, name="device-lines", daemon=True).start()
    return await asyncio.wrap_future(ended)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
