"""The agent with a real broker and a service that loses, doubles and delays its messages."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Final

import aiomqtt
import msgspec
import pytest

from controllers.agent.agent import Agent
from controllers.agent.delivery import EventDelivery
from meters.floor.server_addresses import embedded_broker_url, parse_broker_url
from meters.wire import topics
from tests.controllers.floors import link_and_table, paid_lines
from tests.controllers.scripted import (
    LINK,
    SWIFT,
    TABLE,
    LiveTable,
    ScriptedService,
    code_of,
    live_agent,
    say_all,
)
from tests.servers import Mosquitto, eventually_async

ROUND = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c; settle"


def settlement(text: str) -> dict[str, object]:
    lines, claims = paid_lines(text)
    found: dict[str, object] = msgspec.to_builtins({"lines": lines, "claims": claims})
    return found


HAND_PAY: Final = settlement("3 progressive hand_pay C1")


def types_of(service: ScriptedService) -> list[object]:
    return [event["type"] for event in service.applied]


async def test_a_round_is_played_and_its_events_arrive_once(
    agent: Agent, service: ScriptedService
) -> None:
    for _ in range(3):
        await say_all(agent, ROUND)
    await say_all(agent, "wager 1 progressive; lockout; void")
    assert types_of(service) == ["wagers", "result"] * 3 + ["wagers", "void"]
    assert service.applied[0]["round"] == "R1"
    assert service.applied[6]["round"] == "R4"
    assert b"null" not in b"".join(payload for _, payload in service.heard)


FOLDED: Final = "chips 1; fold 3; dealer 2c 3c 4c; settle"
STORIES = {
    "an event without an answer is repeated byte for byte": """
        start; service is mute 3; wager 3 progressive; lockout; numbers: 1
    """,
    "an inoperable or closed controller locks new wagers out": """
        start; service is state "inoperable"; until wager 4 progressive -> inoperable
        service is state "closed"; until wager 4 progressive -> closed
        service is state "operable"; until wager 4 progressive
    """,
    "a caller that gives up does not undo the event": f"""
        start; wager 3 progressive; service is answering false; begin lockout; numbers: 1; give up
        service is answering true; {FOLDED}; applied: wagers, result
    """,
    "no round's name is used twice, though an outbox is lost or older": f"""
        service is last_seq 41; start; {ROUND}; {ROUND}; service is last_seq 61; start
        {ROUND}; {ROUND}; rounds: R42, R42, R43, R43, R62, R62, R63, R63
        seqs: 42, 43, 44, 45, 62, 63, 64, 65
    """,
    "an outbox that was lost in mid-round locks the table out until the round is void": f"""
        service is last_seq 41; service is open_round "R41"; start; state: locked_out
        wager 3 progressive -> locked_out; void; {ROUND}
        applied: void, wagers, result; rounds: R41, R43, R43
    """,
    "a number that another agent used up is refused": f"""
        start; wager 3 progressive; service is last_seq 7; lockout -> seq_reused
        chips 0; fold 3; dealer 2c 3c 4c; settle; last seq: 7; {ROUND}; seqs: 8, 9
    """,
    "the status is retained, and ends with the agent": """
        start; online: yes; status: open; stop; online: no
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_a_table_plays_on_whatever_becomes_of_its_messages(
    table: LiveTable, story: str
) -> None:
    await table.live(story)


@pytest.mark.slow
@pytest.mark.duty("D13", proof=True)
async def test_duty_d13_silence_locks_new_wagers_out_until_the_beat_is_back(
    table: LiveTable,
) -> None:
    await table.live(f"""
        start; wager 3 progressive; service is beating false
        until wager 4 progressive -> link_down; state: locked_out; status: locked_out
        lockout; {FOLDED}; service is beating true; until wager 4 progressive; status: open
    """)


@pytest.mark.duty("D11", proof=True)
async def test_duty_d11_a_killed_agent_is_back_where_it_was(table: LiveTable) -> None:
    """The event was written and not published. After the restart it is sent unchanged."""
    await table.live("""
        start; wager 3 progressive; wager 4 five_of_six_progressive; service is answering false
        begin lockout; numbers: 1; give up; service is answering true; start; phase: locked
        lockout; round: R1; chips 2; hand 3 As Ks Qs; start; hand 3 As Ks Qs
        hand 3 As Ks Qs -> hand_twice; hand 4 Ad Kd Qd; dealer 2c 3c 4c; settle
        applied: wagers, result
    """)


@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_a_table_whose_outbox_was_lost_is_held_by_the_books_until_the_documents_are_done(
    table: LiveTable,
) -> None:
    """The agent shows the win, stays on hold through another restart, and continues by itself."""
    table.service.last_seq, table.service.holding = 41, HAND_PAY["claims"]
    await table.live(f"""
        start; wager 3 progressive; lockout -> held; status: held; lit: none
        held view: C1 3 Progressive 5000; start alone; state: held; service is holding []
        service tells C1 paid; phase: open; live; repeat; lockout; {FOLDED}
        applied: wagers, wagers, result
    """)


