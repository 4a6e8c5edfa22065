"""The examples in docstrings: each gives what it says."""

import doctest
import importlib

import pytest

from tests.test_tree import ROOMS, ROOT, of_room

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in of_room(*ROOMS)
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_hold(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed
