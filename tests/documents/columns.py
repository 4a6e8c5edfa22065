"""Columns of a table by hand that the tests state: what proves each row, and when it runs.

The last column of the tables between ``<!-- last column from the program: NAME -->`` and
``<!-- end -->`` is such a column. The test of the page writes it anew.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.law.law_table import subsections
from tests.proofs import proof_cell, proofs
from tests.test_tree import ROOT, nodes, parsed

COLUMN: Final = re.compile(
    r"(?<=<!-- last column from the program: )(?P<name>[a-z-]+) -->\n.*?(?=<!-- end -->)", re.DOTALL
)
_ROWS: Final = re.compile(r"(?<=-\|\n)(?:\|.*\n)+")
_PATH: Final = re.compile(r"`(tests/[a-z0-9_/.]+)`")


def with_columns(page: str) -> str:
    """Return a page with the columns that the tests state now."""
    return COLUMN.sub(_with_column, page)


def _with_column(part: re.Match[str]) -> str:
    column = COLUMNS[part["name"]]
    return _ROWS.sub(
        lambda rows: "".join(_row(line, column) for line in rows[0].splitlines()), part[0]
    )


def _row(line: str, column: Callable[[Sequence[str]], str]) -> str:
    cells = [cell.strip() for cell in line.split("|")[1:-2]]
    return f"| {' | '.join([*cells, column(cells)])} |\n"


def _runs(cells: Sequence[str]) -> str:
    """Return which run of `deploy/test` has the tests that a promise names."""
    paths = [ROOT / path for path in _PATH.findall(cells[1])]
    files = [
        each for path in paths for each in ([path] if path.is_file() else path.rglob("test_*.py"))
    ]
    assert bool(files) == bool(paths), cells
    if files and all("system" in path.parts for path in paths):
        return "`--system`"
    slow = frozenset[bool]().union(*map(_slow, files))
    return {
        frozenset({False}): "each commit",
        frozenset({False, True}): "each commit, more by `--all`",
        frozenset({True}): "`--all`",
        frozenset(): "as that page says",
    }[slow]


@cache
def _slow(file: Path) -> frozenset[bool]:
    """Return whether a file has slow tests, and whether it has others."""
    tree = parsed(file)
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    whole = any(one.startswith("pytestmark") and "mark.slow" in one for one in marks)
    return frozenset(
        whole or "pytest.mark.slow" in [ast.unparse(one) for one in node.decorator_list]
        for node in nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


COLUMNS: Final[Mapping[str, Callable[[Sequence[str]], str]]] = {
    "duty-proofs": lambda cells: proof_cell([cells[0]]),
    "law-proofs": lambda cells: proof_cell(subsections(cells[0])),
    "promise-runs": _runs,
    "reading-proofs": lambda cells: proof_cell(row for row in cells[:1] if row in proofs()),
}
