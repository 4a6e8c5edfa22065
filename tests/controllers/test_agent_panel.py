"""The panel's use of an agent: meters, open settlements, and immediate refusals."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from controllers.agent.agent import Agent
from controllers.table.device_events import BettingLocked, RoundDone
from controllers.table.state import Phase
from tests.controllers.floors import HandTable, jackpot, link_and_table, steps_of
from tests.controllers.scripted import SWIFT, LiveTable, ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import ROUND, settlement
from tests.servers import Mosquitto, eventually_async

WIN, ENVY = "3 progressive table_inventory C1", "5 progressive_envy table_inventory of=3"
TABLE_PAID = settlement(WIN)


STORIES = {
    "what comes while the service is awaited is refused, and not taken later": """
        start; wager 3 progressive; service is answering false; begin at once lockout
        unanswered: lockout; at once chips 1 -> busy; service is answering true; answered
        unanswered: none; phase: locked; at once chips 1
    """,
    "what comes while the table is held is refused at once": f"""
        service pays 3 progressive hand_pay C1; start; {ROUND}; at once wager 1 progressive -> held
        C1 validated; claims wait: no; at once wager 1 progressive -> held; C1 paid; phase: open
        lit: none; at once wager 1 progressive
    """,
    "a line of an earlier round is ticked off while another win holds the table": f"""
        service pays {WIN} + {ENVY}; start; {ROUND}; next; service pays 3 progressive hand_pay C2
        {ROUND}; phase: held; at once done R1 -> claims_wait; C1 validated; waiting: R1 0
        at once done R1 line=0; open: R1 1; start; held: C2; open: R1 1; at once done R1
        waiting: none; C2 paid; held: none
    """,
    "a line is ticked off while an event waits for the service, and stays so": f"""
        service pays {WIN}; start; {ROUND}; next; C1 validated; claims wait: no
        wager 3 progressive; service is answering false; begin touch lockout; unanswered: lockout
        touch done R1 lines={{"0":"pay"}}; waiting: none; unanswered: lockout; give up; stop
        service is answering true; start; phase: locked; waiting: none; lockout
        applied: wagers, result, wagers
    """,
    "a touch that comes late, after another tablet's round, passes no settlement for paid": f"""
        service pays {WIN}; start; {ROUND}; C1 validated; claims wait: no
        touch lockout -> settlement_open; settled: R1; done: none
    """,
    "an Envy Bonus that the floor paid is heard of though the message was lost": f"""
        service pays {WIN} + {ENVY}; start; {ROUND}; C1 validated; claims wait: no
        service tells C1-envy paid 5 progressive_envy; lines: pay, done
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_a_panel_is_answered_at_once(table: LiveTable, story: str) -> None:
    await table.live(story)


async def test_a_line_is_ticked_off_while_a_reply_is_on_its_way(
    agent: Agent, service: ScriptedService
) -> None:
    """The reply and the mark do not undo each other, whichever comes first."""
    for number in range(6):
        service.settlement = settlement(f"3 progressive table_inventory C{number}")
        await say_all(agent, ROUND + "; next")
        await service.jackpot(f"C{number}", "validated")
        await eventually_async(lambda: not any(one.undecided for one in agent.table_state.shown))
    rounds = [each.round for each in agent.table_state.waiting]
    await say_all(agent, "wager 3 progressive")
    locking = asyncio.create_task(agent.handle_at_once(BettingLocked()))
    ticks = [await agent.handle_at_once(RoundDone(round=name, line=0)) for name in rounds]
    assert all(each.ok for each in ticks)
    assert (await locking).ok
    assert agent.table_state.phase is Phase.LOCKED
    assert agent.table_state.waiting == ()


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
    await eventually_async(lambda: not any(one.undecided for one in agent.table_state.shown))
    assert agent.state == "open"


@pytest.mark.parametrize("event", ["hit", "validated"])
async def test_a_share_for_the_hand_of_another_table_is_not_on_the_panel(
    agent: Agent, service: ScriptedService, event: str
) -> None:
    """The service publishes a reopened win after it: this win alone holds the table."""
    await service.jackpot("C9", event, hand_of=4, hand_table="T-2")
    await service.jackpot("C1", "hit")
    await eventually_async(lambda: agent.state == "held")
    assert agent.table_state.held == ("C1",)


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
