"""Size of a run of the benchmark."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Plan:
    """Size of a run.

    Attributes:
        tables: tables that send at the same time.
        seconds: length of each short phase of a pass.
        passes: passes over the phases of the speed.
        long: seconds of each long run: sustained events, replies, arrangements, idle.
        run_in: seconds that the floor plays before its replies are timed.
        rounds_a_table: rounds of the ledger that `pitlink audit` audits.
        settled: rounds that `pitlink settle` settles.
    """

    tables: int
    seconds: float
    passes: int
    long: float
    run_in: float
    rounds_a_table: int = 200
    settled: int = 10_000


QUICK: Final = Plan(40, 0.3, 1, long=2.0, run_in=2.0, rounds_a_table=5, settled=500)
"""It shows that the benchmark works, but measures little."""
