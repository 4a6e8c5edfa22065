"""A floor that plays at a steady pace: how long tables wait for replies, and what it costs."""

import time
from collections.abc import Sequence
from typing import Any, Final

from tests.bench.floor import LINKS
from tests.bench.load import (
    Arrangement,
    Books,
    Measured,
    ReportStep,
    cpu_us,
    percentile_ms,
    playing,
)
from tests.bench.machine import cpu_seconds
from tests.bench.plan import Plan

PACES: Final = (200, 1_000)
"""Paces at which replies are timed, in rounds a second."""
IDLE_TABLES: Final = 40
ROUNDS_AN_HOUR: Final = 40
_S_AN_HOUR: Final = 3_600
_NO_FLOORPERSON_BELOW: Final = 10**9
"""Amount in cents below which wins at fixed odds need nobody: nobody decides wins here, and a floor
does not have thousands of wins that wait."""


async def measure_replies(
    plan: Plan, books: list[Books], report_step: ReportStep
) -> dict[str, Any]:
    floor = Arrangement(plan.tables, validate_from=_NO_FLOORPERSON_BELOW)
    report_step("replies: starting the parts")
    found: dict[str, Any] = {"run_in_s": plan.run_in, "measured_s": plan.long}
    async with playing(floor, books) as load:
        report_step(f"replies: the floor plays for {plan.run_in:g} s first")
        await load.latency(plan.tables, PACES[0], plan.run_in)
        for pace in PACES:
            report_step(f"replies: {pace:,} rounds a second")
            before, began_s = cpu_seconds(load.pids), time.monotonic()
            rounds_per_s, times_s = await load.latency(plan.tables, pace, plan.long)
            elapsed_s = time.monotonic() - began_s
            rounds = len(times_s["result_to_reply"])
            found[f"at_{pace}"] = {
                "rounds_per_s": round(rounds_per_s, 1),
                **{name: _percentiles(waited_s) for name, waited_s in times_s.items()},
                "cpu_us_per_round": cpu_us([Measured(rounds, elapsed_s, load.cpu_since(before))]),
            }
        report_step("replies: comparing the books")
    return found


def _percentiles(waited_s: Sequence[float]) -> dict[str, float]:
    return {
        **{f"p{percent}_ms": percentile_ms(waited_s, percent) for percent in (50, 99)},
        "longest_ms": percentile_ms(waited_s, 100),
        "samples": len(waited_s),
    }


async def measure_idle(plan: Plan, books: list[Books], report_step: ReportStep) -> dict[str, Any]:
    pace = IDLE_TABLES * ROUNDS_AN_HOUR / _S_AN_HOUR
    report_step("idle: starting the parts")
    async with playing(Arrangement(IDLE_TABLES, LINKS[:1]), books) as load:
        await load.rest()
        report_step(f"idle: {pace:.2f} rounds a second for {plan.long:g} s")
        before, began_s = cpu_seconds(load.pids), time.monotonic()
        await load.latency(IDLE_TABLES, pace, plan.long)
        elapsed_s, used = time.monotonic() - began_s, load.cpu_since(before)
    return {
        "tables": IDLE_TABLES,
        "rounds_an_hour_a_table": ROUNDS_AN_HOUR,
        "measured_s": round(elapsed_s, 1),
        "percent_of_a_core": {name: round(100 * of / elapsed_s, 2) for name, of in used.items()},
    }
