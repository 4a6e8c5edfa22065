"""The panel's use of an agent: meters, open settlements, and immediate refusals."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from controllers.agent.agent import Agent
from controllers.panel.touches import PanelEvents
from controllers.table.state import Phase
from meters.wire.messages import Jackpot
from tests.controllers.floors import line_of, link_and_table
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import HAND_PAY, ROUND
from tests.servers import Mosquitto, eventually_async

TABLE_PAID = {
    "lines": [{**HAND_PAY["lines"][0], "paid_from": "table_inventory"}],  # type: ignore[index]
    "claims": HAND_PAY["claims"],
}


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


ENVY_PAID = {
    "lines": [
        TABLE_PAID["lines"][0],  # type: ignore[index]
        {**TABLE_PAID["lines"][0], "position": 5, "item": "progressive_envy", "envy_of": 3},  # type: ignore[index]
    ],
    "claims": HAND_PAY["claims"],
}


async def test_a_line_of_an_earlier_round_is_ticked_off_while_another_win_holds_the_table(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """Otherwise the panel would show a paid line as due until the documents are done."""
    service.settlement = ENVY_PAID
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND + "; next")
        service.settlement = {
            **HAND_PAY, "claims": [{**HAND_PAY["claims"][0], "claim": "C2"}],  # type: ignore[index]
        }  # fmt: skip
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
    service.settlement = TABLE_PAID
    for number in range(6):
        service.settlement = {
            **TABLE_PAID, "claims": [{**HAND_PAY["claims"][0], "claim": f"C{number}"}],  # type: ignore[index]
        }  # fmt: skip
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
    service.finals = [
        {**service.final("C1-envy", "paid"), "position": 5, "item": "progressive_envy"}
    ]
    await eventually_async(
        lambda: (
            (found := agent.table_state.settled) is not None and found.envy_decision_on(1) == "paid"
        )
    )


@pytest.mark.parametrize("event", ["validated", "rejected"])
async def test_a_decision_on_a_win_paid_at_the_table_is_shown_and_kept(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, event: str
) -> None:
    service.settlement = TABLE_PAID
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND)
        await service.jackpot("C1", event)
        await eventually_async(lambda: not agent.table_state.claims_wait)
    async with live_agent(mosquitto.url, outbox) as agent:
        settled = agent.table_state.settled
        assert settled is not None
        assert settled.decision_on("C1") == event
        assert settled.lines[0].paid == 5000


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


@pytest.mark.section("649a.12(i)(3)")
async def test_duty_d11_the_draw_and_the_settlement_survive_a_restart(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, "wager 3 progressive; lockout")
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.draw is not None
        assert agent.table_state.draw.magic_card == "Ts"
        await say_all(agent, "chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c; settle")
    async with Agent(*link_and_table(), mosquitto.url, outbox, timing=SWIFT) as agent:
        settled = agent.table_state.settled
        assert settled is not None
        assert (settled.round, settled.draw) == ("R1", settled.draw)
        assert settled.draw is not None
        assert settled.draw.lucky_position == 3
        assert (await say(agent, "next")).ok


@pytest.mark.section("649a.11(c)(5)(iii)")
async def test_duty_d11_a_win_that_waits_is_kept_through_rounds_and_restarts(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    async with live_agent(mosquitto.url, outbox) as agent:
        service.settlement = TABLE_PAID
        await say_all(agent, f"{ROUND}; next")
        service.settlement = {"lines": [], "claims": []}
        await say_all(agent, f"{ROUND}; next")
    async with live_agent(mosquitto.url, outbox) as agent:
        assert [kept.round for kept in agent.table_state.waiting] == ["R1"]
        await say_all(agent, "wager 1 progressive; lockout")
        await service.jackpot("C1", "validated")
        await eventually_async(lambda: not agent.table_state.claims_wait)
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.waiting[0].decision_on("C1") == "validated"
        await say_all(agent, "done R1")
        assert agent.table_state.waiting == ()


async def test_a_decision_while_the_table_was_held_is_not_left_for_the_next_time(
    agent: Agent, service: ScriptedService
) -> None:
    service.settlement = TABLE_PAID
    await say_all(agent, f"{ROUND}; next")
    held = [{**HAND_PAY["claims"][0], "claim": "C2"}]  # type: ignore[index]
    service.settlement = {**HAND_PAY, "claims": held}
    await say_all(agent, ROUND)
    assert agent.state == "held"
    for claim, event in (("C2", "paid"), ("C1", "rejected")):
        agent.on_jackpot(msgspec.convert(service.final(claim, event), Jackpot))
    await eventually_async(lambda: not agent.table_state.claims_wait)
    assert agent.state == "open"


@pytest.mark.parametrize("event", ["settle", "void"])
async def test_what_the_service_refused_is_requested_again_after_a_restart(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, event: str
) -> None:
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND.removesuffix("; settle"))
        service.refuse = "store_failed"
        assert not (await say(agent, event)).ok
    async with live_agent(mosquitto.url, outbox) as agent:
        refusal = agent.table_state.refusal
        assert refusal is not None
        assert (refusal.event, refusal.message) == (event, "refused by the test")
        assert (await say(agent, event)).ok
        assert agent.table_state.refusal is None
    assert service.last_seq == 3


async def test_a_device_that_repeats_a_refused_lock_out_hears_the_same_again(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    service.refuse = "link_closed"
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, "wager 3 progressive")
        refused = await say(agent, "lockout")
    async with live_agent(mosquitto.url, outbox) as agent:
        assert await say(agent, "lockout") == refused


@pytest.mark.section("649a.8(b)")
async def test_a_wrong_count_is_there_after_a_restart(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, "wager 3 progressive; lockout")
        assert not (await say(agent, "chips 4")).ok
    async with live_agent(mosquitto.url, outbox) as agent:
        assert agent.table_state.differs == 4
        assert not (await say(agent, "chips 4")).ok
        await say_all(agent, "chips 1")


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
