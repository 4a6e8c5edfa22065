"""Invalid messages on the topics of an agent: it ignores them, and play continues."""

import re
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from controllers.agent.outbox import Outbox, OutboxError, SavedTable
from meters.wire import topics
from tests.controllers.floors import link_and_table
from tests.controllers.scripted import LINK, TABLE, ScriptedService, say_all
from tests.controllers.test_agent import ROUND
from tests.fuzz.service_targets import EVENTS

HEARD = (
    topics.table_in(LINK, TABLE),
    topics.controller(LINK),
    topics.jackpot(LINK),
    topics.meter(LINK, "progressive"),
)
JUNK = {
    "nothing": b"",
    "no JSON": b"hello there",
    "no UTF-8": b'{"reason":"\xff"}',
    "objects in objects": b'{"type":' * 6_000,
    "lists in lists": b'{"type":' + b"[" * 60_000,
    "lists in lists for lines": b'{"seq":1,"status":"accepted","lines":' + b"[" * 60_000,
    "a number without end": b'{"seq":' + b"9" * 60_000 + b"}",
    "a number that no outbox could go on from": (
        b'{"type":"hello","last_seq":%d,"open_round":null}' % 2**70
    ),
    "a number before the first": b'{"type":"hello","last_seq":-1,"open_round":null}',
    "another's message": b'{"online":true,"state":"open","at":"2026-11-20T02:14:07Z"}',
}


async def test_junk_on_any_topic_leaves_the_table_playing(
    agent: Agent, service: ScriptedService
) -> None:
    for rounds, (what, junk) in enumerate(JUNK.items(), start=1):
        for topic in HEARD:
            await service.say(topic, junk)
        await say_all(agent, ROUND)
        assert service.last_seq == 2 * rounds, what


@pytest.mark.parametrize("column", ["state", "payload"])
@pytest.mark.parametrize(
    "junk", [b"", b'{"phase":"\xff"}', b'{"type":' * 6_000, b'{"round":' + b"[" * 60_000, b"null"]
)
async def test_an_outbox_that_says_nothing_sensible_is_refused(
    tmp_path: Path, column: str, junk: bytes
) -> None:
    path = tmp_path / "T-1.sqlite"
    outbox = Outbox.open(path, LINK, TABLE)
    outbox.write_event(1, junk if column == "payload" else EVENTS[0], b"{}", b"")
    if column == "state":
        outbox.write_place(SavedTable(junk, None, None))
    outbox.close()
    with pytest.raises(OutboxError, match=re.escape(str(path))):
        async with Agent(*link_and_table(TABLE), "", path):
            pytest.fail("the agent went on from nothing sensible")
