"""Counts that all tests of the odds share, however many processes they run in."""

from pathlib import Path

import pytest

from bonus.odds.enumerations import Enumerator
from meters.selfcheck.odds_counting import CountCache


@pytest.fixture(scope="session")
def counts_directory(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "counts"


@pytest.fixture(scope="session")
def counted(counts_directory: Path) -> Enumerator:
    def complain(message: str) -> None:
        raise AssertionError(message)

    return Enumerator(CountCache(counts_directory, complain))
