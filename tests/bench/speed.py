"""How many events a second: in windows, sustained, and as two comparisons take them."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec

from tests.bench.audit_lag import Lag
from tests.bench.baselines import Baseline, bare_subscriber, c_pipe
from tests.bench.events import EventWriter
from tests.bench.floor import WAGERS_AN_EVENT
from tests.bench.load import (
    SEED,
    Arrangement,
    Books,
    Load,
    Measured,
    ReportStep,
    cpu_us,
    measure_windows,
    playing,
)
from tests.bench.plan import Plan

_STEPS: Final = 3
"""Steps of the bisection that looks for the highest sustained rate."""
_PACE_KEPT: Final = 0.95
_WARM_UP_S: Final = 0.001
_EVENTS_A_ROUND: Final = 2


class Sustained(NamedTuple):
    """What was measured as fast as the tables were answered, and at the highest sustained rate.

    The two are the same if the lag of the audit was bounded. `highest` is None if it was bounded at
    no rate that was tried. `tries` has every run with its lag, the unpaced one first.
    """

    unpaced: Measured
    lag: Lag
    highest: Measured | None
    tries: Sequence[tuple[Measured, Lag]]


class Pass(NamedTuple):
    """One pass. Of windows, the first was measured while tables sent wagers, the other voids."""

    wagers: tuple[Measured, Measured]
    rounds: Measured
    sustained: Sustained
    c_pipe: tuple[Measured, Measured]
    bare: tuple[Measured, Measured]


async def measure_speed(plan: Plan, books: list[Books], report_step: ReportStep) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        report_step("speed: starting the parts")
        load = await stack.enter_async_context(playing(Arrangement(plan.tables), books))
        pipe = await stack.enter_async_context(c_pipe())
        bare = await stack.enter_async_context(bare_subscriber(plan.tables))
        report_step("speed: warming up")
        await load.windows(_WARM_UP_S)
        passes = list[Pass]()
        for number in range(plan.passes):
            report_step(f"speed: pass {number + 1} of {plan.passes}")
            passes.append(await _measure(load, pipe, bare, plan, report_step))
        report_step("speed: comparing the books")
    return figures_of(plan.tables, passes)


async def _measure(
    load: Load, pipe: Baseline, bare: Baseline, plan: Plan, report_step: ReportStep
) -> Pass:
    report_step(f"speed: wagers from {plan.tables:,} tables")
    wagers = await load.windows(plan.seconds)
    report_step("speed: whole rounds")
    rounds = await load.rounds(plan.seconds)
    # The audit must not take CPU time from the other programs.
    await load.rest()
    report_step("speed: the pipe of C programs")
    piped = await _compare(load, pipe, plan.seconds)
    report_step("speed: the bare subscriber")
    received = await _compare(load, bare, plan.seconds)
    sustained = await sustain(load, plan.long, report_step)
    return Pass(wagers, rounds, sustained, piped, received)


async def _compare(load: Load, baseline: Baseline, seconds: float) -> tuple[Measured, Measured]:
    """Have a baseline receive the same windows of wagers and voids from the same client."""
    writer, number = EventWriter(SEED), 0
    topics = [table.topic for table in load.traffic.tables]

    async def window(kind: str) -> tuple[int, float]:
        nonlocal number
        number += 1
        write = writer.wagers if kind == "wagers" else writer.void
        took_s = await baseline.window(topics, partial(write, number, number))
        return len(topics), took_s

    pids = {"load": load.pids["load"], **baseline.pids}
    return await measure_windows(pids, seconds, partial(window, "wagers"), partial(window, "void"))


async def sustain(load: Load, seconds: float, report_step: ReportStep) -> Sustained:
    """Have the tables play, and if the audit does not keep up, look for a pace at which it does."""
    report_step(f"speed: sustained for {seconds:g} s")
    unpaced, lag = await load.sustain(seconds, None)
    tries = [(unpaced, lag)]
    if lag.bounded:
        return Sustained(unpaced, lag, unpaced, tries)
    low, high, highest = 0.0, unpaced.rate / _EVENTS_A_ROUND, None
    for _ in range(_STEPS):
        pace = (low + high) / 2
        report_step(
            f"speed: the audit fell behind; at {pace * _EVENTS_A_ROUND:,.0f} events a second"
        )
        tried, its_lag = await load.sustain(seconds, pace)
        tries.append((tried, its_lag))
        if its_lag.bounded and tried.rate >= _PACE_KEPT * _EVENTS_A_ROUND * pace:
            low, highest = pace, tried
        else:
            high = pace
    return Sustained(unpaced, lag, highest, tries)


def figures_of(tables: int, passes: Sequence[Pass]) -> dict[str, Any]:
    """Return the figures of each phase: the medians of the passes."""
    windows = [one.wagers[0].rate for one in passes]
    highest = [one.sustained.highest for one in passes]
    found = [one for one in highest if one is not None]
    rates = [one.rate if one else 0.0 for one in highest]
    worst = max((one.sustained.lag for one in passes), key=lambda lag: lag.unread_s)
    return {
        "wagers": {
            "tables": tables,
            "wagers_per_s": round(median(windows) * WAGERS_AN_EVENT),
            **_rates([one.wagers[0] for one in passes]),
        },
        "rounds": _rates([one.rounds for one in passes], "round"),
        "sustained": {
            "events_per_s": round(median(rates)),
            "events_per_s_by_pass": [round(rate) for rate in rates],
            "cpu_us_per_event": cpu_us(found) if found else {},
            "audit_kept_up": all(one.sustained.lag.bounded for one in passes),
            "audit_lag": msgspec.to_builtins(worst),
            "tries": [
                {"events_per_s": round(tried.rate), **msgspec.to_builtins(lag)}
                for one in passes
                for tried, lag in one.sustained.tries
            ],
        },
        "as_fast_as_answered": _rates([one.sustained.unpaced for one in passes]),
        **{
            name: {
                "wagers": _rates([one[0] for one in measured]),
                "wagers_and_voids": _rates([one[0] | one[1] for one in measured]),
            }
            for name, measured in _compared(passes).items()
        },
        "ratios": {
            ratio: round(median(map(float.__truediv__, ours, theirs)), 3)
            for name, measured in _compared(passes).items()
            for ratio, ours, theirs in (
                (f"wagers_to_{name}", windows, [one[0].rate for one in measured]),
                (f"sustained_to_{name}", rates, [(one[0] | one[1]).rate for one in measured]),
            )
        },
    }


def _compared(passes: Sequence[Pass]) -> Mapping[str, list[tuple[Measured, Measured]]]:
    return {"c_pipe": [one.c_pipe for one in passes], "bare": [one.bare for one in passes]}


def _rates(measured: Sequence[Measured], what: str = "event") -> dict[str, Any]:
    return {
        f"{what}s_per_s": round(median(one.rate for one in measured)),
        f"{what}s_per_s_by_pass": [round(one.rate) for one in measured],
        f"cpu_us_per_{what}": cpu_us(measured),
    }
