"""The panel's use of an agent: meters, open settlements, and immediate refusals."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controllers.agent.agent import Agent
from controllers.panel.touches import PanelEvents
from controllers.table.state import Phase
from tests.controllers.floors import HandTable, jackpot, line_of, link_and_table, steps_of
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import HAND_PAY, ROUND, settlement
from tests.servers import Mosquitto, eventually_async

TABLE_PAID = settlement("3 progressive table_inventory C1")
ENVY_PAID = settlement("3 progressive table_inventory C1 + 5 progressive_envy table_inventory of=3")


async def at_once(agent: Agent, text: str) -> str | None:
    async with asyncio.timeout(30):
        answer = await agent.handle_at_once(line_of(text))
    return None if answer.ok else getattr(answer.error, "code", "")


async def test_what_comes_while_the_service_is_awaited_is_refused_and_not_taken_later(
    agent: Agent, service: ScriptedService
) -> None:
    await say_all(agent, "wager 3 progressive")
    service.answering = False
    locking = asyncio.create_task(agent.handle_at_once(line_of("lockout")))
    await eventually_async(lambda: agent.unanswered == "lockout")
    assert await at_once(agent, "chips 1") == "busy"
    service.answering = True
    assert (await locking).ok
    assert agent.unanswered is None
    assert agent.table_state.phase is Phase.LOCKED
    assert await at_once(agent, "chips 1") is None


async def test_what_comes_while_the_table_is_held_is_refused_at_once(
    agent: Agent, service: ScriptedService
) -> None:
    service.settlement = HAND_PAY
    await say_all(agent, ROUND)
    assert await at_once(agent, "wager 1 progressive") == "held"
    await service.jackpot("C1", "validated")
    await eventually_async(lambda: not agent.table_state.claims_wait)
    assert await at_once(agent, "wager 1 progressive") == "held"
    await service.jackpot("C1", "paid")
    await eventually_async(lambda: agent.table_state.phase is Phase.OPEN)
    assert agent.table_state.wagers == ()
    assert await at_once(agent, "wager 1 progressive") is None


async def test_a_line_of_an_earlier_round_is_ticked_off_while_another_win_holds_the_table(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """Otherwise the panel would show a paid line as due until the documents are done."""
    service.settlement = ENVY_PAID
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND + "; next")
        service.settlement = settlement("3 progressive hand_pay C2")
        await say_all(agent, ROUND)
        assert agent.table_state.phase is Phase.HELD
        assert await at_once(agent, "done R1") == "claims_wait"
        await service.jackpot("C1", "validated")
        await eventually_async(lambda: not agent.table_state.waiting[0].undecided)
        done = await agent.handle_at_once(b'{"event":"done","round":"R1","line":0}')
        assert done.ok
        assert agent.table_state.waiting[0].done == (0,)
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.held == ("C2",)
        assert agent.table_state.waiting[0].done == (0,)
        assert await at_once(agent, "done R1") is None
        assert agent.table_state.waiting == ()
        await service.jackpot("C2", "paid")
        await eventually_async(lambda: not agent.table_state.held)


async def test_a_line_is_ticked_off_while_an_event_waits_for_the_service(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """The dealer has paid it, however long the link is down. The mark survives a killed agent."""
    service.settlement = TABLE_PAID
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND + "; next")
        await service.jackpot("C1", "validated")
        await eventually_async(lambda: not agent.table_state.claims_wait)
        await say_all(agent, "wager 3 progressive")
        touch = PanelEvents(agent)
        service.answering = False
        locking = asyncio.create_task(touch.submit(line_of("lockout")))
        await eventually_async(lambda: agent.unanswered == "lockout")
        done = await touch.submit(b'{"event":"done","round":"R1","lines":{"0":"pay"}}')
        assert done is not None
        assert done.ok
        assert agent.table_state.waiting == ()
        assert agent.unanswered == "lockout"
        locking.cancel()
        touch.close()
    service.answering = True
    async with live_agent(mosquitto.url, outbox) as agent:
        await eventually_async(lambda: agent.table_state.phase is Phase.LOCKED)
        assert agent.table_state.waiting == ()
        again = await agent.handle(line_of("lockout"))
        assert again.ok
        assert len(service.applied) == 3


async def test_a_line_is_ticked_off_while_a_reply_is_on_its_way(
    agent: Agent, service: ScriptedService
) -> None:
    """The reply and the mark do not undo each other, whichever comes first."""
    for number in range(6):
        service.settlement = settlement(f"3 progressive table_inventory C{number}")
        await say_all(agent, ROUND + "; next")
        await service.jackpot(f"C{number}", "validated")
        await eventually_async(lambda: not agent.table_state.claims_wait)
    rounds = [each.round for each in agent.table_state.waiting]
    await say_all(agent, "wager 3 progressive")
    locking = asyncio.create_task(agent.handle_at_once(line_of("lockout")))
    ticks = [
        await agent.handle_at_once(b'{"event":"done","round":"%s","line":0}' % name.encode())
        for name in rounds
    ]
    assert all(each.ok for each in ticks)
    assert (await locking).ok
    assert agent.table_state.phase is Phase.LOCKED
    assert agent.table_state.waiting == ()


async def test_a_lock_out_that_comes_late_passes_no_settlement_for_paid(
    agent: Agent, service: ScriptedService
) -> None:
    """A tablet's touch was on its way while another tablet played the round."""
    service.settlement = TABLE_PAID
    await say_all(agent, ROUND)
    await service.jackpot("C1", "validated")
    await eventually_async(lambda: not agent.table_state.claims_wait)
    late = await PanelEvents(agent).submit(line_of("lockout"))
    assert late is not None
    assert getattr(late.error, "code", "") == "settlement_open"
    settled = agent.table_state.settled
    assert settled is not None
    assert settled.done == ()


