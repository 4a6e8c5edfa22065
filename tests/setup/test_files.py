"""`pitlink setup`: what it writes, what it never changes, and what it does after a kill."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from meters.floor.floor_file import read_floor
from meters.setup import units
from meters.setup.floor_machine import Setup
from meters.setup.floor_text import Answers, floor_text
from tests.deploy.tree import DEPLOY
from tests.servers import pitlink_command
from tests.setup.machine import ANSWERS, Machine
from tests.waiting import LONG_S, require

pytestmark = pytest.mark.slow

REDIS: Final = "etc/redis/redis.conf"
FLOOR: Final = "etc/pitlink/floor.toml"


def test_it_writes_every_file_and_a_second_run_changes_nothing(installed: Machine) -> None:
    before = installed.contents()
    for name, piece in (
        (REDIS, "redis.conf"),
        ("etc/mosquitto/mosquitto.conf", "mosquitto.conf"),
        ("etc/prometheus/prometheus.yml", "prometheus/prometheus.yml"),
        ("etc/prometheus/services.yml", "prometheus/services.yml"),
    ):
        assert before[name] == (0o644, (DEPLOY / piece).read_bytes())
    alerts = (DEPLOY / "prometheus/alerts.yml").read_text()
    alerts = alerts.replace("https://pit.example/", "https://pit.oak/")
    assert before["etc/prometheus/alerts.yml"] == (0o644, alerts.encode())
    floor = read_floor(installed.path(FLOOR))
    assert (floor.facility.name, floor.facility.timezone) == ("Lucky Oak", "America/Chicago")
    assert (floor.service.hosts, floor.service.broker) == (("pit.oak",), "mqtts://localhost:8883")
    assert b"{$PITLINK_SITE:pit.oak} {\n" in before["etc/caddy/Caddyfile"][1]
    keys = {name: mode for name, (mode, _) in before.items() if "/pitlink/" in f"/{name}"}
    secret = {name for name in keys if "keys" in name or "etc/pitlink" not in name}
    assert {"etc/mosquitto/pitlink/acl", "etc/redis/pitlink/users.acl"} <= secret
    assert "etc/pitlink/keys/tables/tcp-one.TCP-01/table.key" in secret
    assert {keys[name] for name in secret} == {0o600}
    assert not [name for name in before if name.startswith("etc/") and name.endswith("ca.key")]
    for options in ((), ANSWERS):
        again = installed.setup(*options)
        assert (again.returncode, again.stderr) == (0, "")
        assert installed.contents() == before
        assert "written" not in again.stdout
        assert "installed for" not in again.stdout


@pytest.mark.parametrize("line", range(0, 22, 3))
def test_a_run_after_a_kill_finishes_the_rest(machine: Machine, set_up: Machine, line: int) -> None:
    """The result has the same files as a run without a kill, and no temporary ones."""
    command = pitlink_command("setup", "--yes", "--root", str(machine.root), *ANSWERS)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(line):
            process.stdout.readline()
        process.kill()
        process.wait(LONG_S)
    machine.sets_up(*ANSWERS)
    # `pitlink keys` can leave a hidden file in the directory in which it makes the keys.
    found, wanted = (
        {name: one for name, one in each.contents().items() if not name.startswith("root/")}
        for each in (machine, set_up)
    )
    assert found.keys() == wanted.keys()
    text = {name for name in wanted if name.endswith((".conf", ".toml", ".yml", "Caddyfile"))}
    assert {name: found[name] for name in text} == {name: wanted[name] for name in text}
    keys = machine.path("root/pitlink-keys")
    for name in found:
        for made, place in (
            ("services", "etc/pitlink/keys/services"), ("broker", "etc/mosquitto/pitlink"),
        ):  # fmt: skip
            if name.startswith(f"{place}/"):
                source = keys / made / Path(name).relative_to(place)
                assert found[name][1] == source.read_bytes(), name


def test_a_file_that_a_person_changed_is_left_alone(installed: Machine) -> None:
    path = installed.path(REDIS)
    path.write_text(wanted := path.read_text() + "maxmemory 4gb\n")
    before = installed.contents()
    said = installed.sets_up(*ANSWERS)
    assert f"{path}  left as it is, because a person wrote or changed it" in said
    assert path.read_text() == wanted
    other = path.with_name("redis.conf.pitlink")
    assert other.read_bytes() == (DEPLOY / "redis.conf").read_bytes()
    assert installed.contents().keys() - before.keys() == {f"{REDIS}.pitlink"}
    path.write_bytes(other.read_bytes())
    installed.sets_up(*ANSWERS)
    assert not other.exists(), "the person has completed the file"


def test_an_installed_floor_on_several_redis_servers_is_refused(installed: Machine) -> None:
    """Nothing is written. The message names the page with the steps."""
    path = installed.path(FLOOR)
    address = "rediss+sentinel://10.0.0.8:26379,10.0.0.9:26379,10.0.0.10:26379/pitlink"
    path.write_text(path.read_text().replace("rediss://localhost:6379/0", address))
    before = installed.contents()
    for options in ((), ("--floor", str(DEPLOY / "floor-tls.toml"))):
        done = installed.setup(*options, *ANSWERS)
        assert f"{path}: its Redis is not on this machine alone" in done.stderr
        assert "deploy/docs/run/several-services.md" in done.stderr
        assert installed.contents() == before


def test_what_it_wrote_itself_it_replaces(installed: Machine) -> None:
    """Another answer changes the files that nobody else changed."""
    said = installed.sets_up("--host", "pit.elm", "--host", "oak.elm", "--machines", "several")
    floor = read_floor(installed.path(FLOOR))
    assert floor.service.broker == "mqtts://pit.elm:8883"
    assert floor.service.hosts == ("pit.elm", "oak.elm")
    assert "{$PITLINK_SITE:pit.elm, oak.elm} {" in installed.path("etc/caddy/Caddyfile").read_text()
    assert "pitlink setup --table TCP-01 --keys tcp-one.TCP-01 --floor floor.toml" in said
    certificate = installed.path("etc/mosquitto/pitlink/broker.crt")
    named = subprocess.run(
        [require("openssl"), "x509", "-in", certificate, "-noout", "-ext", "subjectAltName"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for host in ("localhost", "pit.oak", "pit.elm", "oak.elm"):
        assert f"DNS:{host}" in named


@pytest.mark.parametrize("left", [False, True])
def test_keys_of_another_authority_are_not_replaced(installed: Machine, *, left: bool) -> None:
    """People move the directory with the keys to a safe place, as run/install.md says."""
    made, safe = installed.path("root/pitlink-keys"), installed.path("safe")
    made.rename(safe)
    if left:
        other = Machine(installed.root.with_name("other"))
        other.sets_up(*ANSWERS)
        other.path("root/pitlink-keys").rename(made)
    before = installed.contents()
    done = installed.setup("--host", "pit.elm")
    assert done.returncode == 1
    assert f"has keys of an authority that is not in {made}" in done.stderr
    assert installed.contents() == before
    if left:
        made.rename(installed.path("wrong"))
    safe.rename(made)
    installed.sets_up("--host", "pit.elm")


def test_the_file_of_a_package_is_replaced_unless_a_person_changed_it(machine: Machine) -> None:
    require("dpkg-query")
    machine.package_file(REDIS, "port 6379\n")
    machine.package_file("etc/mosquitto/mosquitto.conf", "persistence true\n")
    changed = machine.path("etc/mosquitto/mosquitto.conf")
    changed.write_text("listener 1883\n")
    machine.path(REDIS).chmod(0o640)
    said = machine.sets_up(*ANSWERS)
    assert machine.contents()[REDIS] == (0o640, (DEPLOY / "redis.conf").read_bytes())
    assert changed.read_text() == "listener 1883\n"
    assert changed.with_name("mosquitto.conf.pitlink").exists()
    assert "is the file of its Debian package" in said


def test_addresses_of_agents_that_a_person_wrote_remain(installed: Machine) -> None:
    path = installed.path("etc/prometheus/tables.yml")
    path.write_text("- targets: [table-1.oak:8090]\n")
    installed.sets_up(*ANSWERS)
    assert path.read_text() == "- targets: [table-1.oak:8090]\n"
    assert not path.with_name("tables.yml.pitlink").exists()


def test_servers_start_without_a_file_that_the_person_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(units, "restart", started.append)
    monkeypatch.setattr(units, "start", started.extend)
    answers = Answers("Lucky Oak", "America/Chicago", ("pit.oak",), "one")
    text = floor_text((DEPLOY / "floor-tls.toml").read_text(), answers, "floor-tls.toml")
    setup = Setup(machine.root, answers, text, lambda plan: plan.place.name != "alerts.yml")
    setup.write_files()
    setup.start_units()
    assert started[:4] == ["redis-server", "mosquitto", "caddy", "prometheus"]


def test_other_programs_accept_the_files(machine: Machine) -> None:
    machine.sets_up(*ANSWERS, "--host", "second.oak")
    for command in (
        [require("promtool"), "check", "config", "prometheus/prometheus.yml"],
        [require("caddy"), "validate", "--adapter", "caddyfile", "--config", "caddy/Caddyfile"],
    ):
        done = subprocess.run(
            command, cwd=machine.path("etc"), capture_output=True, text=True, check=False,
            env={**os.environ, "HOME": str(machine.root), "XDG_DATA_HOME": str(machine.root)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
