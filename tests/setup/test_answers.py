"""`pitlink setup`: its questions, and what it says about answers that cannot be used."""

import os
import pty
import shlex
import socket
import subprocess
from pathlib import Path
from threading import Thread
from typing import Final

import pytest
from redis import Redis

from bonus.errors import UserError
from meters.floor.floor_file import read_floor
from meters.setup import units
from meters.setup.places import SYSTEM, check_root
from tests.deploy.tree import DEPLOY
from tests.processes import invoke_pitlink, pitlink_command
from tests.servers import RedisServer, free_port
from tests.setup.machine import ANSWERS, Machine
from tests.waiting import LONG_S, dies_with_us

FLOOR: Final = "etc/pitlink/floor.toml"
REDIS: Final = "--redis 10.0.0.8 --primary 10.0.0.8"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ("", 2, "there is no terminal to ask at: add --yes"),
        ("--timezone America/Newyork", 1, "no time zone 'America/Newyork': is America/New_York"),
        ("--timezone Mars", 1, 'write one such as "America/New_York"'),
        ("--host https://pit.oak", 1, "'https://pit.oak' is not a host name"),
        ("--name ' '", 1, "the name of the facility must have 1 to 80 characters"),
        ("--name Oak\x1b[2J", 1, "U+001B, which cannot be printed"),
        (
            "--machines several --host localhost",
            1,
            "other machines cannot reach this one as localhost",
        ),
        ("--floor none.toml", 1, "none.toml: there is no such file"),
        ("--root /no/such", 1, "whole path of an existing directory"),
        ("--machines three", 2, "three"),
        ("--table TCP-01", 2, "--table, --keys and --floor go together"),
        ("--table A-1 --name Oak", 2, "--name: only for the machine of the services"),
        ("--redis 10.0.0.8", 2, "give both"),
        (f"{REDIS} --table A-1", 2, "give one"),
        (f"{REDIS} --host a.pit", 2, "--host: only for"),
        (REDIS, 1, "floor.toml: install the floor first with `pitlink setup`"),
    ],
)
def test_a_wrong_answer_is_refused_before_anything_is_written(
    machine: Machine, options: str, status: int, said: str
) -> None:
    asks = ["setup", "--root", str(machine.root)]
    done = machine.setup(*shlex.split(options)) if options else invoke_pitlink(*asks)
    assert (done.returncode, said in " ".join(done.stderr.split())) == (status, True), done.stderr
    assert machine.contents() == {}


def test_only_root_changes_the_files_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="run it as root"):
        check_root(SYSTEM, "pitlink setup")


def test_missing_servers_are_named_by_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "redis-server").write_text("#!/bin/sh\n")
    (tmp_path / "redis-server").chmod(0o755)
    monkeypatch.setattr(units, "_SEARCHED", str(tmp_path))
    with pytest.raises(UserError, match=r"apt-get install mosquitto caddy prometheus$"):
        units.check_programs()


