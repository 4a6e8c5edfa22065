"""Long runs that belong to the tests, each started by name: `python -m tests NAME --help`."""

import runpy
import sys
from typing import Final

RUNS: Final = {
    "age": "tests.age.command",
    "bench": "tests.bench.command",
    "chaos": "tests.chaos.run",
    "flood": "tests.fuzz.flood",
    "fuzz": "tests.fuzz.run",
    "mutate": "tests.mutation.command",
    "naive": "tests.naive.run",
    "sim": "tests.sim.command",
}


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in RUNS:
        sys.exit(f"python -m tests NAME: one of {', '.join(sorted(RUNS))}")
    sys.argv = [f"python -m tests {name}", *sys.argv[2:]]
    runpy.run_module(RUNS[name], run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
