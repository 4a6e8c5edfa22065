"""The contents of a report, before it is printed in a terminal or on paper."""

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
    """Make a column of numbers. They are aligned right."""
    return Column(title, weight, right=True)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A list with its title.

    `sums` is the count of last rows that are highlighted as sums. `note` is printed below the list.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sums: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportPart:
    """The part of a report about one link.

    `problems` are first, since they mean that nothing below can be trusted. Then there are
    `variances`, which the person who signs has to explain.
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
        title: the title.
        facility: the name of the facility.
        facts: the time of the report, and the program that made it.
        parts: one part per link.
        unsigned: the reason why it cannot be signed, in a word or two; empty if it can.
        wide: whether its lists need the paper's long side.
    """

    title: str
    facility: str
    facts: Sequence[Fact]
    parts: Sequence[ReportPart]
    unsigned: str = ""
    wide: bool = False

    @property
    def problems(self) -> list[str]:
        """All problems and variances, as texts."""
        return [
            f"{part.link}: {told}"
            for part in self.parts
            for told in (*part.problems, *part.variances)
        ]
