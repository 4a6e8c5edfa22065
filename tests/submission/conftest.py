"""The submissions of two floors. They are written once for all tests that read them."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.odds.conftest import counts_directory
from tests.submission.filings import Commands, Filing
from tests.submission.floors import SHIPPED, house_floor

__all__ = ["commands", "counts_directory", "filing", "house", "shipped"]


@pytest.fixture(scope="session")
def commands(counts_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    cache = tmp_path_factory.mktemp("cache")
    counts_directory.mkdir(parents=True, exist_ok=True)
    (cache / "pitlink").symlink_to(counts_directory)
    return Commands(cache)


@pytest.fixture(scope="session")
def house(commands: Commands, counts_directory: Path) -> Filing:
    home = counts_directory.parent / "house"
    return _once(home, lambda: commands.submit(house_floor(home / "floor"), home / "filing"))


@pytest.fixture(scope="session")
def shipped(commands: Commands, counts_directory: Path) -> Filing:
    home = counts_directory.parent / "shipped"
    return _once(home, lambda: commands.submit(SHIPPED, home / "filing"))


@pytest.fixture
def filing(request: pytest.FixtureRequest) -> Filing:
    found: Filing = request.getfixturevalue(request.param)
    return found


def _once(home: Path, submit: Callable[[], Filing]) -> Filing:
    """Submit in the first process of a test run; the others wait for it, and read the same."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = home / "done"
        if not done.exists():
            done.write_text(str(submit().config))
    return Filing(Path(done.read_text()), home / "filing")
