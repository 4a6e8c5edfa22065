"""Mutants: small defects of the product, each with the rows of law.md or duties.md it breaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from tests.law.law_table import LAW, ROOT, read_law
from tests.test_duties import rows as duty_rows

FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.toml")))


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A defect: in `file`, the text `old`, which occurs there once, becomes `new`.

    `rows` are the subsections or duties that the defect breaks. For each of them, a test that its
    row names must find the defect.
    """

    rows: tuple[str, ...]
    file: str
    old: str
    new: str

    def applied(self, root: Path) -> str:
        """Return the text of the file with the defect.

        Raises:
            ValueError: the old text does not occur once.
        """
        text = (root / self.file).read_text(encoding="utf-8")
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {times} times, not once")
        return text.replace(self.old, self.new)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Mutant, ...]


@cache
def mutants() -> tuple[Mutant, ...]:
    """Return all mutants."""
    return tuple(
        mutant
        for path in FILES
        for mutant in msgspec.toml.decode(path.read_bytes(), type=_File).mutant
    )


@cache
def named_tests() -> Mapping[str, tuple[str, ...]]:
    """Return the tests that each row of law.md and duties.md names."""
    law = read_law(LAW.read_text(encoding="utf-8")).rows
    named = {row.subsection: row.carried_by for row in law} | duty_rows()
    return {row: tuple(f"{file}::{test}" for file, test in tests) for row, tests in named.items()}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the tests of its rows found of a mutant; `broken` says why they could not run, if so.

    `quick` is true if the tests that run at each commit found it for every row.
    """

    mutant: Mutant
    found_by: Mapping[str, frozenset[str]]
    broken: str = ""
    quick: bool = True

    @property
    def survived(self) -> tuple[str, ...]:
        """The rows whose tests all passed."""
        return tuple(row for row in self.mutant.rows if not self.found_by.get(row))


__all__ = ["FILES", "ROOT", "Mutant", "Verdict", "mutants", "named_tests"]
