"""`python -m tests sim`: run seeds, each in a separate process, and show the one that fails."""

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from tests.mutation.mutants import simulated
from tests.sim.breaking import break_code
from tests.sim.clocks import read_program_files
from tests.sim.report import Report, summary
from tests.sim.run import simulate

_HASH_SEED: Final = "0"
_TRACE_SHOWN: Final = 60
_STEPS: Final = 400
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  (the disks are simulated: real ones only slow it down)


class _Came(msgspec.Struct, frozen=True):
    report: Report
    failure: str | None
    trace: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    if os.environ.get("PYTHONHASHSEED") != _HASH_SEED:
        # The order of sets is part of what a seed repeats.
        environment = os.environ | {"PYTHONHASHSEED": _HASH_SEED}
        command = [sys.executable, "-m", "tests", "sim", *arguments]
        os.execve(sys.executable, command, environment)  # noqa: S606
    asked = _parser().parse_args(arguments)
    if asked.defect is not None:
        break_code(asked.defect)
    read_program_files()
    reports: list[Report] = []
    failed: list[int] = []
    began = time.monotonic()
    for seed in range(asked.seed, asked.seed + asked.seeds):
        if asked.minutes is not None and time.monotonic() - began > asked.minutes * 60:
            break
        came = _in_a_child(seed, asked.steps, asked.trace)
        if came is None:
            sys.stdout.write(f"seed {seed}: the process ended without a report\n")
            return 1
        reports.append(came.report)
        if came.failure is not None:
            failed.append(seed)
            _show(came, asked.steps)
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
        " repeats the same run. Of every three seeds, two play Three Card Poker, and one (2, 5, 8,"
        " ...) plays a mixed link of three house games with tiers. The books are checked after"
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
    parser.add_argument(
        "--break",
        dest="defect",
        choices=sorted(simulated()),
        help="first put this defect into the code; some seed must find it",
    )
    parser.add_argument("--go-on", action="store_true", help="continue after a seed that failed")
    parser.add_argument("--trace", action="store_true", help="show the whole trace")
    parser.add_argument("--quiet", action="store_true", help="show only the summary")
    return parser


def _in_a_child(seed: int, steps: int, whole: bool) -> _Came | None:  # noqa: FBT001
    """Run a seed in a separate process, because killed simulated processes are never cleaned up."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            came = _run(seed, steps)
            kept = came.trace if whole else came.trace[-_TRACE_SHOWN:]
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(msgspec.msgpack.encode(msgspec.structs.replace(came, trace=kept)))
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return msgspec.msgpack.decode(data, type=_Came) if data else None


def _run(seed: int, steps: int) -> _Came:
    gc.disable()  # dead code must not be cleaned up: its `finally` would run
    if _MEMORY.is_dir():
        tempfile.tempdir = str(_MEMORY)
    home = Path(tempfile.mkdtemp(prefix="plt-"))
    try:
        report, failure, trace = simulate(seed, steps, home)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return _Came(report, failure, tuple(trace))


def _show(came: _Came, steps: int) -> None:
    sys.stdout.writelines(f"{line}\n" for line in came.trace)
    sys.stdout.write(
        f"\n{came.report.line()}\nFAILED: {came.failure}\n"
        f"again: python -m tests sim --seed {came.report.seed} --steps {steps} --trace\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
