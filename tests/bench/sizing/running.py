"""Memory of the running processes: the service, an agent and its outbox."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from tests.bench.floor import bench_floor_text, table_address
from tests.bench.parts import Part
from tests.bench.sizing.figures import OutboxFigures, ServiceFigures, Sizes, slope
from tests.bench.sizing.parts import play_agent, rss_bytes, running_service
from tests.bench.sizing.place import Place, a_place


async def measure_running(
    sizes: Sizes, report_step: Callable[[str], None]
) -> tuple[ServiceFigures, OutboxFigures]:
    """Measure service and agent."""
    by_tables = []
    for tables in sizes.service_tables:
        report_step(f"the service of {tables} tables")
        async with _served(tables) as (_, service):
            by_tables.append((tables, rss_bytes(service.pid)))
    per_table = slope(by_tables)
    fewest, rss = by_tables[0]
    service_figures = ServiceFigures(
        rss_bytes_without_tables=round(rss - fewest * per_table),
        rss_bytes_per_table=round(per_table),
    )
    report_step("the outbox of a table")
    async with _served(fewest) as (place, _):
        return service_figures, await _outbox(place, sizes.outbox_rounds)


@asynccontextmanager
async def _served(tables: int) -> AsyncIterator[tuple[Place, Part]]:
    async with (
        a_place(partial(bench_floor_text, tables=tables), broker=True) as place,
        running_service(place.config, place.parts.http, place.home / "service") as (service, _),
    ):
        yield place, service


async def _outbox(place: Place, rounds: tuple[int, ...]) -> OutboxFigures:
    played, found, agent_rss = 0, [], 0
    outbox = place.home / "agent" / "outbox.sqlite"
    for count in rounds:
        agent_rss = await play_agent(table_address(0).table, place.config, outbox, count)
        played += count
        found.append((2 * played, outbox.stat().st_size))
    return OutboxFigures(bytes_per_event=round(slope(found)), agent_rss_bytes=agent_rss)
