"""`pitlink upgrade`, `pitlink check` and a running service on another release's store."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import redis.asyncio

from meters.books.schema import SCHEMA
from meters.books.store import LinkStore
from meters.floor.floor_file import read_floor
from tests.mqtt.events import result, wagers
from tests.mqtt.stand import Stand
from tests.servers import eventually, run_pitlink
from tests.stored_tables import make_earlier

pytestmark = [pytest.mark.slow, pytest.mark.duty("D10")]

LINK, HEAD = "pitlink:{main}:meters", "pitlink:{@people}:log-head"


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with Stand(tmp_path) as stand:
        yield stand


def pitlink(stand: Stand, *command: str, stdin: str = "") -> tuple[int, str]:
    done = run_pitlink(*command, "--config", str(stand.service.config), stdin=stdin)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


async def _make_first(stand: Stand) -> None:
    """Give the link `main` the layout of the first releases."""
    floor = read_floor(stand.service.config)
    (link,) = [link for link in floor.link if link.id == "main"]
    async with redis.asyncio.Redis(unix_socket_path=str(stand.redis.socket_path)) as client:
        await make_earlier(LinkStore(client, link), 1)


def main_is(stand: Stand, why: str) -> None:
    """Wait until the service reports why its link `main` is inoperable, or that it operates."""

    def says_so() -> bool:
        readiness = stand.service.readiness()
        said = readiness["links"].get("main", "")
        return why in said if why else readiness["ready"]

    eventually(says_so, what=f"main: {why or 'operable'}")


def test_a_store_of_the_first_releases_is_upgraded_once(stand: Stand) -> None:
    """The command shows it, asks, and records it in the ledger. Repeated, it does nothing."""
    table = stand.table()
    table.accept(wagers(1))
    with redis.Redis(unix_socket_path=str(stand.redis.socket_path)) as store:
        asyncio.run(_make_first(stand))
        store.hdel(HEAD, "schema")
        main_is(stand, "of schema version 1")
        status, said = pitlink(stand, "check")
        assert status == 1
        assert "FAIL  schema of main: it is of schema version 1" in said
        assert "FAIL  schema of the people: it is of schema version 1" in said
        assert f"ok    schema of other: version {SCHEMA}" in said

        before = len(stand.ledger("main"))
        status, said = pitlink(stand, "upgrade", stdin="n\n")
        assert (status, store.hget(LINK, "schema")) == (1, None)
        assert "link main: of version 1; from version 1 to 2: its" in said
        assert "; from version 2 to 3: each table" in said
        assert "; from version 3 to 4: Redis needs less time" in said
        assert f"link other: of version {SCHEMA}, nothing to do" in said
        assert len(stand.ledger("main")) == before

        status, said = pitlink(stand, "upgrade", "--yes")
        assert status == 0, said
        assert f"people: is of version {SCHEMA} now" in said
        assert store.hget(HEAD, "schema") == str(SCHEMA).encode()
        main_is(stand, "")
        table.accept(result(2))
        status, said = pitlink(stand, "upgrade")
        assert status == 0, said
        assert said.count("nothing to do") == 3
        upgrades = [entry for entry in stand.ledger("main") if entry["kind"] == "upgrade"]
        assert [entry["by"] for entry in upgrades] == ["pitlink"] * (SCHEMA - 1)
        assert stand.service.audit()["balanced"]

        store.hset(LINK, "schema", SCHEMA + 1)
        main_is(stand, "a later release wrote it")
        status, said = pitlink(stand, "upgrade", "--yes")
        assert status == 1
        assert "a later release wrote it" in said
        assert store.hget(LINK, "schema") == str(SCHEMA + 1).encode()
