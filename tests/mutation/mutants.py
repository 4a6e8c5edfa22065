"""Mutants: small defects of the product, each with the rows of law.md or duties.md it breaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from tests.law.law_table import LAW, read_law
from tests.proofs import proofs
from tests.test_duties import DUTIES

_HERE: Final = Path(__file__).parent
ROOT: Final = _HERE.parents[1]
FILES: Final = (*sorted(_HERE.glob("law_*.toml")), _HERE / "duties.toml", _HERE / "simulation.toml")


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A defect: in `file`, the text `old`, which occurs there once, becomes `new`.

    `rows` are the subsections or duties that the defect breaks. For each of them, one of the tests
    that prove it must find the defect. A row can also be a test itself.
    """

    file: str
    old: str
    new: str
    rows: tuple[str, ...]

    def applied(self, root: Path) -> str:
        return self.put_into((root / self.file).read_text(encoding="utf-8"))

    def put_into(self, text: str) -> str:
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {times} times, not once")
        return text.replace(self.old, self.new)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Mutant, ...]


@cache
def mutants() -> tuple[Mutant, ...]:
    read = (msgspec.toml.decode(path.read_bytes(), type=_File) for path in FILES)
    return tuple(mutant for file in read for mutant in file.mutant)


@cache
def named_tests() -> Mapping[str, tuple[str, ...]]:
    """Return the tests that prove each row, as pytest names them."""
    law = read_law(LAW.read_text(encoding="utf-8")).in_rows
    return {row: tuple(test for _, test in proofs()[row]) for row in [*law, *DUTIES]}


def tests_of(row: str) -> tuple[str, ...]:
    """Return the tests that prove a row of law.md or duties.md; a row may be a test itself."""
    return named_tests().get(row, (row,))


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
        return tuple(row for row in self.mutant.rows if not self.found_by.get(row))
