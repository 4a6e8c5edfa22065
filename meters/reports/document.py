"""A report as what it says, before it is printed in a terminal or on paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Fact = tuple[str, str]
Row = tuple[str, ...]

NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list; `weight` is its part of the paper's width."""

    title: str
    weight: float = 1.0
    right: bool = False


def numbers(title: str, weight: float = 1.0) -> Column:
    """A column of numbers, which stand at its right."""
    return Column(title, weight, right=True)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A list with its title.

    `sums` are the last rows, so many of them, which stand out; `note` is said below.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sums: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportPart:
    """What a report says of one link.

    `problems` come first, since nothing below may be trusted; then `variances`, which whoever signs
    has to explain.
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
        title: what it is.
        facility: whose.
        facts: of when, and of what made it.
        parts: link by link.
        unsigned: why it cannot be signed, in a word or two; empty where it can.
        wide: its lists need the paper's long side.
    """

    title: str
    facility: str
    facts: Sequence[Fact]
    parts: Sequence[ReportPart]
    unsigned: str = ""
    wide: bool = False

    @property
    def problems(self) -> list[str]:
        """What does not hold, and what was read otherwise, in words."""
        return [
            f"{part.link}: {told}"
            for part in self.parts
            for told in (*part.problems, *part.variances)
        ]
