"""How the CPU time of an event changes with more services and servers."""

from typing import Any, Final

from tests.bench.floor import LINKS
from tests.bench.load import Arrangement, Books, ReportStep, cpu_us, playing
from tests.bench.plan import Plan

_LOAD: Final = "load"


async def measure_arrangements(
    plan: Plan, books: list[Books], report_step: ReportStep
) -> dict[str, Any]:
    """Measure arrangements. In the last one, each link has a broker, a Redis and a service.

    With a core for each process, the busiest process limits the events a second. The cost of a
    must-hit-by meter is the ratio of the CPU times of the first two.
    """
    one, found = LINKS[:1], dict[str, Any]()
    for name, arrangement in {
        "one_service": Arrangement(plan.tables, one),
        "one_service_with_must_hit_by": Arrangement(plan.tables, one, must_hit_by=True),
        "two_services_of_one_link": Arrangement(plan.tables, one, services=2),
        "two_links_on_two_redis": Arrangement(plan.tables, LINKS, servers=2),
    }.items():
        report_step(f"arrangements: {name.replace('_', ' ')}")
        async with playing(arrangement, books) as load:
            played, _ = await load.sustain(plan.long, None)
        used = cpu_us([played])
        busiest = max(used.keys() - {_LOAD}, key=used.__getitem__)
        found[name] = {
            "cpu_us_per_event": used,
            "cpu_us_per_event_without_load": round(sum(used.values()) - used[_LOAD], 1),
            "busiest": busiest,
            "events_per_s_with_a_core_each": round(1e6 / used[busiest]),
        }
    return found
