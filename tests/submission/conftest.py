"""The submissions of two floors. They are written once for all tests that read them."""

from pathlib import Path

import pytest

from tests.odds.conftest import counts_directory
from tests.submission.filings import Commands, Filing
from tests.submission.floors import SHIPPED, house_floor

__all__ = ["commands", "counts_directory", "house", "shipped"]


@pytest.fixture(scope="session")
def commands(counts_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    cache = tmp_path_factory.mktemp("cache")
    counts_directory.mkdir(parents=True, exist_ok=True)
    (cache / "pitlink").symlink_to(counts_directory)
    return Commands(cache)


@pytest.fixture(scope="session")
def house(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Filing:
    home = tmp_path_factory.mktemp("house")
    return commands.submit(house_floor(home), home / "filing")


@pytest.fixture(scope="session")
def shipped(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Filing:
    return commands.submit(SHIPPED, tmp_path_factory.mktemp("shipped") / "filing")
