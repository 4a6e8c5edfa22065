"""Machines to set up, and keys made once."""

from pathlib import Path

import pytest

from tests.keys.conftest import keys as made_keys
from tests.setup.machine import Machine

__all__ = ["made_keys"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "root")
