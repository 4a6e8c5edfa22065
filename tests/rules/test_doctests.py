"""The examples in the docstrings of the rules are correct."""

import doctest
import importlib
import pkgutil

import pytest

import bonus

MODULES = [module.name for module in pkgutil.walk_packages(bonus.__path__, "bonus.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert not failed


def test_there_are_examples() -> None:
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) >= 6
