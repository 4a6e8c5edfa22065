"""The examples in the docstrings of the rules are correct."""

import doctest
import importlib
import pkgutil

import bonus


def test_the_examples_hold() -> None:
    """A failure prints its example."""
    names = [module.name for module in pkgutil.walk_packages(bonus.__path__, "bonus.")]
    found = {name: doctest.testmod(importlib.import_module(name)) for name in names}
    assert [name for name, (failed, _) in found.items() if failed] == []
    assert sum(each.attempted for each in found.values()) >= 6
