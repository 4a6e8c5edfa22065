from pathlib import Path

import pytest

from tests.keys.conftest import keys as made_keys
from tests.setup.machine import ANSWERS, Machine

__all__ = ["made_keys"]


@pytest.fixture(scope="session")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a machine after its first setup: read it, and change only a copy."""
    machine = Machine(tmp_path_factory.mktemp("machine") / "root")
    done = machine.setup(*ANSWERS)
    assert (done.returncode, done.stderr) == (0, "")
    return machine


@pytest.fixture
def installed(tmp_path: Path, set_up: Machine) -> Machine:
    return Machine(tmp_path / "installed", set_up)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "root")
