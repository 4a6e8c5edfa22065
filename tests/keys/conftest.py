import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.keys.floor import make_keys, write_floor
from tests.keys.machines import Floor
from tests.keys.servers import SecuredMosquitto, SecuredRedis


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of keys of the floor: read it, and change only a copy."""
    home = tmp_path_factory.mktemp("keys")
    make_keys(write_floor(home / "floor.toml"), home / "keys")
    return home / "keys"


@pytest.fixture
def mine(keys: Path, tmp_path: Path) -> Path:
    return shutil.copytree(keys, tmp_path / "keys")


@pytest.fixture(scope="module")
def broker(keys: Path) -> Iterator[SecuredMosquitto]:
    with SecuredMosquitto(keys) as server:
        yield server


@pytest.fixture(scope="module")
def store(keys: Path) -> Iterator[SecuredRedis]:
    with SecuredRedis(keys) as server:
        yield server


@pytest.fixture
def floor(tmp_path: Path, mine: Path, broker: SecuredMosquitto, store: SecuredRedis) -> Floor:
    return Floor(tmp_path, mine, broker, store.url)
