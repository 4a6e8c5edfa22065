"""Reports of a run, and of many runs together."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

_COUNTS: Final = (
    "events", "answers", "rounds", "wagers", "entries", "claims", "corrections", "checks",
    "replies", "acts",
)  # fmt: skip


class Report(msgspec.Struct, frozen=True):
    """Report of one seed."""

    seed: int
    digest: str
    events: int
    seconds: float
    faults: dict[str, int]
    answers: int
    rounds: int
    wagers: int
    entries: int
    claims: int
    corrections: int
    checks: int
    replies: int
    acts: int

    def line(self) -> str:
        counts = ", ".join(f"{getattr(self, name)} {name}" for name in _COUNTS)
        return (
            f"seed {self.seed}: {self.seconds:.0f} s, {counts},"
            f" {sum(self.faults.values())} faults, trace {self.digest}"
        )


def summary(reports: Sequence[Report]) -> str:
    faults: Counter[str] = sum((Counter(report.faults) for report in reports), Counter())
    seconds = sum(report.seconds for report in reports)
    lines = [
        f"{len(reports)} seeds, {seconds / 3600:.1f} hours by their own clocks",
        ", ".join(f"{sum(getattr(report, name) for report in reports)} {name}" for name in _COUNTS),
        f"{faults.total()} faults:",
        *(f"  {count:8} {kind}" for kind, count in sorted(faults.items())),
    ]
    return "\n".join(lines)
