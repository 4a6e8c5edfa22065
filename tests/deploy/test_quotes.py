"""The pages of deploy/docs/recover/ quote the messages of the program as the program prints them.

The page run/move-table.md does too.

The convention of these pages: text in straight double quotes, and each line of a code block that
begins with "```text", is a message that pitlink prints. Commands and the messages of other programs
are code.

A comma, a semicolon or a colon before a space divides a message into clauses. Each clause of a
quote is a whole clause of one string in the code. A placeholder of an f-string may be any text, but
at least half of the words of the clause are in the string itself. Only words with small letters
count, because numbers and names are examples. "…" is the place of a text that the page leaves out.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import DOCS, ROOT
from tests.test_tree import files
from tests.test_tree import nodes as nodes_of

QUOTING: Final = (*sorted((DOCS / "recover").glob("*.md")), DOCS / "run" / "move-table.md")

_CODE: Final = re.compile(r"^ *```.*?^ *```|`[^`]+`", re.DOTALL | re.MULTILINE)
_OUTPUT: Final = re.compile(r"^ *```text\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_QUOTE: Final = re.compile(r'"([^"]+)"')
_CLAUSE_END: Final = re.compile(r"[,;:] ")
_WORD: Final = re.compile(r"(?<!\S)[A-Za-z']*[a-z][A-Za-z']*(?!\S)")
_FILLED: Final = "\0"


def quotes(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for block in _OUTPUT.findall(text):
        yield from block.splitlines()
    for found in _QUOTE.findall(_CODE.sub("", text)):
        yield " ".join(found.split())


def clauses(message: str) -> Iterator[str]:
    """Yield the clauses of a message, without those that a page leaves out."""
    for clause in _CLAUSE_END.split(message):
        if clause.strip() not in {"", "…"}:
            yield clause.strip()


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a module, apart from docstrings. A placeholder is the character 0."""
    nodes = nodes_of(path)
    joined = [node.values for node in nodes if isinstance(node, ast.JoinedStr)]
    others = {id(part) for values in joined for part in values}
    others |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for values in joined:
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else _FILLED for part in values
        )
    for node in nodes:
        if not isinstance(node, ast.Constant) or id(node) in others:
            continue
        if isinstance(node.value, str):
            yield node.value


@functools.cache
def patterns() -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each clause of the program's strings; the groups are placeholders."""
    found = {
        clause
        for path in files()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in {"meters", "controllers"}
        for text in strings(path)
        for clause in clauses(text)
    }
    return tuple(re.compile("(.+?)".join(map(re.escape, each.split(_FILLED)))) for each in found)


def is_printed(clause: str) -> bool:
    words = len(_WORD.findall(clause))
    for pattern in patterns():
        if found := pattern.fullmatch(clause):
            filled = sum(len(_WORD.findall(text)) for text in found.groups())
            if 2 * filled <= words:
                return True
    return False


def wrong_quotes(page: Path) -> list[str]:
    return [each for quote in quotes(page) for each in clauses(quote) if not is_printed(each)]


@pytest.mark.parametrize("page", QUOTING, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_quote_is_printed_by_the_program(page: Path) -> None:
    assert wrong_quotes(page) == []


def test_quotes_are_found() -> None:
    found = {page.name: [*quotes(page)] for page in QUOTING}
    assert "entry 6 is not the one that was seen" in found["faults.md"]
    assert "  TCP-02: no outbox was found; the ledger has its events up to 377" in [
        line.removeprefix("    ") for line in found["restore.md"]
    ]


def test_wrong_quotes_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        'It says "Redis holds 9 ledger entries and has held 10", `"code"` or\n'
        '"Redis keeps 9 ledger entries and has held 10".\n\n'
        "```text\n  TCP-01: no outbox was seen; the ledger has its events up to 377\n```\n"
    )
    assert wrong_quotes(page) == [
        "no outbox was seen",
        "Redis keeps 9 ledger entries and has held 10",
    ]
