"""A chaos run: the whole floor of real processes under load, its parts killed and frozen at random.

    python -m tests chaos --minutes 30 [--tables 20] [--seed N] [--report FILE.json]

It starts a mosquitto, a redis-server, two services and the tables' agents, lets two floorpersons
decide over HTTP while one service's simulated floorperson does too, and strikes by a plan that its
seed repeats. Then the faults stop, the rounds are finished, and everything must hold together. Exit
status 1 where anything does not.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.chaos.pit import Pit
from tests.chaos.report import Report, shown

_PROGRESS_EVERY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Options:
    """How long a run takes, with how many tables, by which seed."""

    seconds: float
    tables: int
    seed: int


def run_chaos(options: Options) -> Report:
    """Run it to its end, and say on standard error how it goes."""
    began = time.monotonic()
    with Pit(options.tables, options.seed) as pit:
        pit.begin()
        struck = time.monotonic()
        told = struck
        while time.monotonic() - struck < options.seconds and not pit.failed:
            pit.look()
            if time.monotonic() - told >= _PROGRESS_EVERY_S:
                told = time.monotonic()
                _tell(f"{told - began:7.0f} s  {pit.progress()}")
        _tell(f"{time.monotonic() - began:7.0f} s  the faults stop, the tables finish")
        return pit.settle(seconds=time.monotonic() - struck)


def main(arguments: Sequence[str]) -> int:
    """Run by command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests chaos", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=1.0, help="how long faults are made")
    parser.add_argument("--tables", type=int, default=20, help="how many tables play")
    parser.add_argument("--seed", type=int, help="repeats a plan; drawn where it is not given")
    parser.add_argument("--report", type=Path, help="where the report goes as JSON")
    given = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    report = run_chaos(Options(given.minutes * 60, given.tables, seed))
    if given.report is not None:
        given.report.write_bytes(report.encoded())
    sys.stdout.write(shown(report))
    return 0 if report.holds else 1


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
