import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bonus.errors import UserError
from controllers.agent.metrics import AgentMetrics
from controllers.agent.setup import broker_of, outbox_path
from controllers.demo.floor import PANEL_TABLE
from controllers.demo.service import LOOPBACK
from controllers.demo.table_books import BookedAgent, TableBooks
from controllers.panel.access import panel_key
from controllers.panel.app import serve_panel
from controllers.panel.table_pages import panel_key_path
from meters.floor.floor_file import Floor


@asynccontextmanager
async def demo_panel(
    floor: Floor, port: int, books: TableBooks, metrics: AgentMetrics
) -> AsyncIterator[str]:
    """Run the agent of the table that has no bot, and yield the URL that opens its panel.

    Raises:
        UserError: the floor has no such table, or the port cannot be used.
    """
    found = floor.find_table(PANEL_TABLE)
    if found is None:
        raise UserError(f"the demonstration's floor has no table {PANEL_TABLE}")
    key = panel_key(panel_key_path(floor, PANEL_TABLE))
    path = outbox_path(floor, PANEL_TABLE)
    ready = asyncio.Event()
    async with BookedAgent(*found, broker_of(floor, *found), path, books) as agent:
        metrics.add(agent)
        serving = asyncio.create_task(
            serve_panel(
                floor, agent, LOOPBACK, port, ready, key=key, demonstration=True, metrics=metrics
            )
        )
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                yield f"http://{LOOPBACK}:{port}/?key={key}"
            if serving.done():
                serving.result()
        finally:
            for task in (serving, waiting):
                task.cancel()
            await asyncio.wait({serving, waiting})
