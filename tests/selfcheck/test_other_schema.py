"""`pitlink check`, other commands and a running service on another release's store."""

from pathlib import Path

import pytest
import redis

from meters.ledger.redis_layout import SCHEMA
from tests.mqtt.events import result, wagers
from tests.mqtt.stand import Stand
from tests.servers import eventually, run_pitlink

pytestmark = [pytest.mark.slow, pytest.mark.duty("D10")]

COMMANDS = ("audit", "archive", "approve --by A", "restore --by A --yes --services-stopped")
LINK, HEAD = "pitlink:{main}:meters", "pitlink:{@people}:log-head"


def pitlink(stand: Stand, *command: str) -> tuple[int, str]:
    done = run_pitlink(*command, "--config", str(stand.service.config))
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def main_is(stand: Stand, why: str) -> None:
    """Wait until the service reports why its link `main` is inoperable, or that it operates."""

    def says_so() -> bool:
        readiness = stand.service.readiness()
        said = readiness["links"].get("main", "")
        return why in said if why else readiness["ready"]

    eventually(says_so, what=f"main: {why or 'operable'}")


def refuse(stand: Stand, *checks: str, why: str) -> None:
    """Check that `check` reports the failed checks, and that other commands say why."""
    status, said = pitlink(stand, "check")
    assert (status, [check for check in checks if check not in said]) == (1, []), said
    for command in COMMANDS:
        status, said = pitlink(stand, *command.split())
        assert (status, why in said) == (1, True), said


def test_a_store_of_another_release_is_refused_and_not_changed(tmp_path: Path) -> None:
    """This is also the case if it has no schema version. The link operates again afterwards."""
    with (
        Stand(tmp_path) as stand,
        redis.Redis(unix_socket_path=str(stand.redis.socket_path)) as store,
    ):
        table = stand.table()
        table.accept(wagers(1))
        before = len(stand.ledger("main"))
        store.hset(LINK, "schema", SCHEMA - 1)
        store.hset(HEAD, "schema", SCHEMA + 1)
        other = f"of schema version {SCHEMA - 1}"
        main_is(stand, other)
        refuse(
            stand,
            f"FAIL schema of main: it is {other}",
            f"FAIL schema of the users: it is of schema version {SCHEMA + 1}",
            f"ok schema of other: version {SCHEMA}",
            why="another release wrote it",
        )

        store.hdel(LINK, "schema")
        store.hdel(HEAD, "schema")
        missing = "its schema version is missing or damaged"
        main_is(stand, missing)
        refuse(
            stand,
            f"FAIL schema of main: {missing}",
            "FAIL schema of the users: the data of the users",
            why=missing,
        )

        assert len(stand.ledger("main")) == before
        store.hset(LINK, "schema", SCHEMA)
        store.hset(HEAD, "schema", SCHEMA)
        main_is(stand, "")
        table.accept(result(2))
        assert stand.service.audit()["balanced"]
