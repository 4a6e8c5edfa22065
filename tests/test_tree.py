"""Rules of the source tree, checked by reading its files."""

import ast
import functools
import gc
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.law.law_rounds import all_cases

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = ("bonus", "meters", "controllers")
TOP_LEVEL: Final = {
    "bonus", "meters", "controllers", "deploy", "tests", "pyproject.toml", "README.md", "LICENSE",
}  # fmt: skip
CODE: Final = frozenset({".py", ".lua", ".js", ".css", ".html"})

ORDER: Final = (
    *("bonus", "bonus.hands", "bonus.law", "bonus.settling", "bonus.odds"),
    *("meters.process", "meters.wire", "meters.floor", "meters.ledger", "meters.http"),
    *("controllers.table", "controllers.agent", "controllers.panel"),
    *("controllers.demo", "controllers.games"),
    *("meters.embedded", "meters.store", "meters.archive", "meters.audit"),
    *("meters.mqtt", "meters.keys", "meters.users"),
    *("meters.selfcheck", "meters.intake", "meters.acts"),
    *("meters.reports", "meters.web", "meters.restore", "meters.service"),
    *("meters.setup", "meters.cli"),
)
"""Packages in order. Each may import those before it; the table side never imports the service."""
SHARED: Final = frozenset({"process", "wire", "floor", "http"})
"""Packages of `meters` that the table side may import."""

LEFT_UNDONE: Final = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError|for now)\b")
ELSEWHERE: Final = re.compile(r"(?<![\w.])/(tmp|work|home|root|Users)/")

SECTION: Final = re.compile(r"\b(649a|679a|682a)\.(\d+)((?:\([a-zA-Z0-9]+\))*)")
NAMED_READING: Final = re.compile(r"\breading ([GTPF]\d{1,2})\b")
COVERED_CHAPTER: Final = "649a"
PROCEDURE: Final = frozenset({"6", "8", "9", "10", "11", "12", "13"})
"""Sections of the chapter that the code implements: rankings, deal, wagers, payouts, voids."""


@functools.cache
def files() -> tuple[Path, ...]:
    """Return every file of the tree that is under version control or about to be added."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=ROOT, capture_output=True, check=True, text=True,
        ).stdout.split("\0")  # fmt: skip
        found = [ROOT / name for name in listed if name]
    else:
        found = [path for room in TOP_LEVEL for path in (ROOT / room).rglob("*")]
    return tuple(sorted(path for path in found if path.is_file()))


def of_room(*rooms: str, suffix: str = ".py") -> Iterator[Path]:
    for path in files():
        if path.relative_to(ROOT).parts[0] in rooms and path.suffix == suffix:
            yield path


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file, of which no node is garbage to look for."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.enable()


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every module that a file imports anywhere in it, with the line."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            assert node.module is not None
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"


def room_of(module: str) -> str:
    """Return the package that a module is in, at most two names deep."""
    first_two = ".".join(module.split(".")[:2])
    return first_two if first_two in ORDER else module.split(".", maxsplit=1)[0]


def may_import(room: str, module: str) -> bool:
    """Return whether a package's file may import a module: see `ORDER` and `SHARED`."""
    top, *below = module.split(".")
    if top not in {*ROOMS, "tests"}:
        return True
    imported = room_of(module)
    if room.startswith("controllers") and top == "meters":
        return bool(below) and below[0] in SHARED
    if room.startswith("meters") and top == "controllers":
        return False
    return imported in ORDER and ORDER.index(imported) <= ORDER.index(room)


def marks_in(text: str, name: str) -> frozenset[str]:
    texts = r"""(?:\s*["'][^"']*["'],?)*"""
    written = re.findall(rf"pytest\.mark\.{name}\(({texts})\s*(?:proof=True,?)?\s*\)", text)
    return frozenset(mark for each in written for mark in re.findall(r"""["']([^"']*)["']""", each))


def marks(name: str) -> frozenset[str]:
    """Return the arguments of all marks with one name, those of the law's rounds included."""
    of_law = {mark for case in all_cases() for mark in case.marks if name in {"section", "reading"}}
    texts = (path.read_text(encoding="utf-8") for path in of_room("tests"))
    return frozenset(of_law).union(*(marks_in(text, name) for text in texts))


def cited_sections() -> dict[str, list[str]]:
    """Return the subsections that docstrings and comments name, each with its places."""
    found: dict[str, list[str]] = {}
    for path in of_room(*ROOMS):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for chapter, section, rest in SECTION.findall(line):
                if chapter == COVERED_CHAPTER and section in PROCEDURE:
                    place = f"{path.relative_to(ROOT)}:{number}"
                    found.setdefault(f"{chapter}.{section}{rest}", []).append(place)
    return found


def is_carried(section: str, carried: frozenset[str]) -> bool:
    """Return whether tests cover a section: itself, a part of it, or the subsection around it.

    A mark with a whole section such as 649a.11 does not cover each of its subsections.
    """
    if any(one == section or one.startswith(f"{section}(") for one in carried):
        return True
    parts = section.split("(")
    return any("(".join(parts[:depth]) in carried for depth in range(2, len(parts)))


