"""The stand that the tests of this room share: one a worker and file, a table of its own a test."""

from collections.abc import Iterator

import pytest

from tests.mqtt.stand import Asker, Stand


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """Real parts and a service, for all tests of a file that run in one worker."""
    with Stand(tmp_path_factory.mktemp("stand")) as stand:
        yield stand


@pytest.fixture
def table(stand: Stand) -> Asker:
    """A table that no other test uses."""
    return stand.table()
