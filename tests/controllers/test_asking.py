"""A correction that waits for a floorperson: retried automatically, through loss and restarts."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controllers.agent.agent import Agent
from controllers.panel.touches import PanelEvents
from controllers.table.device_events import DeviceAnswer
from controllers.table.state import Phase
from meters.wire.messages import ErrorDetail, Reply
from tests.controllers.floors import HandTable, line_of, refusal_code
from tests.controllers.scripted import ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import ROUND
from tests.controllers.test_agent_panel import TABLE_PAID
from tests.servers import Mosquitto, eventually_async

pytestmark = pytest.mark.duty("D17")

DEALT = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs"
VOID = b'{"event":"void","reason":"misdeal","confirm":true}'
SETTLE = b'{"event":"settle","confirm":true}'
WITHDRAW = b'{"event":"withdraw_correction"}'


def is_asked(agent: Agent) -> bool:
    return agent.table_state.asking is not None


async def entered_differently(agent: Agent) -> None:
    await say_all(agent, DEALT)
    await agent.handle(b'{"event":"retract","what":"hand","position":3,"reason":"Typed wrong"}')
    await say_all(agent, "hand 3 9h 8h 7h; dealer 2c 7d 9s")


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
        await entered_differently(agent)
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
    table = HandTable()
    table.say_all(DEALT)
    refused = ErrorDetail(code="unconfirmed", message="a floorperson is asked")
    table.replies = [Reply(seq=table.seq + 1, status="refused", error=refused)]
    assert refusal_code(table.say_line(VOID)) == "unconfirmed"
    before = table.state
    assert table.refusal(line) == "unconfirmed"
    assert table.state == before
    assert table.say_line(WITHDRAW).ok
    assert table.state.asking is None


async def test_a_refusal_is_answered_and_shown_and_the_round_goes_on(
    agent: Agent, service: ScriptedService
) -> None:
    service.confirming = True
    await entered_differently(agent)
    waiting = await begin(agent, service, VOID)
    service.decided = "refused"
    answer = await asyncio.wait_for(waiting, 20)
    assert refusal_code(answer) == "correction_refused"
    state = agent.table_state
    assert (state.phase, state.asking) == (Phase.DEALT, None)
    assert state.refusal is not None
    assert state.refusal.message == "Ada refused this correction: Deal on"
    service.confirming = False
    assert (await say(agent, "settle")).ok


async def test_a_line_without_confirm_is_sent_without_a_confirmation(
    agent: Agent, service: ScriptedService
) -> None:
    await entered_differently(agent)
    assert (await say(agent, "settle")).ok
    assert "confirm" not in service.applied[-1]


async def test_where_the_floor_file_wants_it_a_plain_line_waits_too(
    agent: Agent, service: ScriptedService
) -> None:
    service.confirming = True
    await entered_differently(agent)
    waiting = await begin(agent, service, b'{"event":"settle"}')
    after = asyncio.create_task(say(agent, "wager 3 progressive"))
    await tries(service, 2)
    assert not after.done(), "what follows is taken once it is decided"
    service.decided = "confirmed"
    assert (await asyncio.wait_for(waiting, 20)).ok
    assert (await asyncio.wait_for(after, 20)).ok


async def test_the_panel_is_answered_at_once_and_can_withdraw(
    agent: Agent, service: ScriptedService
) -> None:
    service.confirming = True
    await entered_differently(agent)
    touch = PanelEvents(agent)
    answer = await touch.submit(b'{"event":"void","reason":"misdeal"}')
    assert answer is not None
    assert refusal_code(answer) == "unconfirmed"
    asking = agent.table_state.asking
    assert asking is not None
    assert (asking.event, asking.reason, asking.confirm) == ("void", "misdeal", True)
    await tries(service, 2)
    for line in ("settle", "dealer 2c 7d 9s", "void misdeal"):
        refused = await touch.submit(line_of(line))
        assert refused is not None
        assert refusal_code(refused) == "unconfirmed"
    assert is_asked(agent)
    withdrawn = await touch.submit(WITHDRAW)
    assert withdrawn is not None
    assert withdrawn.ok
    assert not is_asked(agent)
    assert agent.table_state.phase is Phase.DEALT
    assert service.applied[-1]["type"] == "withdrawal"
    again = await touch.submit(WITHDRAW)
    assert again is not None
    assert refusal_code(again) == "nothing_asked"


async def test_what_was_paid_of_a_round_before_is_ticked_off_meanwhile(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """The table still waits afterwards, and a device that repeats itself gets its answer."""
    service.settlement = TABLE_PAID
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, f"{ROUND}; next")
        service.confirming = True
        await entered_differently(agent)
        waiting = await begin(agent, service, VOID)
        await service.jackpot("C1", "validated")
        await eventually_async(lambda: not agent.table_state.claims_wait)
        done = await agent.handle_at_once(b'{"event":"done","round":"R1","line":0}')
        assert done.ok
        assert agent.table_state.waiting == ()
        assert is_asked(agent)
        await tries(service, 2)
        service.decided = "confirmed"
        answer = await asyncio.wait_for(waiting, 20)
        assert (answer.event, answer.ok) == ("void", True)
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.waiting == ()
        again = await agent.handle(VOID)
        assert (again.event, again.ok) == ("void", True)


async def test_it_can_be_withdrawn_while_a_try_is_on_its_way(
    agent: Agent, service: ScriptedService
) -> None:
    service.confirming = True
    await entered_differently(agent)
    touch = PanelEvents(agent)
    await touch.submit(SETTLE)
    service.answering = False
    await eventually_async(lambda: agent.unanswered is not None)
    withdrawing = asyncio.create_task(agent.handle_at_once(WITHDRAW))
    service.answering = True
    assert (await asyncio.wait_for(withdrawing, 20)).ok
    assert agent.table_state.asking is None
    assert agent.table_state.phase is Phase.DEALT


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
        await (entered_differently(agent) if what == "void" else say_all(agent, TWO))
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
