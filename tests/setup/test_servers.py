"""The files of `pitlink setup` as they are: real servers start with them, and the check passes."""

import contextlib
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import DEPLOY
from tests.mqtt.stand import Service
from tests.selfcheck.installed import build_wheel
from tests.servers import eventually, free_port, run_pitlink
from tests.setup.machine import Machine
from tests.setup.written_server import WrittenServer
from tests.staff import hire
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow

PIECES: Final = (
    "floor-tls.toml", "mosquitto.conf", "redis.conf", "Caddyfile", "prometheus/alerts.yml",
    "prometheus/prometheus.yml", "prometheus/services.yml", "prometheus/tables.yml",
    "redis/cluster.conf", "redis/replicated.conf", "redis/sentinel.conf",
)  # fmt: skip


@pytest.mark.duty("D20")
def test_a_floor_runs_with_the_written_files_and_its_check_is_in_order(installed: Machine) -> None:
    """Two services start with their own bundles. An administrator is added over TLS."""
    with (
        WrittenServer("redis-server", installed.path("etc/redis/redis.conf"), 6379) as store,
        WrittenServer(
            "mosquitto", installed.path("etc/mosquitto/mosquitto.conf"), 8883, 8884
        ) as broker,
    ):
        config = installed.path("etc/pitlink/floor.toml")
        text = config.read_text()
        for old, new in (
            ("/etc/pitlink/keys", str(installed.path("etc/pitlink/keys"))),
            ("/var/lib/pitlink", str(installed.path("var/lib/pitlink"))),
            ("localhost:6379", f"localhost:{store.ports[0]}"),
            ("localhost:8883", f"localhost:{broker.ports[0]}"),
        ):
            assert old in text
            text = text.replace(old, new)
        config.write_text(text)
        ports = [free_port(), free_port()]
        services = [Service(config, port, "--http", f"127.0.0.1:{port}") for port in ports]
        with contextlib.ExitStack() as running:
            for service in services:
                running.callback(service.close)
                service.start()
            for service in services:
                eventually(service.ready, within_s=LONG_S, what="both services ready")
            hire(config, "Ada Lane", "administrator")
            checked = run_pitlink("check", "--config", str(config))
        assert checked.returncode == 0, checked.stdout
        assert "FAIL" not in checked.stdout
        for line in ("ok    redis: keeps every write", "ok    broker: answers", "ok    keys: "):
            assert line in checked.stdout


def test_the_wheel_has_the_files_of_deploy(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        home = "meters/setup/pieces/"
        found = {
            name.removeprefix(home): wheel.read(name)
            for name in wheel.namelist()
            if name.startswith(home)
        }
    assert found == {name: (DEPLOY / name).read_bytes() for name in PIECES}