async def test_an_envy_bonus_that_the_floor_paid_is_heard_of_though_the_message_was_lost(
    agent: Agent, service: ScriptedService
) -> None:
    """Its win was decided long ago, so nothing else makes the table ask."""
    service.settlement = ENVY_PAID
    await say_all(agent, ROUND)
    await service.jackpot("C1", "validated")
    await eventually_async(lambda: not agent.table_state.claims_wait)
    service.finals = [jackpot("C1-envy", "paid", position=5, item="progressive_envy")]
    await eventually_async(
        lambda: (
            (found := agent.table_state.settled) is not None and found.envy_decision_on(1) == "paid"
        )
    )


@pytest.mark.slow
async def test_duty_d1_meters_are_given_only_while_the_link_lives(
    agent: Agent, service: ScriptedService
) -> None:
    await service.meter(112_233, 7)
    await eventually_async(lambda: agent.meter_values)
    assert agent.meter_values["progressive"].amount == 112_233
    service.beating = False
    await eventually_async(lambda: not agent.meter_values)
    # A lower version only counts as late until the next heartbeat arrives.
    await service.meter(99, 6)
    service.beating = True
    await eventually_async(lambda: agent.meter_values)
    assert agent.meter_values["progressive"].amount == 112_233


async def test_duty_d1_without_the_broker_no_meter_is_given(
    agent: Agent, service: ScriptedService, mosquitto: Mosquitto
) -> None:
    await service.meter(112_233, 7)
    await eventually_async(lambda: agent.meter_values)
    mosquitto.kill()
    await eventually_async(lambda: not agent.meter_values)


RESTARTED = {
    "a win that waits through a round": """
        wager 3 progressive; service draws Ts 3; lockout; chips 4 -> chips_differ; chips 1
        hand 3 As Ks Qs; dealer 2c 3c 4c; service pays 3 progressive table_inventory C1; settle
        next; wager 1 progressive; lockout; C1 validated; done R1
    """,
    "a win that is rejected, and reopened during a round": """
        wager 3 progressive; lockout; chips 1; fold 3; dealer 2c 3c 4c
        service pays 3 progressive hand_pay C1; settle; C1 rejected; lockout; C1 hit; void; C1 paid
    """,
    "what the service refused": """
        wager 3 progressive; service refuses link_closed; lockout -> link_closed; chips 1; void
        repeat; lockout; chips 1; fold 3; dealer 2c 3c 4c; service refuses store_failed
        settle -> store_failed; settle; lockout; void
    """,
}


@pytest.mark.section("649a.8(b)", "649a.12(i)(3)", "649a.11(c)(5)(iii)")
@pytest.mark.duty("D11")
@pytest.mark.parametrize("story", RESTARTED.values(), ids=RESTARTED)
async def test_duty_d11_an_agent_that_restarts_after_each_step_is_where_the_rules_alone_are(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, story: str
) -> None:
    """A device that repeats its last line after the restart hears the same answer again.

    Only what the service refused and may accept later is requested again.
    """
    table, said = HandTable(), None
    for step in steps_of(story):
        table.play(step)
        if step.startswith("service"):
            service.prepare(table.replies[-1])
            continue
        async with live_agent(mosquitto.url, outbox) as agent:
            again = said is not None and (said[1].ok or said[0] == "lockout")
            if said is not None and again and agent.table_state.phase is not Phase.HELD:
                assert await say(agent, said[0]) == said[1], "the same line again"
            if step.startswith("C1"):
                said = None
                await service.jackpot(*step.split())
                await eventually_async(lambda agent=agent: agent.table_state == table.state)  # type: ignore[misc]
            else:
                text = step.partition(" -> ")[0]
                said = text, await say(agent, text)
                assert said[1] == table.answer
                service.draw, service.settlement = None, {"lines": [], "claims": []}
            assert agent.table_state == table.state, step


async def test_a_decision_while_the_table_was_held_is_not_left_for_the_next_time(
    agent: Agent, service: ScriptedService
) -> None:
    service.settlement = TABLE_PAID
    await say_all(agent, f"{ROUND}; next")
    service.settlement = settlement("3 progressive hand_pay C2")
    await say_all(agent, ROUND)
    assert agent.state == "held"
    for claim, event in (("C2", "paid"), ("C1", "rejected")):
        agent.on_jackpot(jackpot(claim, event))
    await eventually_async(lambda: not agent.table_state.claims_wait)
    assert agent.state == "open"


async def test_two_agents_of_one_table_report_that_they_disconnect_each_other(
    agent: Agent, mosquitto: Mosquitto, tmp_path: Path
) -> None:
    with capture_logs() as logged:
        other = Agent(*link_and_table(), mosquitto.url, tmp_path / "other.sqlite", timing=SWIFT)
        async with other:
            await eventually_async(
                lambda: any(each["event"] == "broker lost repeatedly" for each in logged)
            )
    assert agent.layout.table == "T-1"
