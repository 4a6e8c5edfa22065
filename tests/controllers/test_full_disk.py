"""An outbox on a full disk: an event that cannot be stored is refused and not published.

The disk is a real one of a megabyte, a tmpfs, which only root can mount.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from controllers.agent.outbox import Outbox, OutboxError
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, say, say_all, until_code
from tests.servers import Mosquitto, eventually_async

UNTIL_SETTLE = "chips 1; hand 3 2h 7d 9c; dealer 3h 8d Kc"


class SmallDisk:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Leave no free byte, and no page inside a file that could grow."""
        with self._filler.open("wb", buffering=0) as filler:
            for size in (65_536, 1):
                try:
                    while True:
                        filler.write(b"x" * size)
                except OSError:
                    continue

    def free(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = os.geteuid() == 0 and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "pitlink-test", str(path)]
    )
    if not mounted:
        pytest.skip("only root can mount a small disk")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.fixture
async def agent(
    mosquitto: Mosquitto, service: ScriptedService, disk: SmallDisk
) -> AsyncIterator[Agent]:
    # The test is about the disk: a busy machine must not count as a link that is down.
    patient = replace(SWIFT, silence_s=30.0)
    async with live_agent(mosquitto.url, disk.path / "T-1.sqlite", patient) as agent:
        yield agent


async def is_refused(agent: Agent, text: str) -> None:
    before, last = agent.table_state, agent.writer.last_seq
    answer = await say(agent, text)
    assert not answer.ok
    assert answer.error
    assert answer.error.code == "outbox_failed"
    assert "the outbox cannot be written: " in answer.error.message
    assert (agent.table_state, agent.writer.last_seq, agent.unanswered) == (before, last, None)
    if text.startswith("wager"):
        assert answer.light is False
    if text.startswith("withdraw"):
        assert answer.light is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "refused", "sent"),
    [
        ("", "wager 3 progressive", 0),
        ("wager 3 progressive", "withdraw 3 progressive", 0),
        ("wager 3 progressive", "lockout", 0),
        ("wager 3 progressive; lockout", "chips 1", 1),
        ("wager 3 progressive; lockout; chips 1", "hand 3 2h 7d 9c", 1),
        (f"wager 3 progressive; lockout; {UNTIL_SETTLE}", "settle", 1),
        (f"wager 3 progressive; lockout; {UNTIL_SETTLE}", "void", 1),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_taken_once_there_is_room(
    agent: Agent, service: ScriptedService, disk: SmallDisk, *, before: str, refused: str, sent: int
) -> None:
    if before:
        await say_all(agent, before)
    disk.fill()
    for _ in range(2):
        await is_refused(agent, refused)
    assert len(service.numbers) == sent, "something was published that is not in the outbox"
    disk.free()
    await until_code(agent, refused, None)


@pytest.mark.slow
async def test_a_reply_that_cannot_be_kept_is_not_passed_on_until_there_is_room(
    agent: Agent, service: ScriptedService, disk: SmallDisk
) -> None:
    await say_all(agent, "wager 3 progressive")
    service.answering = False
    task = asyncio.create_task(say(agent, "lockout"))
    await eventually_async(lambda: service.heard, what="the wagers sent")
    disk.fill()
    service.answering = True
    await eventually_async(lambda: service.last_seq == 1, what="the wagers taken")
    await asyncio.wait({task}, timeout=1.5)
    assert not task.done(), "lock-out was answered though the reply is on no disk"
    disk.free()
    assert (await task).ok
    assert [event["seq"] for event in service.applied] == [1]


def test_an_outbox_cannot_be_made_on_a_full_disk(disk: SmallDisk) -> None:
    disk.fill()
    with pytest.raises(OutboxError, match=r"outbox .*: database or disk is full"):
        Outbox.open(disk.path / "T-2.sqlite", "one", "T-2")
