"""Chaos run: a whole floor of real processes under load, with random kills and freezes.

    python -m tests chaos --minutes 30 [--tables 20] [--seed N]

The run starts a mosquitto, a redis-server, two services and the tables' agents. Two links play
Three Card Poker. A third of the tables is on a mixed link of five house games, two of them without
cards. Two floorpersons decide over HTTP, and so does the simulated floorperson of one service. A
plan of faults follows from the seed. Then the faults stop, the rounds are finished, and all records
are compared. It prints a report as JSON. The exit status is 1 if the records differ.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from typing import Final

import msgspec

from tests.chaos.accounts import Report
from tests.chaos.floor import TABLES_MIN
from tests.chaos.pit import Pit

_PROGRESS_EVERY_S: Final = 5.0


def run_chaos(seconds: float, tables: int, seed: int) -> Report:
    began = time.monotonic()
    with Pit(tables, seed) as pit:
        pit.begin()
        struck = time.monotonic()
        reported_s = struck
        while time.monotonic() - struck < seconds and not pit.failed:
            pit.look()
            if time.monotonic() - reported_s >= _PROGRESS_EVERY_S:
                reported_s = time.monotonic()
                _print(f"{reported_s - began:7.0f} s  {pit.progress()}")
        _print(f"{time.monotonic() - began:7.0f} s  the faults stop, the tables finish")
        return pit.settle(seconds=time.monotonic() - struck)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests chaos", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=1.0, help="minutes of faults (default 1)")
    parser.add_argument("--tables", type=int, default=20, help="number of tables (default 20)")
    parser.add_argument("--seed", type=int, help="seed of the plan; a random one by default")
    given = parser.parse_args(arguments)
    if given.tables < TABLES_MIN:
        parser.error(f"--tables: at least {TABLES_MIN}, one for each game of each link")
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    report = run_chaos(given.minutes * 60, given.tables, seed)
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return 1 if report.problems else 0


def _print(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
