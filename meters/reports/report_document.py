"""The contents of a report, independent of its form: a terminal, or a PDF."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

Fact = tuple[str, str]
Row = tuple[str, ...]

NONE: Final = "none"
_NOTHING: Final = frozenset({"", NONE, "0%", "0.00%"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list, aligned `right` for numbers. The width `weight` is relative."""

    title: str
    weight: float
    right: bool


def columns(header: str) -> tuple[Column, ...]:
    """Return the columns of a header, which has the title and the weight of each.

    The sign ``>`` is before the title of a column of numbers.

    >>> columns("Meter 2 | >Seed 1.4")[1]
    Column(title='Seed', weight=1.4, right=True)
    """
    parts = (part.strip().rpartition(" ") for part in header.split("|"))
    return tuple(
        Column(title.removeprefix(">"), float(weight), title.startswith(">"))
        for title, _, weight in parts
    )


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A list of a report; its last `sums` rows are highlighted, and `note` is printed below."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sums: int = 0
    note: str = ""

    @property
    def only_used(self) -> "ReportSection":
        """The list without the columns in which no row has anything."""
        kept = [
            at
            for at in range(len(self.columns))
            if not self.rows or any(row[at] not in _NOTHING for row in self.rows)
        ]
        return replace(
            self,
            columns=[self.columns[at] for at in kept],
            rows=[tuple(row[at] for at in kept) for row in self.rows],
        )


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One link's part of a report.

    `problems` are printed first: with one, no figure of the part can be trusted. `variances`,
    differences between the meters and the ledger, are next: the person who signs the report must
    explain each.
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
        facts: the time of the report, and the name and version of the program that made it.
        unsigned: the reason why nobody can sign the report; empty if it can be signed.
        wide: true if the lists need pages in landscape format.
    """

    title: str
    facility: str
    facts: Sequence[Fact]
    parts: Sequence[ReportPart]
    unsigned: str = ""
    wide: bool = False

    @property
    def problems(self) -> list[str]:
        return [
            f"{part.link}: {fault}"
            for part in self.parts
            for fault in (*part.problems, *part.variances)
        ]
