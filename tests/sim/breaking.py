"""Deliberate defects in the running code: a simulation that does not find them proves nothing."""

import ast
import importlib
from collections.abc import Callable
from typing import Any, Final

import meters.books.claim_changes
import meters.books.store
from meters.books.script_loader import load_script
from tests.mutation.mutants import ROOT, Mutant, simulated

SCRIPT_LOADERS: Final = (meters.books.store, meters.books.claim_changes)
"""The modules that load the scripts in which defects are put."""


def break_code(name: str, put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Put a defect into the running code.

    `put` sets an attribute. With a `put` that can undo this, the code can be restored.
    """
    changes = simulated()[name]
    for file in {each.file: None for each in changes if each.file.endswith(".py")}:
        module: Any = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        for owner, function, text in _changed_functions(file, changes):
            made: dict[str, Any] = {}
            exec(compile(text, file, "exec"), vars(module), made)  # noqa: S102
            put(getattr(module, owner) if owner else module, function, made[function])

    def load(script: str) -> str:
        text = load_script(script)
        for each in changes:
            if each.file.endswith(f"/{script}.lua") or "/includes/" in each.file:
                text = text.replace(each.old, each.new)
        return text

    for loader in SCRIPT_LOADERS:
        put(loader, "load_script", load)


def _changed_functions(file: str, changes: tuple[Mutant, ...]) -> list[tuple[str, str, str]]:
    """Return the class, the name and the new text of each function that the changes are in."""
    before = after = (ROOT / file).read_text(encoding="utf-8")
    for each in changes:
        if each.file == file:
            after = each.put_into(after)
    known, found = _functions(before), _functions(after)
    return [(*place, text) for place, text in found.items() if known[place] != text]


def _functions(text: str) -> dict[tuple[str, str], str]:
    """Return the functions of a module, with their classes and names: a class or none."""
    tree = ast.parse(text)
    owners: list[tuple[str, ast.Module | ast.ClassDef]] = [("", tree)]
    owners += [(one.name, one) for one in tree.body if isinstance(one, ast.ClassDef)]
    return {
        (name, each.name): ast.unparse(each)
        for name, owner in owners
        for each in owner.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
