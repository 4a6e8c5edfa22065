"""`python -m tests sim`: run seeds, each in a separate process, and show the one that fails."""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from tests.sim.clocks import read_program_files
from tests.sim.report import Report, summary
from tests.sim.run import Came, simulate

_HASH_SEED: Final = "0"
_TRACE_SHOWN: Final = 60
_STEPS: Final = 400


def main(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(arguments)
    if os.environ.get("PYTHONHASHSEED") != _HASH_SEED:
        # The order of sets is part of what a seed repeats.
        environment = os.environ | {"PYTHONHASHSEED": _HASH_SEED}
        command = [sys.executable, "-m", "tests", "sim", *arguments]
        os.execve(sys.executable, command, environment)  # noqa: S606
    read_program_files()
    reports: list[Report] = []
    failed: list[int] = []
    began = time.monotonic()
    for seed in range(asked.seed, asked.seed + asked.seeds):
        if asked.minutes is not None and time.monotonic() - began > asked.minutes * 60:
            break
        came = _in_a_child(seed, asked.steps)
        reports.append(came.report)
        if came.failure is not None:
            failed.append(seed)
            _show(came, asked.steps, whole=asked.trace)
            if not asked.go_on:
                break
            continue
        if asked.trace:
            sys.stdout.writelines(f"{line}\n" for line in came.trace)
        if not asked.quiet:
            sys.stdout.write(f"{came.report.line()}\n")
            sys.stdout.flush()
    verdict = f"failed: seeds {failed}" if failed else "all held"
    sys.stdout.write(f"{summary(reports)}\n{verdict}\n")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests sim",
        description="Simulate a whole floor under faults that follow from a seed: the same seed"
        " repeats the same run. Of every four seeds, the first (0, 4, 8, ...) plays Three Card"
        " Poker, the second with a must-hit-by jackpot too, the third a mixed link of three house"
        " games with tiers, and the last a link of games without cards. The books are checked after"
        " every script that wrote anything. The store is audited after every tenth such script and"
        " at the end. The first difference ends the run and is shown with the events that led to"
        " it.",
    )
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds (default 1)")
    parser.add_argument(
        "--steps",
        type=int,
        default=_STEPS,
        help=f"answered device events under faults in each seed (default {_STEPS})",
    )
    parser.add_argument("--minutes", type=float, help="begin no new seed after this many minutes")
    parser.add_argument("--go-on", action="store_true", help="continue after a seed that failed")
    parser.add_argument("--trace", action="store_true", help="show the whole trace")
    parser.add_argument("--quiet", action="store_true", help="show only the summary")
    return parser


def _in_a_child(seed: int, steps: int) -> Came:
    """Run a seed in a separate process, because killed simulated processes are never cleaned up."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as child:
        return child.submit(simulate, seed, steps).result()


def _show(came: Came, steps: int, *, whole: bool) -> None:
    shown = came.trace if whole else came.trace[-_TRACE_SHOWN:]
    sys.stdout.writelines(f"{line}\n" for line in shown)
    sys.stdout.write(
        f"\n{came.report.line()}\nFAILED: {came.failure}\n"
        f"again: python -m tests sim --seed {came.report.seed} --steps {steps} --trace\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