def test_a_port_that_another_program_uses_is_named() -> None:
    port = free_port()
    ports = {port: "no-such-unit"}
    units.check_ports(ports)
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(UserError, match=f"port {port}, which no-such-unit needs, is used"),
    ):
        units.check_ports(ports)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", None),
        (b"HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nno broker", "/readyz: no broker"),
        (b"+PONG\r\n", "/readyz: "),
    ],
)
def test_the_services_are_asked_without_the_proxy_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, said: str | None
) -> None:
    """A technician on a machine behind a proxy has its address in the environment."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:3128")
    monkeypatch.setattr(units, "_READY_WITHIN_S", 0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        problem = units.wait_until_ready([server.getsockname()[1]])
        thread.join()
    assert (problem is None) if said is None else (said in str(problem))


@pytest.mark.slow
def test_a_redis_with_data_of_another_program_is_refused() -> None:
    """After a restart with our settings, it would begin without this data."""
    with RedisServer(tcp=True, options={"appendonly": "no"}) as store:
        units.check_redis(store.port)
        with Redis(port=store.port) as client:
            client.set("session:1", "of another program")
            with pytest.raises(UserError, match="has data of another program"):
                units.check_redis(store.port)
            client.config_set("requirepass", "secret")
        units.check_redis(store.port)
    units.check_redis(store.port)


@pytest.mark.slow
def test_a_floor_of_the_house_keeps_its_tables_and_comments(
    machine: Machine, tmp_path: Path
) -> None:
    """Only the answers and the addresses of an installed floor are put in."""
    own = tmp_path / "own.toml"
    own.write_text((DEPLOY / "floor.toml").read_text().replace("live_days = 7", "live_days = 9"))
    machine.sets_up("--floor", str(own), "--host", "pit.oak")
    before, after = read_floor(own), read_floor(machine.path(FLOOR))
    assert after.link == before.link
    assert after.facility == before.facility
    assert after.archive.live_days == 9
    assert (after.archive.directory, after.service.data) == (
        "/var/lib/pitlink/archive", "/var/lib/pitlink",
    )  # fmt: skip
    assert after.service.redis == "rediss://localhost:6379/0"
    lines = machine.path(FLOOR).read_text().splitlines()
    assert 'name = "High Limit Progressive" # the name that patrons read above the amount;' in (
        "\n".join(lines)
    )
    machine.sets_up()
    assert machine.path(FLOOR).read_text().splitlines() == lines, "the example does not replace it"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('redis = "embedded"', 'redis = "rediss://other:6379/0"', "its Redis is not on this"),
        ('http = "127', 'hosts = [\n  "pit.oak",\n]\nhttp = "127', "write this value on one line"),
        ("positions = 7", "positions = 70", "positions"),
    ],
)
def test_a_floor_file_that_cannot_be_used_is_refused(
    machine: Machine, tmp_path: Path, old: str, new: str, said: str
) -> None:
    own = tmp_path / "own.toml"
    own.write_text((DEPLOY / "floor.toml").read_text().replace(old, new, 1))
    done = machine.setup("--floor", str(own), "--host", "pit.elm")
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr
    assert machine.contents() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "used"), [("America/Denver", "America/Denver"), ("Etc/UTC", "America/New_York")]
)
def test_the_default_time_zone_is_that_of_the_machine(
    machine: Machine, zone: str, used: str
) -> None:
    """A machine whose clock is in UTC says nothing about the place of the facility."""
    machine.path("etc/localtime").symlink_to(f"/usr/share/zoneinfo/{zone}")
    machine.sets_up()
    assert read_floor(machine.path(FLOOR)).facility.timezone == used


@pytest.mark.slow
def test_an_existing_floor_must_fit(machine: Machine) -> None:
    """A floor file that a person wrote is never changed. If it fits, the rest is installed."""
    path = machine.path(FLOOR)
    path.parent.mkdir(parents=True)
    path.write_text((DEPLOY / "floor.toml").read_text())
    done = machine.setup()
    assert done.returncode == 1
    assert f"{path} is a floor file that does not fit" in done.stderr
    assert 'keys = "/etc/pitlink/keys"' in done.stderr
    assert machine.contents().keys() == {FLOOR}
    path.write_text(text := (DEPLOY / "floor-tls.toml").read_text())
    machine.sets_up("--name", "Another")
    assert path.read_text() == text
    assert 'name = "Another"' in path.with_name("floor.toml.pitlink").read_text()


@pytest.mark.slow
def test_the_questions_have_defaults_and_one_answer_for_each_file(machine: Machine) -> None:
    """A wrong answer is asked for again; a file that the person refuses is not written."""
    main, terminal = pty.openpty()
    command = pitlink_command("setup", "--root", str(machine.root))
    with subprocess.Popen(
        dies_with_us(command), stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        answers = ["", "Lucky Oak", "Mars", "America/Chicago", "pit.oak", "", "y", "n"]
        os.write(main, "".join(f"{answer}\n" for answer in [*answers, *[""] * 9]).encode())
        said, _ = process.communicate(timeout=LONG_S)
    os.close(main)
    assert process.returncode == 0, said
    assert "there is no time zone 'Mars'" in said
    assert '\nbroker = "mqtts://localhost:8883"' in said.replace("\r", "")
    floor = read_floor(machine.path(FLOOR))
    assert (floor.facility.name, floor.service.hosts) == ("Lucky Oak", ("pit.oak",))
    assert not machine.path("etc/redis/redis.conf").exists()
    assert machine.path("etc/mosquitto/mosquitto.conf").exists()
    assert "redis.conf  not written" in said


@pytest.mark.slow
def test_the_agent_of_a_table_gets_only_its_own_keys(tmp_path: Path) -> None:
    services, machine = Machine(tmp_path / "services"), Machine(tmp_path / "table")
    services.sets_up(*ANSWERS, "--machines", "several")
    brought = services.path("root/pitlink-keys/tables/tcp-one.TCP-01")
    given = ("--floor", str(services.path(FLOOR)), "--keys", str(brought))
    for table, said in (
        ("TCP-02", "are for table.TCP-01, not table.TCP-02"),
        ("TCP-09", "there is no table TCP-09"),
    ):
        done = machine.setup("--table", table, *given)
        assert (done.returncode, said in done.stderr) == (1, True), done.stderr
        assert machine.contents() == {}
    for _ in range(2):
        said = machine.sets_up("--table", "TCP-01", *given)
        assert "systemctl enable --now pitlink-table@TCP-01" in said
    place = "etc/pitlink/keys/tables/tcp-one.TCP-01"
    names = ("ca.crt", "password", "table.crt", "table.key")
    assert machine.contents().keys() == {
        FLOOR, "etc/pitlink/setup.json", *(f"{place}/{name}" for name in names),
    }  # fmt: skip
    # Its agent uses no Redis, so every Redis of the services is right.
    replicated = tmp_path / "replicated.toml"
    address = "rediss+sentinel://a:26379,b:26379,c:26379/pitlink"
    text = services.path(FLOOR).read_text().replace("rediss://localhost:6379/0", address)
    replicated.write_text(text)
    assert address in text
    fresh = Machine(tmp_path / "fresh")
    fresh.sets_up("--table", "TCP-01", "--keys", str(brought), "--floor", str(replicated))
    # A person who brings the keys cannot make root show another file to the agent.
    wrong = machine.setup("--table", "TCP-01", *given[:2], "--keys", str(tmp_path))
    assert "has no keys of a table" in wrong.stderr
    key, secret, bare = brought / "table.key", tmp_path / "shadow", Machine(tmp_path / "bare")
    key.rename(secret)
    assert "or not all of them" in bare.setup("--table", "TCP-01", *given).stderr
    key.symlink_to(secret)
    assert f"{key}: cannot be installed: " in bare.setup("--table", "TCP-01", *given).stderr
    assert not list(bare.root.rglob("table.key"))
    secret.replace(key)
    floor = services.path(FLOOR)
    floor.write_bytes(floor.read_bytes() + b"# Montr\xe9al\n")
    unread = bare.setup("--table", "TCP-01", *given).stderr
    assert f"{floor}: the file is not UTF-8" in unread
