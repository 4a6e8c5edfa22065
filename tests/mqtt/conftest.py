import socket
from collections.abc import Iterator

import pytest

from tests.mqtt.stand import Asker, Stand
from tests.waiting import LONG_S


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with Stand(tmp_path_factory.mktemp("stand")) as stand:
        yield stand


@pytest.fixture(scope="package")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """Yield servers whose Five Card Hand Bonus draws in every round, for all files of a worker."""
    draws = {"magic_card_every": 1, "lucky_every": 1}
    with Stand(tmp_path_factory.mktemp("drawing"), draws=draws) as stand:
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