def test_top_level_has_the_agreed_names_and_nothing_else() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in files()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_imports_run_one_way() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in of_room(*ROOMS)
        for line, module in imports(path)
        if not may_import(room_of(".".join(path.relative_to(ROOT).parts)), module)
    ]
    assert not wrong


def test_every_room_has_its_place_in_the_order() -> None:
    """A package of packages is one room."""
    rooms = {
        ".".join(path.relative_to(ROOT).parent.parts[:2])
        for path in of_room(*ROOMS)
        if path.name != "__init__.py" or path.parent.parent != ROOT
    }
    assert rooms == set(ORDER)


@pytest.mark.parametrize(
    ("room", "module"),
    [
        ("bonus.law", "bonus.settling.settle_round"),
        ("bonus.odds", "controllers.table"),
        ("meters.store", "meters.intake.batches"),
        ("meters.cli", "controllers.agent"),
        ("controllers.table", "controllers.agent.agent"),
        ("controllers.agent", "meters.ledger.ledger_replay"),
        ("controllers.agent", "tests.servers"),
    ],
)
def test_an_import_against_the_order_is_found(room: str, module: str) -> None:
    assert not may_import(room, module)


_INDEPENDENT: Final = (
    "tests.naive.", "tests.model.", "tests.games.naive.", "tests.law.printed_tables.",
)  # fmt: skip


def test_the_second_settlement_is_independent_of_the_first() -> None:
    """It has its own tables, rankings and turns: a defect of the product cannot be in it as well.

    Only what asks the product for its settlement imports it (`tests/naive/produced.py`).
    """
    unread = ["tests.naive.settle.settle", "tests.model.second_settling.Settling"]
    read: set[Path] = set()
    while unread:
        module = unread.pop()
        assert module.startswith(_INDEPENDENT), module
        path = next(
            found
            for parts in (module.split("."), module.split(".")[:-1])
            if (found := ROOT.joinpath(*parts).with_suffix(".py")).exists()
        )
        if path not in read:
            read.add(path)
            unread += [
                name
                for _, name in imports(path)
                if name.split(".", maxsplit=1)[0] not in sys.stdlib_module_names
            ]
    names = {path.name for path in read}
    assert names >= {"settle_meters.py", "ranking.py", "tables_649a.py", "naive.py"}


def test_no_two_public_classes_share_a_name() -> None:
    found: dict[str, list[str]] = {}
    for path in of_room(*ROOMS):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_rules_have_no_clock_socket_or_chance() -> None:
    """Packages of rules are pure; only their commands read standard input."""
    forbidden = {"asyncio", "random", "secrets", "socket", "time", "datetime", "threading"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in of_room("bonus")
        for line, module in imports(path)
        if module.split(".")[0] in forbidden
    ]
    assert not wrong


def test_draws_come_from_the_secure_source() -> None:
    """In the service a random number decides money, except in the jitter of a wait."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in of_room("meters")
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "random"
        and node.attr != "uniform"
    ]
    assert not wrong


def test_nothing_is_left_undone_and_no_machine_is_named() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{text[: found.start()].count(chr(10)) + 1}: {found[0]}"
        for path in files()
        if path.suffix in CODE and path != Path(__file__).resolve()
        for text in [path.read_text(encoding="utf-8")]
        for pattern in (ELSEWHERE, LEFT_UNDONE)
        if pattern is ELSEWHERE or path.relative_to(ROOT).parts[0] != "tests"
        for found in pattern.finditer(text)
    ]
    assert not wrong


def test_every_test_checks_something() -> None:
    """Each test has an assertion or an expected error, or calls a helper that has one."""
    functions = [
        (path, node, frozenset(said_by(node)))
        for path in of_room("tests")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    checking = {"assert", "AssertionError", "raises", "fail", "timeout", "expect", "testmod"}
    known = 0
    while known < len(checking):
        known = len(checking)
        checking |= {node.name for _, node, said in functions if said & checking}
    assert not [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, node, said in functions
        if node.name.startswith("test_") and not said & checking
    ]


def said_by(function: ast.AST) -> Iterator[str]:
    """Yield the names that a function has or calls; assert for a statement, or a name like one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield "assert"
        elif isinstance(node, ast.Name) and node.id == "AssertionError":
            yield node.id
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield "assert" if name.startswith(("check_", "verify_", "run_state_machine")) else name


def test_every_section_that_the_code_cites_is_carried_by_a_test() -> None:
    carried = marks("section")
    missing = {
        section: places
        for section, places in sorted(cited_sections().items())
        if not is_carried(section, carried)
    }
    assert not missing


@pytest.mark.parametrize(
    ("section", "carried"), [("649a.12(e)(4)", "649a.12"), ("649a.1", "649a.12(e)")]
)
def test_a_section_that_no_test_carries_is_found(section: str, carried: str) -> None:
    assert not is_carried(section, frozenset({carried}))


def test_every_reading_that_the_code_cites_is_carried_by_a_test() -> None:
    carried = marks("reading")
    missing = {
        f"{path.relative_to(ROOT)}: reading {name}"
        for path in of_room(*ROOMS)
        for name in NAMED_READING.findall(path.read_text(encoding="utf-8"))
        if name not in carried
    }
    assert not missing
