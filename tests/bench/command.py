"""`python -m tests bench`: measure the service, or how large a floor becomes."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Annotated, TypeVar

import typer

from bonus.errors import UserError
from meters.process.signals import hear_signals
from meters.process.stop_signals import on_stop
from meters.terminal.printing import print_defect, print_error
from tests.bench.run import QUICK, Plan, run_bench, write_report
from tests.bench.sizing import course

_Found = TypeVar("_Found")


def bench(
    *,
    tables: Annotated[
        int, typer.Option(min=2, help="Tables that send at the same time; later ten times as many.")
    ] = 2_000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="How long each phase is timed in each pass.")
    ] = 5.0,
    passes: Annotated[
        int, typer.Option(min=1, help="Passes over all phases; the figures are medians.")
    ] = 3,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run for less than a minute, only to see that it works.")
    ] = False,
    sizing: Annotated[
        bool,
        typer.Option("--sizing", help="Measure memory and disk by tables and wagers instead."),
    ] = False,
) -> None:
    """Measure the meter service with its own servers, and print the figures as one JSON object.

    The benchmark starts its own mosquitto and redis-server, both from PATH, and `pitlink serve`. It
    plays many tables from another process and compares the books at the end. The exit status is 1
    if anything was lost.

    With --sizing it measures how large a floor becomes: Redis's memory by table, meter and million
    wagers, the append-only file, the archive, and the memory that archiving a day frees. It also
    measures how long the audit, the archive and the start of the service take. It runs for some
    minutes.
    """
    if sizing:
        sizes = course.QUICK if quick else course.WHOLE
        course.write_sizing(run_until_stopped(course.measure_sizing(sizes)))
        return
    report = run_until_stopped(run_bench(QUICK if quick else Plan.of(tables, seconds, passes)))
    write_report(report)
    if not report.nothing_lost:
        raise typer.Exit(1)


def run_until_stopped(work: Coroutine[object, None, _Found]) -> _Found:
    """Run work to its end. SIGTERM ends it as Ctrl-C does, even if SIGINT is ignored."""

    async def watched() -> _Found:
        task = asyncio.current_task()
        stopped = False

        def stop() -> None:
            nonlocal stopped
            stopped = True
            if task is not None:
                task.cancel()

        on_stop(stop, [signal.SIGTERM])
        try:
            return await work
        except asyncio.CancelledError:
            if stopped:
                raise KeyboardInterrupt from None
            raise

    return asyncio.run(watched())


def run_command(command: Callable[..., None], name: str) -> None:
    """Run a command of the tests and exit with the status that `pitlink` would have.

    `name` is the name of the command after `python -m tests`.
    """
    hear_signals()
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


def main() -> None:
    run_command(bench, "bench")


if __name__ == "__main__":
    main()
