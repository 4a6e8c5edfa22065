"""A whole floor over TLS with generated keys: service, tables, and every command."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.chaos.devices import Devices
from tests.keys.floor import METERS, write_floor
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.stand import Service
from tests.servers import eventually, free_port, run_pitlink

SHARED: Final = {"event-group", "log-secrets"}
"""Settings that all services have in common."""


@dataclass(frozen=True, slots=True)
class Pit:
    """A running floor: its floor file, its service, and the directory with everything."""

    home: Path
    config: Path
    service: Service
    broker: SecuredMosquitto
    store: SecuredRedis

    def table_floor(self, keys: Path, table: str, *, password: bool) -> Path:
        """Return the floor file of a table's own machine, which has only its bundle of the keys."""
        home = self.home / f"machine-{table}"
        bundle = home / "keys" / "tables" / f"main.{table}"
        shutil.copytree(keys / "tables" / f"main.{table}", bundle)
        (bundle / ("table.key" if password else "password")).unlink()
        if password:
            (bundle / "table.crt").unlink()
        return write_floor(
            home / "floor.toml",
            broker=self.broker.password_url if password else self.broker.url,
            data=home / "data",
            keys=Path("keys"),
        )


@pytest.fixture(scope="module")
def pit(
    tmp_path_factory: pytest.TempPathFactory,
    keys: Path,
    broker: SecuredMosquitto,
    store: SecuredRedis,
) -> Iterator[Pit]:
    home = tmp_path_factory.mktemp("pit")
    for part in ("services", "check"):
        shutil.copytree(keys / part, home / "keys" / part)
    port = free_port()
    config = write_floor(
        home / "floor.toml", broker=broker.url, redis=store.url, http=port, keys=Path("keys")
    )
    service = Service(config, port)
    try:
        service.start()
        eventually(lambda: len(service.meters()) == METERS, what="all meters known")
        yield Pit(home, config, service, broker, store)
    finally:
        service.close()


@pytest.mark.duty("D20")
@pytest.mark.parametrize(
    ("table", "password"), [("A-1", False), ("A-2", True)], ids=["certificate", "password"]
)
def test_a_round_is_played(pit: Pit, keys: Path, table: str, *, password: bool) -> None:
    """From the wager to the settled round, with nothing on the table's machine but its bundle."""
    config = pit.table_floor(keys, table, password=password)
    before = pit.service.meter("main", "progressive")["version"]
    with Devices(config, table) as devices:
        assert devices.wager(3)["light"] is True
        assert devices.ask("lockout")["ok"]
        played = devices.play_out()
        assert played["ok"], played
        devices.close_input()
        assert devices.wait() == 0
    eventually(
        lambda: pit.service.meter("main", "progressive")["version"] > before, what="the meter rises"
    )


@pytest.mark.slow
def test_every_command_works(pit: Pit) -> None:
    """`check` reads Redis's settings, the audit reads the books, and users are stored."""
    path = str(pit.config)
    added = run_pitlink("user", "add", "Ada", "--role", "auditor", "--config", path, stdin="730482")
    assert (added.returncode, added.stderr) == (0, "")
    listed = run_pitlink("user", "list", "--json", "--config", path)
    assert "Ada" in listed.stdout
    given = {"name": "Ada", "pin": "730482"}
    signed_in = httpx.post(f"{pit.service.url}/api/v1/sign-in", json=given, timeout=30)
    assert signed_in.is_success, signed_in.text
    audit = run_pitlink("audit", "--json", "--config", path)
    assert (audit.returncode, json.loads(audit.stdout)["balanced"]) == (0, True)
    check = run_pitlink("check", "--config", path)
    assert check.returncode == 0, check.stdout
    parts = ("ok    keys: ", "ok    redis: ", "ok    users at redis: ", "ok    operators' log: ")
    for line in (*parts, f"answers at localhost:{pit.broker.port}"):
        assert line in check.stdout
    status = run_pitlink("status", "--once", "--prometheus", "none", "--config", path)
    for line in ("ok    keys: ", "ok    redis: ", f"answers at localhost:{pit.broker.port}"):
        assert line in status.stdout, status.stdout
    eventually(pit.service.ready, what="the service ready still")


@pytest.mark.slow
def test_a_second_worker_needs_a_key_of_its_own(pit: Pit) -> None:
    """Two services of one name would disconnect each other from the broker forever."""
    done = run_pitlink("serve", "--config", str(pit.config))
    assert done.returncode == 1
    assert "pitlink keys --services N" in done.stderr
    eventually(pit.service.ready, what="the service ready still")


@pytest.mark.duty("D11")
def test_the_service_comes_back_when_the_broker_does(pit: Pit) -> None:
    """It reconnects over TLS too."""
    pit.broker.kill()
    eventually(lambda: not pit.service.ready(), what="the service without a broker")
    pit.broker.start()
    eventually(pit.service.ready, what="the service ready again")


def test_nothing_of_the_keys_is_shown(pit: Pit, keys: Path) -> None:
    """No log and no page contains a password or a private key."""
    secrets = [
        path
        for path in keys.rglob("*")
        if path.suffix == ".key" or "password" in path.name or path.name in SHARED
    ]
    output = (
        pit.service.process.errors + pit.service.process.output + pit.broker.log + pit.store.log
    )
    with httpx.Client(base_url=pit.service.url, timeout=30) as web:
        for place in ("/healthz", "/readyz", "/metrics", "/api/v1/meters", "/signage"):
            output += web.get(place).text
    assert len(secrets) > 12
    assert "broker connected" in output
    for path in secrets:
        lines = [line for line in path.read_text().splitlines() if "-----" not in line]
        assert lines
        assert not [line for line in lines if line in output], path
