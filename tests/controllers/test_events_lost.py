"""A table whose service lost answered events: it notices, reports it, and accepts nothing."""

import asyncio

from controllers.agent.agent import Agent
from tests.controllers.scripted import (
    ScriptedService,
    code_of,
    say,
    say_all,
    until_code,
)
from tests.servers import eventually_async

ROUND = "wager 3 progressive; lockout; chips 1; hand 3 2h 7d 9c; dealer 3h 8d Kc; settle"


async def lose_events(agent: Agent, service: ScriptedService) -> None:
    """Bring the store back without the table's last event, while no device sends anything."""
    # The table's own status shows that it has checked. A short fault may pass unnoticed.
    await eventually_async(lambda: service.status.get("state") == "open", what="an open table")
    service.state, service.reason = "inoperable", "Redis does not answer"
    await eventually_async(
        lambda: service.status.get("state") == "locked_out", what="an inoperable link"
    )
    service.last_seq -= 1
    service.state, service.reason = "operable", ""
    await eventually_async(
        lambda: (fault := agent.fault()) is not None and fault.code == "events_lost",
        what="the loss noticed",
    )


async def test_a_table_asks_where_it_stands_when_the_link_comes_back(
    agent: Agent, service: ScriptedService
) -> None:
    """It does not wait for an event out of order, and publishes it in its status."""
    await say_all(agent, ROUND)
    await lose_events(agent, service)
    assert agent.state == "events_lost"
    await eventually_async(lambda: service.status.get("state") == "events_lost", what="the status")
    assert await code_of(agent, "wager 3 progressive") == "events_lost"


async def test_wagers_that_were_lit_are_not_locked_and_go_back(
    agent: Agent, service: ScriptedService
) -> None:
    """The service would never accept them: nothing is written, and patrons get the wagers back."""
    await say_all(agent, f"{ROUND}; wager 3 progressive")
    await lose_events(agent, service)
    assert await code_of(agent, "lockout") == "events_lost"
    assert agent.table_state.phase == "open"
    assert (await say(agent, "withdraw 3 progressive")).ok
    assert service.numbers == [1, 2]
    service.last_seq += 1
    await until_code(agent, "wager 3 progressive", None)
    assert (await say(agent, "lockout")).ok


async def test_an_event_that_is_out_of_order_waits_until_the_events_are_back(
    agent: Agent, service: ScriptedService
) -> None:
    await say_all(agent, f"{ROUND}; wager 3 progressive")
    service.last_seq = 1
    locking = asyncio.create_task(say(agent, "lockout"))
    await eventually_async(lambda: service.heard[-3:-2] == service.heard[-1:], what="repeats")
    fault = agent.fault()
    assert fault is not None
    assert fault.code == "events_lost"
    assert not locking.done()
    service.last_seq = 2
    assert (await locking).ok
