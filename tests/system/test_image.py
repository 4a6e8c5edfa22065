"""The container image: built by its Containerfile, and run as its own user on a read-only root."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.tree import DEPLOY
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.servers import Mosquitto, RedisServer, eventually
from tests.system.container import Container, Network
from tests.system.debian_root import require_system
from tests.system.machine import require_machine
from tests.waiting import free_port

pytestmark = [pytest.mark.slow, pytest.mark.system]

_BASE: Final = "localhost/pitlink-test-base"
_VERSION: Final = "9.9.9"
_PIN: Final = "739152"
_PROGRAMS: Final = ("buildah", "systemd-nspawn", "nsenter", "unshare", "ip")
_BUILD_WITHIN_S: Final = 900
_ASK_READY: Final = "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/readyz')"


@dataclass(frozen=True)
class Image:
    """The image, mounted at `root`, with its configuration as docker reads it."""

    root: Path
    config: dict[str, Any]


class Store:
    """Images and containers of buildah, in a directory of the test."""

    def __init__(self, home: Path) -> None:
        settings = home / "storage.conf"
        settings.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{home}/images"\nrunroot = "{home}/run"\n'
        )
        # The variable of docker leads nowhere: its images would be in another store.
        self.env = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(settings), "DOCKER_HOST": f"unix://{home}/none",
        }  # fmt: skip

    def buildah(self, *arguments: str) -> str:
        return self.run("buildah", *arguments)

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=False,
            timeout=_BUILD_WITHIN_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout.strip()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    require_system(*_PROGRAMS)
    require_machine()
    home = tmp_path_factory.mktemp("buildah")
    store = Store(home)
    yield store
    store.buildah("umount", "--all")
    store.buildah("rm", "--all")
    # With the store, `buildah rmi` would take longer and leave its directories.
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def image(store: Store, debian_root: Path) -> Image:
    """Build the image as an operator does, on a Debian of this machine instead of a registry's."""
    working = store.buildah("from", "scratch")
    root = store.buildah("mount", working)
    store.run("cp", "--archive", f"{debian_root}/.", root)
    # pip reaches the same index as on this machine.
    for path in (Path("/etc/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt")):
        if path.exists():
            shutil.copy(path, f"{root}{path}")
    store.buildah("umount", working)
    store.buildah("commit", "--quiet", "--rm", working, _BASE)
    build = DEPLOY / "container" / "build"
    store.run(str(build), "--demo", "--base", _BASE, "--version", _VERSION)
    name = f"localhost/pitlink:{_VERSION}"
    stored = json.loads(store.buildah("inspect", "--type", "image", name))
    mounted = store.buildah("mount", store.buildah("from", name))
    return Image(Path(mounted), json.loads(stored["Config"])["config"])


class InnerRedis(RedisServer):
    def __init__(self, network: Network) -> None:
        super().__init__(tcp=True)
        self._network = network

    def _command(self) -> list[str]:
        return ["nsenter", f"--net={self._network.path}", *super()._command()]


class InnerMosquitto(Mosquitto):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def _command(self) -> list[str]:
        return ["nsenter", f"--net={self._network.path}", *super()._command()]

    def _answers(self) -> bool:
        return "running" in self.log


def test_the_image_has_its_health_check_and_its_user(image: Image) -> None:
    """An image in OCI format has no health check, and no builder says so as an error."""
    assert "/healthz" in image.config["Healthcheck"]["Test"][-1]
    assert image.config["User"] == "10001:10001"
    assert image.config["StopSignal"] == "SIGTERM"
    assert image.config["Labels"]["org.opencontainers.image.version"] == _VERSION


def approve(container: Container) -> None:
    add = ("user", "add", "Ada Lane", "--role", "administrator")
    for words, typed in ((add, ""), (("approve", "--by", "Ada Lane"), "yes\n")):
        done = container.run(
            "pitlink", *words, "--config", "/etc/pitlink/floor.toml", stdin=f"{_PIN}\n{typed}"
        )
        assert done.returncode == 0, done.stdout


def test_the_demonstration_needs_one_command(image: Image, store: Store) -> None:
    name = f"localhost/pitlink-demo:{_VERSION}"
    stored = json.loads(store.buildah("inspect", "--type", "image", name))
    config = json.loads(stored["Config"])["config"]
    assert config["User"] == image.config["User"]
    output = store.buildah(
        "run", "--isolation", "chroot", store.buildah("from", name), "--",
        *config["Entrypoint"], *config["Cmd"], "--for", "10", "--speed", "20", "--tables", "3",
        "--port", str(free_port()), "--panel-port", str(free_port()),
    )  # fmt: skip
    assert "The ledger balances to the micro" in output
    assert "settled again from their wagers and cards, with the same results" in output


def test_the_image_has_the_documents(image: Image) -> None:
    assert list(
        image.root.glob("opt/pitlink/lib/python3*/site-packages/meters/web/site/index.html")
    )


def test_a_service_runs_until_it_is_ready_and_its_health_check_sees_a_fault(
    image: Image, tmp_path: Path
) -> None:
    data, settings = tmp_path / "data", tmp_path / "settings"
    data.mkdir(mode=0o700)
    os.chown(data, 10001, 10001)
    settings.mkdir()
    mounts = {"/var/lib/pitlink": data, "/etc/pitlink": settings}
    with Network() as network, InnerRedis(network) as redis, InnerMosquitto(network) as broker:
        meters = meter_text("progressive")
        link = link_text("main", meters, table_text("A-1", "progressive"))
        service = {"broker": broker.url, "redis": redis.url, "data": "/var/lib/pitlink"}
        (settings / "floor.toml").write_text(floor_text(link, service=service))
        with Container(tmp_path, image.root, image.config, mounts, network) as container:
            approve(container)
            eventually(
                lambda: container.run("python", "-c", _ASK_READY).returncode == 0, what="ready"
            )
            assert container.run("pitlink", "--version").stdout == f"pitlink {_VERSION}\n"
            assert container.is_healthy()
            written = container.run("python", "-c", "open('/opt/pitlink/more', 'w')")
            assert "Read-only file system" in written.stdout

            container.signal("SIGSTOP")
            assert not container.is_healthy()
            container.signal("SIGCONT")
            eventually(container.is_healthy, what="the health after the fault")

            container.signal(image.config["StopSignal"])
            assert container.wait() == 0
    assert "as the wheel recorded it" in container.log
