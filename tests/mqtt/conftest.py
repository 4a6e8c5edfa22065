"""Fixtures of this package: servers for each worker and file, one table for each test."""

import socket
from collections.abc import Iterator

import pytest

from tests.mqtt.stand import Asker, Stand
from tests.waiting import LONG_S


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """Yield real servers and a service, for all tests of a file that run in one worker."""
    with Stand(tmp_path_factory.mktemp("stand")) as stand:
        yield stand


@pytest.fixture
def table(stand: Stand) -> Asker:
    return stand.table()


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Yield a broker that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LONG_S)
        yield server