async def test_replies_that_come_twice_or_to_others_change_nothing(
    agent: Agent, service: ScriptedService
) -> None:
    service.twice = True
    await service.say(topics.table_in(LINK, TABLE), {"seq": 1, "status": "accepted", "draw": None})
    await service.say(topics.table_in(LINK, TABLE), {"seq": 9, "status": "accepted"})
    await service.say(topics.table_in(LINK, TABLE), b"not JSON")
    await service.say(topics.table_in(LINK, TABLE), {"type": "hello", "last_seq": "x"})
    service.refuse = "link_closed"
    await say_all(agent, "wager 3 progressive")
    assert await code_of(agent, "lockout") == "link_closed"
    await say_all(agent, f"chips 0; hand 3 As Ks Qs; dealer 2c 3c 4c; settle; {ROUND}")
    assert service.numbers == [1, 2, 3]


@pytest.mark.duty("D11")
@pytest.mark.parametrize("state", ["closed", "inoperable", "operable"])
async def test_a_round_in_hand_is_not_kept_waiting_by_a_link_that_is_not_live(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, state: str
) -> None:
    service.state, service.reason = state, "the felt is changed"
    async with Agent(*link_and_table(), mosquitto.url, outbox, timing=SWIFT) as agent:
        async with asyncio.timeout(60):
            await agent.wait_for_status(120)
        assert agent._status_known.is_set()


async def test_a_retained_beat_of_a_dead_service_is_no_life(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    async with live_agent(mosquitto.url, outbox):
        service.beating = False
    async with Agent(*link_and_table(), mosquitto.url, outbox, timing=SWIFT) as agent:
        await eventually_async(lambda: service.hellos > 1)
        await eventually_async(lambda: agent._acquainted)
        assert not await agent.wait_live(0.3)
        assert await code_of(agent, "wager 4 progressive") == "link_down"
        service.beating = True
        assert await agent.wait_live(10)


@pytest.mark.duty("D14")
async def test_the_status_is_published_again_after_a_short_loss_of_the_connection(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """The broker has published the last will, but the agent is already back when it checks."""
    timing = replace(SWIFT, watch_every_s=0.5, reconnect_first_s=0.001)

    def online() -> bool:
        return bool(service.statuses) and service.status.get("online") is True

    async with Agent(*link_and_table(), mosquitto.url, outbox, timing=timing):
        await eventually_async(online, what="the table online")
        before = len(service.statuses)
        name = f"pitlink/{LINK}/{TABLE}"
        with contextlib.suppress(aiomqtt.MqttError):
            async with aiomqtt.Client("127.0.0.1", mosquitto.port, identifier=name):
                pass
        await eventually_async(
            lambda: any(not one["online"] for one in service.statuses[before:]),
            what="the last will",
        )
        await eventually_async(online, what="the table online again")


async def test_without_a_broker_it_starts_waits_and_ends(outbox: Path) -> None:
    async with Agent(*link_and_table(), "mqtt://127.0.0.1:1", outbox, timing=SWIFT) as agent:
        assert not await agent.wait_live(0.3)
        assert await code_of(agent, "wager 3 progressive") == "link_down"
        await say_all(agent, "lockout; chips 0; fold 3; dealer 2c 3c 4c; settle")


async def test_the_embedded_brokers_address_is_read_before_each_connection(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, tmp_path: Path
) -> None:
    url = tmp_path / "broker.url"
    url.write_text("mqtt://127.0.0.1:1\n")
    async with Agent(
        *link_and_table(),
        lambda: parse_broker_url(embedded_broker_url(tmp_path)),
        outbox,
        timing=SWIFT,
    ) as agent:
        assert not await agent.wait_live(0.2)
        url.unlink()
        assert not await agent.wait_live(0.2)
        url.write_text(f"{mosquitto.url}\n")
        assert await agent.wait_live(10)


async def test_an_outbox_that_cannot_be_written_refuses_and_nothing_is_published(
    agent: Agent, service: ScriptedService
) -> None:
    async def may_be_written(*, may: bool) -> None:
        statement = f"PRAGMA query_only = {not may}"
        connection = agent.writer._outbox._connection
        await agent.writer._on_disk(lambda: connection.execute(statement).fetchone())

    await say_all(agent, "wager 3 progressive")
    await may_be_written(may=False)
    before = agent.table_state
    assert await code_of(agent, "wager 4 progressive") == "outbox_failed"
    assert await code_of(agent, "lockout") == "outbox_failed"
    assert (agent.table_state, service.heard) == (before, [])
    await may_be_written(may=True)
    await say_all(agent, "lockout; chips 1")
    assert types_of(service) == ["wagers"]


async def test_it_ends_though_a_cancel_is_lost_once(
    outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`asyncio.wait_for` can lose it before Python 3.12, in the MQTT client."""
    lost: list[str] = []

    async def stubborn(_courier: EventDelivery) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            lost.append("one")
        await asyncio.sleep(3600)

    monkeypatch.setattr(EventDelivery, "stay_connected", stubborn)
    async with asyncio.timeout(60):
        async with Agent(*link_and_table(), "mqtt://127.0.0.1:1", outbox):
            await asyncio.sleep(0)
    assert lost == ["one"]
