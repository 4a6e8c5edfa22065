"""Totals of a demonstration's tables, for rounds of bots and rounds at the panel."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from controllers.demo.bot_tables import BookedAgent, TableBooks
from controllers.panel.tablets import PanelEvents
from controllers.table.state import Phase
from tests.controllers.floors import line_of, link_and_table
from tests.controllers.scripted import ScriptedService, running, say_all
from tests.controllers.test_agent import ROUND
from tests.controllers.test_agent_panel import TABLE_PAID
from tests.servers import Mosquitto, eventually_async

PAID_CENTS = 5000


@pytest.fixture
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    async with running(ScriptedService(mosquitto.url)) as service:
        service.settlement = TABLE_PAID
        yield service


@pytest.fixture
def books() -> TableBooks:
    return TableBooks()


@pytest.fixture
async def agent(
    mosquitto: Mosquitto, service: ScriptedService, books: TableBooks, tmp_path: Path
) -> AsyncIterator[BookedAgent]:
    path = tmp_path / "T-1.sqlite"
    async with BookedAgent(*link_and_table(), mosquitto.url, path, books) as agent:
        assert await agent.wait_live(20)
        yield agent


async def touch_all(agent: BookedAgent, text: str) -> None:
    touches = PanelEvents(agent, within_s=20)
    for part in text.split(";"):
        answer = await touches.submit(line_of(part))
        assert answer is not None
        assert answer.ok, (part, answer)


@pytest.mark.parametrize("play", [say_all, touch_all])
async def test_rounds_of_devices_and_of_the_panel_are_counted(
    agent: BookedAgent, books: TableBooks, play: Callable[[BookedAgent, str], Awaitable[object]]
) -> None:
    terms = agent.layout.terms["progressive"]
    rate_bps = terms.primary_bps + terms.reserve_bps
    for rounds in (1, 2):
        await play(agent, ROUND)
        assert books == TableBooks(
            rounds=rounds,
            wagers=rounds,
            meter_wagers=rounds,
            meter_wagered_cents=rounds * 100,
            contributions_micros=rounds * 100 * rate_bps,
            wins=rounds,
            won_cents=rounds * PAID_CENTS,
        )
        await play(agent, "next")


@pytest.mark.slow
async def test_a_void_that_a_floorperson_confirms_at_the_panel_is_subtracted(
    agent: BookedAgent, service: ScriptedService, books: TableBooks
) -> None:
    service.confirming = True
    await touch_all(agent, "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs")
    touches = PanelEvents(agent, within_s=20)
    await touches.submit(b'{"event":"retract","what":"hand","position":3,"reason":"Typed wrong"}')
    await touch_all(agent, "hand 3 9h 8h 7h; dealer 2c 7d 9s")
    assert (books.wagers, books.meter_wagered_cents) == (1, 100)
    await touches.submit(line_of("void"))
    assert agent.table_state.asking is not None
    service.decided = "confirmed"
    await eventually_async(lambda: agent.table_state.phase is Phase.OPEN)
    assert books == TableBooks()
