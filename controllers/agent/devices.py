"""Where device events come from: lines of JSON on standard input, answered on standard output."""

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
"""Takes one device event, a line of JSON, and answers it."""


def read_lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a file descriptor, without their ends; the last may lack one.

    Of a line that is too long only so much is given that it can be told; the rest is passed over.
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
    """Take device events from a file descriptor until it ends, and answer each on another.

    The next line is given to the desk only when the one before is answered. A thread reads and
    writes, since a file, a pipe and a terminal all block, each in its own way; it is left behind,
    blocked as it may be, when this is cancelled.

    Returns:
        Whether every line was taken.

    Raises:
        OSError: the lines cannot be read, or nobody takes the answers any more.
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
        ended.set_running_or_notify_cancel()  # from here on, who waits may leave; the work goes on
        try:
            ended.set_result(converse())
        except (OSError, RuntimeError, concurrent.futures.CancelledError) as error:
            ended.set_exception(error)

    threading.Thread(target=work, name="device-lines", daemon=True).start()
    return await asyncio.wrap_future(ended)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
