"""A whole floor over TLS with generated keys: service, tables, and every command."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.chaos.devices import PLAYED_OUT, Devices
from tests.keys.floor import write_floor
from tests.keys.machines import running, service_at
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.stand import Service
from tests.servers import eventually, run_pitlink
from tests.staff import Colleague, hire

SHARED: Final = {"event-group", "log-secrets", "hidden-value-secrets"}


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory,
    keys: Path,
    broker: SecuredMosquitto,
    store: SecuredRedis,
) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("pit")
    for part in ("services", "check"):
        shutil.copytree(keys / part, home / "keys" / part)
    with running(service_at(home, broker, store.url)) as service:
        yield service


@pytest.mark.duty("D20")
@pytest.mark.parametrize(
    ("table", "password"), [("A-1", False), ("A-2", True)], ids=["certificate", "password"]
)
def test_a_round_is_played(
    service: Service,
    broker: SecuredMosquitto,
    keys: Path,
    tmp_path: Path,
    table: str,
    *,
    password: bool,
) -> None:
    """From the wager to the settled round, with nothing on the table's machine but its bundle."""
    bundle = tmp_path / "keys" / "tables" / f"main.{table}"
    shutil.copytree(keys / "tables" / f"main.{table}", bundle)
    for name in ("table.crt", "table.key") if password else ("password",):
        (bundle / name).unlink()
    url = broker.password_url if password else broker.url
    config = write_floor(tmp_path / "floor.toml", broker=url, keys=Path("keys"))
    before = service.meter("main", "progressive")["version"]
    with Devices(config, table) as devices:
        assert devices.wager(3)["light"] is True
        devices.play(f"lockout; {PLAYED_OUT}")
        devices.close_input()
        assert devices.wait() == 0
    eventually(
        lambda: service.meter("main", "progressive")["version"] > before, what="the meter rises"
    )


@pytest.mark.slow
def test_every_command_works(service: Service, broker: SecuredMosquitto) -> None:
    """`check` reads Redis's settings, the audit reads the books, and users are stored."""
    path = str(service.config)
    hire(service.config, "Ada", "auditor")
    listed = run_pitlink("user", "list", "--json", "--config", path)
    assert "Ada" in listed.stdout
    Colleague(service.url, "Ada")
    audit = run_pitlink("audit", "--json", "--config", path)
    assert (audit.returncode, json.loads(audit.stdout)["balanced"]) == (0, True)
    check = run_pitlink("check", "--config", path)
    assert check.returncode == 0, check.stdout
    parts = ("ok    keys: ", "ok    redis: ", "ok    users at redis: ", "ok    operators' log: ")
    for line in (*parts, f"answers at localhost:{broker.port}"):
        assert line in check.stdout
    status = run_pitlink("status", "--once", "--prometheus", "none", "--config", path)
    for line in ("ok    keys: ", "ok    redis: ", f"answers at localhost:{broker.port}"):
        assert line in status.stdout, status.stdout
    second = run_pitlink("serve", "--config", path)
    assert (second.returncode, "pitlink keys --services N" in second.stderr) == (1, True)
    eventually(service.ready, what="the service ready still")


@pytest.mark.duty("D11")
def test_the_service_comes_back_when_the_broker_does(
    service: Service, broker: SecuredMosquitto
) -> None:
    """It reconnects over TLS too."""
    broker.kill()
    eventually(lambda: not service.ready(), what="the service without a broker")
    broker.start()
    eventually(service.ready, what="the service ready again")


def test_nothing_of_the_keys_is_shown(
    service: Service, broker: SecuredMosquitto, store: SecuredRedis, keys: Path
) -> None:
    """No log and no page contains a password or a private key."""
    secrets = [
        path
        for path in keys.rglob("*")
        if path.suffix == ".key" or "password" in path.name or path.name in SHARED
    ]
    output = service.process.errors + service.process.output + broker.log + store.log
    with httpx.Client(base_url=service.url, timeout=30) as web:
        for place in ("/healthz", "/readyz", "/metrics", "/api/v1/meters", "/signage"):
            output += web.get(place).text
    assert len(secrets) > 12
    assert "broker connected" in output
    for path in secrets:
        lines = [line for line in path.read_text().splitlines() if "-----" not in line]
        assert lines
        assert not [line for line in lines if line in output], path
