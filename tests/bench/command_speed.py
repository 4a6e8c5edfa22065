"""How fast one core audits a ledger with `pitlink audit`, and settles with `pitlink settle`."""

from functools import partial
from random import Random
from typing import Any, Final

import msgspec

from tests.bench.floor import bench_floor_text
from tests.bench.load import SEED, ReportStep
from tests.bench.place import Place, a_place
from tests.bench.plan import Plan
from tests.bench.play import MIXES, PlayedFloor
from tests.bench.sizing import KEEP_LEAST
from tests.naive.rounds import three_card_poker

_TABLES: Final = 80


async def measure_commands(plan: Plan, report_step: ReportStep) -> dict[str, Any]:
    """Measure the CPU time of whole commands, less that of the same command with hardly any work.

    The time of Redis does not count.
    """
    async with a_place(partial(bench_floor_text, tables=_TABLES)) as place:
        place.write_floor(KEEP_LEAST)
        report_step("commands: settle")
        settled = _settled_per_s(place, plan.settled)
        report_step(f"commands: playing {plan.rounds_a_table * _TABLES:,} rounds")
        played = PlayedFloor(place.floor, place.redis, MIXES[0], SEED)
        await played.open()
        empty_s = place.timed("audit").cpu_s
        await played.play(plan.rounds_a_table)
        entries = await played.entries()
        report_step("commands: audit")
        live_s = place.timed("audit").cpu_s
        for _ in range(2):
            # A day is deleted from Redis once a later day is closed.
            await played.close_day()
            place.run("archive")
        archived_s = place.timed("audit").cpu_s
        return {
            "entries": entries,
            "audited_entries_per_s": round(entries / (live_s - empty_s)),
            "audited_archived_entries_per_s": round(entries / (archived_s - empty_s)),
            "settled_rounds_per_s": settled,
        }


def _settled_per_s(place: Place, count: int) -> int:
    rounds = [msgspec.json.encode(three_card_poker(Random(SEED + n))) for n in range(count)]
    few, many = (
        place.timed("settle", stdin=b"\n".join(some)).cpu_s for some in (rounds[:1], rounds)
    )
    return round((count - 1) / (many - few))
