"""Steps of a benchmark: warm up, measure the phases in turn, compare the books."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self, TypeVar

import msgspec
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bonus.errors import UserError
from meters.logs.options import LogLevel
from meters.logs.setup import log_to
from meters.terminal.console import PlainConsole
from meters.terminal.printing import print_json
from tests.bench.machine import this_machine
from tests.bench.orders import (
    Finding,
    Finish,
    Finished,
    LatencyMeasured,
    Measure,
    Measured,
    MeasureLatency,
    Order,
)
from tests.bench.report import TEN_TIMES, Pass, Report, make_report, settings_of
from tests.bench.stand import Stand, stand

ROUNDS_PER_S: Final = 200
BUSY_ROUNDS_PER_S: Final = 1_000
"""Paces at which latency is measured, in rounds a second."""

_SEED: Final = 649
_PHASE_MAX_S: Final = 600.0
_AUDIT_WITHIN_S: Final = 1_200.0
_STEPS_A_PASS: Final = 6
_STEPS_AROUND: Final = 4
_SHORT_S: Final = 10.0
"""Seconds of a phase in all passes together, below which a run is a short look."""

Found = TypeVar("Found", bound=Finding)


@dataclass(frozen=True, slots=True)
class Plan:
    """Size of a run."""

    tables: int
    seconds: float
    passes: int
    rests: bool

    @classmethod
    def of(cls, tables: int, seconds: float, passes: int) -> Self:
        return cls(tables, seconds, passes, rests=seconds * passes >= _SHORT_S)


QUICK: Final = Plan(tables=40, seconds=0.3, passes=1, rests=False)
"""Less than a minute in total. It shows that the benchmark works and measures little."""


async def run_bench(plan: Plan) -> Report:
    """Run a benchmark and report its progress on standard error."""
    # The approval before the start of the service is given in this process.
    log_to(sys.stderr, level=LogLevel.WARNING)
    began = time.monotonic()
    machine = this_machine()
    with _progress() as progress:
        task = progress.add_task("", total=_steps(plan))

        def report_step(what: str) -> None:
            progress.update(task, advance=1, description=what)
            if progress.disable:
                progress.console.print(what)

        report_step("starting the parts")
        async with stand(plan.tables * TEN_TIMES, seed=_SEED) as parts:
            report_step("warming up")
            await _ask(parts, _wagers(plan.tables * TEN_TIMES, 0.0), Measured)
            passes = [
                await _measure(parts, plan, number, report_step) for number in range(plan.passes)
            ]
            report_step("comparing the books")
            finished = await _ask(parts, Finish(), Finished)
            audit = await parts.audit(within_s=_AUDIT_WITHIN_S)
            report_step("ending the parts")
    settings = settings_of(plan.tables, plan.seconds, plan.passes)
    return make_report(
        machine=machine,
        settings=settings,
        passes=passes,
        finished=finished,
        audit=audit,
        duration_s=time.monotonic() - began,
    )


async def _measure(
    parts: Stand, plan: Plan, number: int, report_step: Callable[[str], None]
) -> Pass:
    tables, seconds = plan.tables, plan.seconds
    of = f"pass {number + 1} of {plan.passes}"
    report_step(f"{of}: wagers from {tables:,} tables")
    wagers = await _ask(parts, _wagers(tables, seconds), Measured)
    if plan.rests:
        report_step(f"{of}: waiting for the audit of the wagers")
        await parts.rest(within_s=_PHASE_MAX_S)
    report_step(f"{of}: the pipe of C programs")
    pipe = await _ask(parts, Measure(what="pipe", tables=tables, seconds=seconds), Measured)
    report_step(f"{of}: whole rounds")
    rounds = await _ask(parts, Measure(what="rounds", tables=tables, seconds=seconds), Measured)
    report_step(f"{of}: wagers from {tables * TEN_TIMES:,} tables")
    ten_times = await _ask(parts, _wagers(tables * TEN_TIMES, seconds), Measured)
    report_step(f"{of}: latency at {ROUNDS_PER_S:,} rounds a second")
    latency = await _ask(parts, _latency(plan, ROUNDS_PER_S), LatencyMeasured)
    report_step(f"{of}: latency at {BUSY_ROUNDS_PER_S:,} rounds a second")
    busy_latency = await _ask(parts, _latency(plan, BUSY_ROUNDS_PER_S), LatencyMeasured)
    return Pass(
        wagers=wagers,
        pipe=pipe,
        rounds=rounds,
        ten_times=ten_times,
        latency=latency,
        busy_latency=busy_latency,
    )


def _wagers(tables: int, seconds: float) -> Measure:
    return Measure(what="wagers", tables=tables, seconds=seconds)


def _latency(plan: Plan, pace: int) -> MeasureLatency:
    return MeasureLatency(tables=plan.tables, rounds_per_s=pace, seconds=plan.seconds)


async def _ask(parts: Stand, order: Order, expected: type[Found]) -> Found:
    finding = await parts.ask(order, within_s=_PHASE_MAX_S)
    if not isinstance(finding, expected):
        raise UserError(f"the load answered {type(finding).__name__}")
    return finding


def _steps(plan: Plan) -> int:
    return plan.passes * (_STEPS_A_PASS + plan.rests) + _STEPS_AROUND


def _progress() -> Progress:
    """Return a progress reporter: a bar on a terminal, otherwise a line for each step."""
    console = PlainConsole(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def write_report(report: Report) -> None:
    print_json(msgspec.json.format(msgspec.json.encode(report), indent=2))
