"""The contents of a report, before the report is printed in a terminal or on paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Fact = tuple[str, str]
Row = tuple[str, ...]

NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list. `weight` is its share of the paper's width."""

    title: str
    weight: float = 1.0
    right: bool = False


def numbers(title: str, weight: float = 1.0) -> Column:
    """Return a column for numbers, which are aligned right."""
    return Column(title, weight, right=True)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A list of a report, with its title.

    The last `sums` rows are highlighted as sums. `note` is printed below the list.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sums: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportPart:
    """The part of a report about one link.

    `problems` are printed first. If there is a problem, no figure of the part can be trusted.
    `variances` follow. The person who signs must explain each variance.
    """

    link: str
    title: str
    facts: Sequence[Fact]
    sections: Sequence[ReportSection]
    problems: Sequence[str] = ()
    variances: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A whole report.

    Attributes:
        title: the title of the report.
        facility: the name of the facility.
        facts: the time of the report, and the program that made the report.
        parts: one part per link.
        unsigned: the reason why the report cannot be signed, in a few words; empty if it can be.
        wide: true if the lists need a page in landscape.
    """

    title: str
    facility: str
    facts: Sequence[Fact]
    parts: Sequence[ReportPart]
    unsigned: str = ""
    wide: bool = False

    @property
    def problems(self) -> list[str]:
        """All problems and variances of the report, as texts."""
        return [
            f"{part.link}: {fault}"
            for part in self.parts
            for fault in (*part.problems, *part.variances)
        ]
