"""A correction that waits for a floorperson: retried automatically, through loss and restarts."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controllers.agent.agent import Agent
from controllers.table.device_events import DeviceAnswer
from controllers.table.state import Phase
from tests.controllers.floors import HandTable, line_of
from tests.controllers.scripted import LiveTable, ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import ROUND
from tests.controllers.test_agent_panel import WIN
from tests.servers import Mosquitto, eventually_async

pytestmark = pytest.mark.duty("D17")

DEALT = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs"
DIFFERENT = f"{DEALT}; retract hand 3 reason=Mistyped; hand 3 9h 8h 7h; dealer 2c 7d 9s"
ASKING = f"start; service is confirming true; {DIFFERENT}"
VOID = b'{"event":"void","reason":"misdeal","confirm":true}'
SETTLE = b'{"event":"settle","confirm":true}'


async def tries(service: ScriptedService, count: int) -> None:
    sent = len(service.applied)
    await eventually_async(lambda: len(service.applied) >= sent + count)


async def begin(agent: Agent, service: ScriptedService, line: bytes) -> asyncio.Task[DeviceAnswer]:
    task = asyncio.create_task(agent.handle(line))
    await eventually_async(lambda: agent.table_state.asking is not None)
    await tries(service, 3)
    assert not task.done()
    return task


@pytest.mark.parametrize("what", ["void", "settle"])
async def test_it_is_tried_with_new_numbers_until_a_floorperson_has_confirmed(
    agent: Agent, service: ScriptedService, what: str
) -> None:
    service.confirming = True
    with capture_logs() as lines:
        await say_all(agent, DIFFERENT)
        waiting = await begin(agent, service, VOID if what == "void" else SETTLE)
        service.decided = "confirmed"
        answer = await asyncio.wait_for(waiting, 20)
    assert (answer.event, answer.ok) == (what, True)
    state = agent.table_state
    assert (state.phase, state.asking, state.refusal) == (Phase.OPEN, None, None)
    sent = [one for one in service.applied if one["type"] in {"void", "result"}]
    assert len(sent) > 3
    assert all(one["confirm"] is True for one in sent)
    plain = [{**one, "seq": 0, "at": ""} for one in sent]
    assert plain == plain[:1] * len(plain), "the same is asked all the time"
    logged = [one["event"] for one in lines if one["log_level"] != "debug"]
    assert logged.count("confirmation awaited") == 1
    assert "event refused" not in logged


@pytest.mark.parametrize(
    "line", ["settle", "void", "hand 5 2c 3c 4d", "dealer 2c 7d 9s", "retract hand 3", "lockout"]
)
def test_a_table_that_asks_takes_nothing_but_the_withdrawal(line: str) -> None:
    """This holds by the table's rules alone, for every sender."""
    HandTable().play(f"""
        {DEALT}; service refuses unconfirmed; void confirm=true -> unconfirmed; asks: void
        {line} -> unconfirmed; withdraw_correction; asks: none
    """)


STORIES = {
    "a refusal is answered and shown, and the round goes on": f"""
        {ASKING}; begin void confirm=true; tries 3; asks: void; waits: 1
        service is decided "refused"; answered -> correction_refused; phase: dealt; asks: none
        refusal: void Ada refused this correction: Deal on; service is confirming false; settle
    """,
    "where the floor file wants it, a plain line waits too, and what follows": f"""
        {ASKING}; begin settle; tries 3; asks: settle; begin wager 3 progressive; tries 2; waits: 2
        service is decided "confirmed"; answered; answered; lit: 3 progressive
    """,
    "the panel is answered at once, and can withdraw": f"""
        {ASKING}; touch void -> unconfirmed; asked: void misdeal yes; tries 2
        touch settle -> unconfirmed; touch dealer 2c 7d 9s -> unconfirmed
        touch void -> unconfirmed; asks: void; touch withdraw_correction; asks: none; phase: dealt
        last applied: withdrawal; touch withdraw_correction -> nothing_asked
    """,
    "what was paid of a round before is ticked off meanwhile": f"""
        service pays {WIN}; start; {ROUND}; next; {ASKING.removeprefix("start; ")}
        begin void confirm=true; tries 3; C1 validated; claims wait: no; at once done R1 line=0
        waiting: none; asks: void; tries 2; service is decided "confirmed"; answered
        start; waiting: none; void confirm=true
    """,
    "it can be withdrawn while a try is on its way": f"""
        {ASKING}; touch settle -> unconfirmed; service is answering false; unanswered: settle
        begin at once withdraw_correction; service is answering true; answered
        asks: none; phase: dealt
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_a_correction_is_asked_for(table: LiveTable, story: str) -> None:
    await table.live(story)


async def test_a_line_without_confirm_is_sent_without_a_confirmation(
    agent: Agent, service: ScriptedService
) -> None:
    await say_all(agent, DIFFERENT)
    assert (await say(agent, "settle")).ok
    assert "confirm" not in service.applied[-1]


TWO = "wager 3 progressive; wager 5 progressive; wager 5 five_card_progressive; lockout"


@pytest.mark.parametrize(
    ("what", "decided", "lit"),
    [
        ("void", "confirmed", []),
        ("void", "refused", [3]),
        ("correct_wager", "confirmed", [5, 5]),
        ("correct_wager", "refused", [3, 5, 5]),
    ],
)
async def test_it_goes_on_after_a_restart(
    mosquitto: Mosquitto,
    service: ScriptedService,
    outbox: Path,
    *,
    what: str,
    decided: str,
    lit: list[int],
) -> None:
    """Each try has a new number and the same content, and one of them counts.

    A device that repeats itself while it waits, or afterwards, hears that it was confirmed.
    """
    service.confirming = True
    line = VOID if what == "void" else line_of("correct_wager take_back 3 progressive")
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, DIFFERENT if what == "void" else TWO)
        (await begin(agent, service, line)).cancel()
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.asking is not None
        await tries(service, 2)
        if decided == "confirmed":
            repeated = asyncio.create_task(agent.handle(line))
            await tries(service, 2)
            service.decided = decided
            assert (await asyncio.wait_for(repeated, 20)).ok
        service.decided = decided
        await eventually_async(lambda: agent.table_state.asking is None)
        state = agent.table_state
        assert [placed.position for placed in state.wagers] == lit
        if what == "correct_wager":
            await say_all(agent, f"chips {len(lit)}")
    async with live_agent(mosquitto.url, outbox) as agent:
        if what == "void" and decided == "confirmed":
            assert (await asyncio.wait_for(agent.handle(VOID), 20)).ok, "repeated afterwards"
    sent = [one for one in service.applied if one["type"] == what]
    plain = [{**one, "seq": 0, "at": ""} for one in sent]
    assert plain == plain[:1] * len(plain)
    assert [one["seq"] for one in sent] == [*range(2, 2 + len(sent))]
    assert [one["type"] for one in service.applied].count("wagers") == 1
