"""`python -m tests bench`: measure the service, or how large a floor becomes."""

import asyncio
import shutil
import signal
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
import uvloop

from bonus.errors import UserError
from meters.process.console import PlainConsole
from meters.process.logs import LogLevel, log_to
from meters.process.printing import print_defect, print_error, print_json
from meters.process.signals import hear_signals
from tests.bench import sizing as sizes
from tests.bench.plan import QUICK, Plan
from tests.bench.run import run_bench
from tests.bench.sheets import print_sheets


class Measurement(StrEnum):
    SPEED = "speed"
    REPLIES = "replies"
    ARRANGEMENTS = "arrangements"
    IDLE = "idle"
    COMMANDS = "commands"


def bench(
    *,
    tables: Annotated[int, typer.Option(min=2, help="Tables that send at the same time.")] = 2_000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Length of each short phase of a pass.")
    ] = 5.0,
    passes: Annotated[
        int, typer.Option(min=1, help="Passes over the phases of `speed`; figures are medians.")
    ] = 3,
    long: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="Length of each long run: sustained events, replies at each pace, each"
            " arrangement, idle. Published figures use 120. An audit comes each minute: a shorter"
            " run is uncertain about whether it keeps up.",
        ),
    ] = 60.0,
    run_in: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="SECONDS",
            help="How long the floor plays before its replies are timed. Published figures use"
            " 600.",
        ),
    ] = 60.0,
    only: Annotated[
        list[Measurement] | None,
        typer.Option(help="Measure only this. Give it several times for several measurements."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run for two minutes with 40 tables, only to see that it works."
        ),
    ] = False,
    sizing: Annotated[
        bool, typer.Option("--sizing", help="Measure memory and disk by tables and wagers instead.")
    ] = False,
) -> None:
    """Measure the meter service with its own servers.

    Figures appear as tables on standard error, and as one JSON object on standard output. The
    benchmark starts its own mosquitto, redis-server, and `pitlink serve`. It compares the books at
    the end of each measurement; the exit status is 1 if anything was lost. On a machine that does
    anything else, only CPU times and ratios mean something.

    - `speed`: events a second, in windows and sustained while the audit keeps up, beside a pipe of
      C programs and a bare aiomqtt subscriber; CPU time of an event and of a round by process. If
      the audit falls behind, slower paces show the highest rate at which it keeps up.

    - `replies`: p50 and p99 of replies at 200 and 1,000 rounds a second, audits included.

    - `arrangements`: CPU time of an event with one service, the same with a must-hit-by meter, two
      services of one link, and two links on two Redis servers.

    - `idle`: CPU of a pit of 40 tables at 40 rounds an hour.

    - `commands`: entries that `pitlink audit` audits, and rounds that `pitlink settle` settles, in
      a second of one core.

    Example, as published: **python -m tests bench --long 120 --run-in 600**

    With --sizing it measures how large a floor becomes: Redis's memory by table, meter and million
    wagers, the append-only file, the archive, and the memory that archiving a day frees. It also
    measures how long the audit, the archive and the start of the service take. It runs for some
    minutes.
    """
    for name in ("mosquitto", "mosquitto_sub", "redis-server", "redis-cli"):
        if shutil.which(name) is None:
            raise UserError(f"no {name} on PATH: the benchmark needs one (see the README)")
    report_step = step_reporter()
    if sizing:
        work = sizes.measure_sizing(sizes.QUICK if quick else sizes.WHOLE, report_step)
        write_report(uvloop.run(work))
        return
    plan = QUICK if quick else Plan(tables, seconds, passes, long, run_in)
    report = uvloop.run(run_bench(plan, only or (), report_step))
    print_sheets(report)
    write_report(report)
    if not report["nothing_lost"]:
        raise typer.Exit(1)


def step_reporter() -> Callable[[str], None]:
    log_to(sys.stderr, level=LogLevel.WARNING)
    began, console = time.monotonic(), PlainConsole(stderr=True)
    return lambda what: console.print(f"{time.monotonic() - began:5.0f} s  {what}")


def write_report(report: object) -> None:
    print_json(msgspec.json.format(msgspec.json.encode(report), indent=2))


def run_command(command: Callable[..., None], name: str) -> None:
    """Run a command of the tests and exit with the status that `pitlink` would have.

    SIGTERM ends it as Ctrl-C does, even if SIGINT is ignored. `name` is the name of the command
    after `python -m tests`.
    """
    hear_signals()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.excepthook = print_defect
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command)
    try:
        app(prog_name=f"python -m tests {name}")
    except UserError as error:
        print_error(f"python -m tests {name}: {error}")
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)


def _interrupt(*_: object) -> None:
    """Interrupt the run, even while a task blocks the event loop.

    Between two tasks, a callback of the loop raises the interrupt: if a protocol's callback raised
    it, uvloop would end the connection instead.
    """
    try:
        between_tasks = asyncio.current_task() is None
    except RuntimeError:  # no loop runs
        between_tasks = False
    if between_tasks:
        asyncio.get_running_loop().call_soon_threadsafe(_raise_interrupt)
    else:
        _raise_interrupt()


def _raise_interrupt() -> None:
    raise KeyboardInterrupt


def main() -> None:
    run_command(bench, "bench")


if __name__ == "__main__":
    main()
