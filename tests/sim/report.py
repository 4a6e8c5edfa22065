from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec


class Report(msgspec.Struct, frozen=True):
    """Report of one seed: its length by its own clock, its faults by kind, and what it counted."""

    seed: int
    digest: str
    seconds: float
    faults: Mapping[str, int]
    counts: Mapping[str, int]

    def line(self) -> str:
        return (
            f"seed {self.seed}: {self.seconds:.0f} s, {_text(self.counts)},"
            f" {sum(self.faults.values())} faults, trace {self.digest}"
        )


def summary(reports: Sequence[Report]) -> str:
    faults: Counter[str] = sum((Counter(report.faults) for report in reports), Counter())
    counts = {
        name: sum(report.counts[name] for report in reports)
        for name in (reports[0].counts if reports else ())
    }
    seconds = sum(report.seconds for report in reports)
    lines = [
        f"{len(reports)} seeds, {seconds / 3600:.1f} hours by their own clocks",
        _text(counts),
        f"{faults.total()} faults:",
        *(f"  {count:8} {kind}" for kind, count in sorted(faults.items())),
    ]
    return "\n".join(lines)


def _text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
