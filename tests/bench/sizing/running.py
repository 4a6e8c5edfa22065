"""Memory of the running processes: the service, an agent and its outbox."""

from collections.abc import Callable
from functools import partial
from typing import Final

from bonus.errors import UserError
from tests.bench.floor import WAGERS_AN_EVENT, bench_floor_text, table_address
from tests.bench.orders import Measured, MeasureRounds
from tests.bench.sizing.books import SEED
from tests.bench.sizing.figures import OutboxFigures, ServiceFigures, Sizes, slope
from tests.bench.sizing.parts import play_agent, rss_bytes, running_service
from tests.bench.sizing.place import a_place
from tests.bench.stand import Stand, stand

_TIMES: Final = 6
_PHASE_MAX_S: Final = 600.0
_EVERY_ODDS_PAYOUT: Final = 100_000_000

ReportStep = Callable[[str], None]


async def measure_running(
    sizes: Sizes, report_step: ReportStep
) -> tuple[ServiceFigures, OutboxFigures]:
    """Measure service and agent.

    Raises:
        UserError: a part is missing, or failed.
    """
    by_tables = []
    for tables in sizes.service_tables:
        report_step(f"the service of {tables} tables")
        by_tables.append((tables, await _service_rss_bytes(tables)))
    tables = sizes.play_tables
    # The service keeps each undecided win in memory, so this floor produces hardly any.
    floor = stand(tables, bare_window=1, seed=SEED, validate_from_cents=_EVERY_ODDS_PAYOUT)
    async with floor as parts:
        by_wagers = await _by_wagers(parts, tables - 1, sizes.service_seconds, report_step)
        report_step("the outbox of a table")
        outbox = await _outbox(parts, tables - 1, sizes.outbox_rounds)
    per_table = slope(by_tables)
    fewest, rss = by_tables[0]
    service = ServiceFigures(
        rss_bytes_without_tables=round(rss - fewest * per_table),
        rss_bytes_per_table=round(per_table),
        rss_bytes_by_wagers=by_wagers,
    )
    return service, outbox


async def _service_rss_bytes(tables: int) -> int:
    async with a_place(partial(bench_floor_text, tables=tables), broker=True) as place:
        serving = running_service(place.config, place.parts.http, place.home / "service")
        async with serving as (service, _):
            return rss_bytes(service.pid)


async def _by_wagers(
    parts: Stand, tables: int, seconds: float, report_step: ReportStep
) -> list[tuple[int, int]]:
    """Measure the service's memory after growing numbers of wagers, sent as fast as possible."""
    service, wagers, found = parts.measured[0], 0, list[tuple[int, int]]()
    for _ in range(_TIMES):
        report_step("the service as wagers come")
        order = MeasureRounds(tables=tables, seconds=seconds)
        measured = await parts.ask(order, within_s=_PHASE_MAX_S)
        if not isinstance(measured, Measured):
            raise UserError(f"the load answered {type(measured).__name__}")
        wagers += measured.events * WAGERS_AN_EVENT
        found.append((wagers, rss_bytes(service.pid)))
    return found


async def _outbox(parts: Stand, number: int, rounds: tuple[int, ...]) -> OutboxFigures:
    """Measure outboxes of a table that the load does not use, each with more rounds."""
    table, played, found, agent_rss = table_address(number).table, 0, [], 0
    outbox = parts.home / "agent" / "outbox.sqlite"
    for count in rounds:
        config = parts.home / "floor.toml"
        agent_rss = await play_agent(table, config, outbox, count)
        played += count
        found.append((2 * played, outbox.stat().st_size))
    return OutboxFigures(bytes_per_event=round(slope(found)), agent_rss_bytes=agent_rss)
