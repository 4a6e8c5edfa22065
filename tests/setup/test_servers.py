"""The files of `pitlink setup` as they are: real servers start with them, and the check passes."""

import contextlib
import os
import re
import socket
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import DEPLOY
from tests.mqtt.stand import Service
from tests.selfcheck.installed import build_wheel
from tests.servers import Server, eventually, free_port, require, run_pitlink
from tests.setup.machine import ANSWERS, Machine
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow

PIECES: Final = (
    "floor-tls.toml", "mosquitto.conf", "redis.conf", "Caddyfile", "prometheus/alerts.yml",
    "prometheus/prometheus.yml", "prometheus/services.yml", "prometheus/tables.yml",
)  # fmt: skip


class WrittenServer(Server):
    """Server with the configuration that setup wrote. Only directories and ports are others."""

    def __init__(self, program: str, conf: Path, *ports: int) -> None:
        super().__init__()
        self._program = require(program)
        self._conf = conf
        self.ports = ports
        etc = conf.parent.parent
        self._change(rf"(?<![\w/])/etc/(?={conf.parent.name})", f"{etc}/")
        self._change(r"/var/lib/(redis|mosquitto)", str(self.home))
        self._change(r"^listener (\d+)$", r"listener \1 127.0.0.1")

    def _change(self, old: str, new: str) -> None:
        for path in self._conf.parent.rglob("*.conf"):
            path.write_text(re.sub(old, new, path.read_text(), flags=re.MULTILINE))

    def _choose_port(self) -> None:
        before, self.ports = self.ports, tuple(free_port() for _ in self.ports)
        for old, new in zip(before, self.ports, strict=True):
            self._change(rf"^(tls-port|listener) {old}\b", rf"\g<1> {new}")

    def _command(self) -> list[str]:
        if self._conf.name == "redis.conf":
            return [self._program, str(self._conf)]
        if os.geteuid() == 0 and "user root" not in self._conf.read_text():
            with self._conf.open("a") as more:
                more.write("user root\n")
        return [self._program, "-c", str(self._conf)]

    def _answers(self) -> bool:
        for port in self.ports:
            with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
                pass
        return True


@pytest.mark.duty("D20")
def test_a_floor_runs_with_the_written_files_and_its_check_is_in_order(tmp_path: Path) -> None:
    """Two services start with their own bundles. An administrator is added over TLS."""
    machine = Machine(tmp_path / "root")
    assert machine.setup(*ANSWERS).returncode == 0
    with (
        WrittenServer("redis-server", machine.path("etc/redis/redis.conf"), 6379) as store,
        WrittenServer(
            "mosquitto", machine.path("etc/mosquitto/mosquitto.conf"), 8883, 8884
        ) as broker,
    ):
        config = machine.path("etc/pitlink/floor.toml")
        text = config.read_text()
        for old, new in (
            ("/etc/pitlink/keys", str(machine.path("etc/pitlink/keys"))),
            ("/var/lib/pitlink", str(machine.path("var/lib/pitlink"))),
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
            added = run_pitlink(
                "user", "add", "Ada Lane", "--role", "administrator", "--config", str(config),
                stdin="13572468\n",
            )  # fmt: skip
            assert added.returncode == 0, added.stderr
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
