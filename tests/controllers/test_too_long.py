"""A broker that does not pass on a table's event, because of a limit on its length."""

import asyncio
from pathlib import Path

import pytest

from controllers.panel.table_view import view_table
from tests.controllers.scripted import LiveTable, ScriptedService, live_agent, running, say, say_all
from tests.servers import Mosquitto, eventually_async

SHORT_BYTES = 300
"""Enough for hellos, heartbeats, replies and the table's status, but not for seven wagers."""


@pytest.mark.duty("D13")
@pytest.mark.duty("D14")
@pytest.mark.parametrize("limit", ["message_size_limit", "max_packet_size"])
async def test_the_agent_and_the_panel_say_that_an_event_is_too_long_for_the_broker(
    outbox: Path, capsys: pytest.CaptureFixture[str], limit: str
) -> None:
    """The broker acknowledges it, or ends the connection; only that the service does not answer.

    When the limit is raised, the event counts once, and the table plays on.
    """
    with Mosquitto(options=[f"{limit} {SHORT_BYTES}"]) as broker:
        service = ScriptedService(broker.url)
        async with running(service), live_agent(broker.url, outbox) as agent:
            await say_all(agent, ";".join(f"wager {place} progressive" for place in range(1, 8)))
            assert agent.fault() is None
            locking = asyncio.create_task(say(agent, "lockout"))

            def reported() -> bool:
                fault = agent.fault()
                return fault is not None and fault.code == "not_passed_on"

            await eventually_async(reported, what="the fault")
            assert "event not passed on" in capsys.readouterr().out
            fault = agent.fault()
            shut = view_table(
                agent.layout, agent.table_state, fault=fault, values={},
                unanswered=agent.unanswered, demonstration=False,
            ).shut  # fmt: skip
            assert shut is not None
            assert str(shut.title) == "Call a technician"
            assert str(shut.reason) == "What this table sends does not arrive"
            assert str(shut.then) == (
                "Your last step is completed when a technician has corrected this."
            )
            assert not service.heard
            assert not locking.done()
            broker.stop()
            broker._options = ()
            broker.start()
            assert (await locking).ok
            assert len(service.replies) == 1
            await eventually_async(lambda: agent.fault() is None, what="a table without fault")


@pytest.mark.slow
async def test_a_service_that_does_not_answer_is_not_taken_for_a_limit(table: LiveTable) -> None:
    """It answers no hello either."""
    await table.live("""
        start; wager 1 progressive; service is answering false; begin lockout; hellos 4
        fault: none; service is answering true; answered
    """)
