"""Device events as lines: read whole, in turn, and answered one by one."""

import asyncio
import os
import threading
from collections.abc import Iterator

import msgspec
import pytest

from controllers.panel.table_program import answer_lines, read_lines
from controllers.table.device_events import LINE_BYTES_MAX, DeviceAnswer
from tests.servers import eventually_async


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def lines_of(pipe: tuple[int, int], *chunks: bytes) -> list[bytes]:

    def write() -> None:
        for chunk in chunks:
            os.write(pipe[1], chunk)
        os.close(pipe[1])

    writer = threading.Thread(target=write)
    writer.start()
    lines = list(read_lines(pipe[0]))
    writer.join()
    return lines


def test_lines_are_whole_however_they_come(pipe: tuple[int, int]) -> None:
    assert lines_of(pipe, b"one\ntw", b"o\n\nfo", b"ur") == [b"one", b"two", b"", b"four"]


@pytest.mark.parametrize("excess", [1, 70_000, 300_000])
def test_of_a_long_line_only_so_much_is_kept_and_the_next_is_whole(
    pipe: tuple[int, int], excess: int
) -> None:
    long = b"x" * (LINE_BYTES_MAX + excess)
    lines = lines_of(pipe, b"one\n", long + b"\n", b"two\n", long)
    assert [line[:3] for line in lines] == [b"one", b"xxx", b"two", b"xxx"]
    assert [len(line) for line in lines] == [3, LINE_BYTES_MAX + 1, 3, LINE_BYTES_MAX + 1]


class SlowAgent:
    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.go = asyncio.Semaphore(0)

    async def handle(self, line: bytes) -> DeviceAnswer:
        self.taken.append(line)
        await self.go.acquire()
        return DeviceAnswer(event=line.decode(), ok=line != b"bad")


async def test_the_next_line_is_taken_when_the_one_before_is_answered(
    pipe: tuple[int, int],
) -> None:
    agent = SlowAgent()
    out_read, out_write = os.pipe()
    try:
        os.write(pipe[1], b"one\nbad\nthree\n")
        task = asyncio.create_task(answer_lines(agent.handle, pipe[0], out_write))
        await eventually_async(lambda: agent.taken == [b"one"])
        agent.go.release()
        await eventually_async(lambda: agent.taken == [b"one", b"bad"])
        os.close(pipe[1])
        agent.go.release()
        agent.go.release()
        assert await task is False
        answers = [msgspec.json.decode(line) for line in os.read(out_read, 4096).splitlines()]
        assert answers == [
            {"event": "one", "ok": True},
            {"event": "bad", "ok": False},
            {"event": "three", "ok": True},
        ]
    finally:
        os.close(out_read)
        os.close(out_write)


async def test_nobody_reading_the_answers_is_an_error(pipe: tuple[int, int]) -> None:
    agent = SlowAgent()
    agent.go.release()
    out_read, out_write = os.pipe()
    os.close(out_read)
    try:
        os.write(pipe[1], b"one\n")
        with pytest.raises(BrokenPipeError):
            await answer_lines(agent.handle, pipe[0], out_write)
    finally:
        os.close(out_write)
