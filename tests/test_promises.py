"""The page of the promises says which run of `deploy/test` proves each of them."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

from tests.test_tree import ROOT, nodes, parsed

PAGE: Final = ROOT / "deploy" / "docs" / "compliance" / "promises.md"
_ROW: Final = re.compile(
    r"^\| (?!promise )(?P<promise>[^|]+) \| (?P<proof>[^|]+) \| (?P<run>[^|]+) \|$", re.MULTILINE
)
_PATH: Final = re.compile(r"`(tests/[a-z0-9_/.]+)`")


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


def _run(proof: str) -> str:
    paths = [ROOT / path for path in _PATH.findall(proof)]
    if paths and all("system" in path.parts for path in paths):
        return "`--system`"
    files = [
        each for path in paths for each in ([path] if path.is_file() else path.rglob("test_*.py"))
    ]
    slow = frozenset[bool]().union(*map(_slow, files))
    return {
        frozenset({False}): "each commit",
        frozenset({False, True}): "each commit, more by `--all`",
        frozenset({True}): "`--all`",
        frozenset(): "named there",
    }[slow]


def test_each_promise_names_the_run_that_proves_it() -> None:
    rows = [row.groupdict() for row in _ROW.finditer(PAGE.read_text())]
    assert len(rows) > 40
    assert [row for row in rows if row["run"] != _run(row["proof"])] == []
