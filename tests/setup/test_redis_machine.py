"""`pitlink setup --redis`: the files of a Redis server and its sentinel, and what it refuses."""

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bonus.errors import UserError
from meters.floor.floor_file import read_floor
from meters.setup import redis_machine, units
from meters.setup.config_files import ADDED, FilePlan, FileState, without_added
from meters.setup.redis_machine import RedisMachine
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.keys.floor import make_keys as make_any_keys
from tests.processes import invoke_pitlink
from tests.setup.machine import Machine

pytestmark = pytest.mark.slow

ADDRESSES: Final = ("10.0.0.8", "10.0.0.9", "10.0.0.10")
SENTINELS: Final = "rediss+sentinel://10.0.0.8,10.0.0.9,10.0.0.10:26380/pit?replicas=2"

NAMES: Final = ("redis.conf", "sentinel.conf")
"""Files that their servers change."""
SECRET: Final = "a-password-of-the-servers"  # noqa: S105
OWN: Final = "maxmemory 4gb"
"""Setting of a person."""
ANNOUNCED: Final = 'announce-ip "10.0.0.9"'
"""The setting as Redis writes it."""


def write_floor(path: Path, redis: str) -> Path:
    link = link_text("main", meter_text("progressive"), table_text("A-1", "progressive"))
    path.write_text(floor_text(link, service={"broker": "mqtts://pit.oak:8883", "redis": redis}))
    return path


def make_keys(floor: Path, keys: Path, *options: str) -> None:
    make_any_keys(floor, keys, "--redis-home", "/etc/redis/pitlink", *options)


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    return write_floor(tmp_path / "floor.toml", SENTINELS)


@pytest.fixture(scope="module")
def keys_of_the_floor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made")
    make_keys(write_floor(home / "floor.toml", SENTINELS), home / "keys")
    return home / "keys"


@pytest.fixture
def keys(tmp_path: Path, keys_of_the_floor: Path) -> Path:
    return shutil.copytree(keys_of_the_floor, tmp_path / "keys")


class Host(Machine):
    """A machine of a Redis server, with the floor file and the keys that were brought to it."""

    def __init__(self, root: Path, floor: Path, keys: Path) -> None:
        super().__init__(root)
        self.floor = floor
        self.keys = keys

    def install(
        self, own: str = ADDRESSES[1], primary: str = ADDRESSES[0]
    ) -> subprocess.CompletedProcess[str]:
        where = ("--floor", str(self.floor), "--keys", str(self.keys))
        return self.setup("--redis", own, "--primary", primary, *where)

    def installed(self, own: str = ADDRESSES[1], primary: str = ADDRESSES[0]) -> str:
        done = self.install(own, primary)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def refused(self, own: str = ADDRESSES[1], primary: str = ADDRESSES[0]) -> str:
        before = self.contents()
        done = self.install(own, primary)
        assert (done.returncode, self.contents()) == (1, before)
        return done.stderr

    def lines(self, name: str) -> list[str]:
        return self.path(f"etc/redis/{name}").read_text().splitlines()

    def settings(self) -> set[str]:
        """Return the names of all settings of both servers, and the lines that have them."""
        found = [line for name in NAMES for line in self.lines(name) if line]
        return {*found, *(line.partition(" ")[0] for line in found)}

    def rewrite(self, old: str = "", new: str = "") -> None:
        """Change both files as their servers do: in place, and with more lines at the end."""
        for name in NAMES:
            path = self.path(f"etc/redis/{name}")
            text = path.read_text().replace(old, new).replace("announce-ip 10.0.0.9", ANNOUNCED)
            path.write_text(f"{text}\n{ADDED}\nrequirepass {SECRET}\nmin-replicas-to-write 2\n")


@pytest.fixture
def host(tmp_path: Path, floor: Path, keys: Path) -> Host:
    return Host(tmp_path / "root", floor, keys)


def test_a_machine_gets_its_files_and_a_second_run_changes_nothing(host: Host) -> None:
    host.installed(ADDRESSES[2])
    redis, sentinel = host.lines("redis.conf"), host.lines("sentinel.conf")
    for found in (redis, sentinel):
        assert [line for line in found if line.startswith("bind")] == ["bind 10.0.0.10 127.0.0.1"]
    assert redis[-3:] == [
        "replicaof 10.0.0.8 6379", "replica-announce-ip 10.0.0.10",
        "include /etc/redis/pitlink-replicated.conf",
    ]  # fmt: skip
    assert "min-replicas-to-write 2" in host.lines("pitlink-replicated.conf")
    assert {
        "sentinel monitor pit 10.0.0.8 6379 2", "sentinel down-after-milliseconds pit 3000",
        "sentinel failover-timeout pit 30000", "sentinel parallel-syncs pit 1", "port 0",
        "sentinel announce-ip 10.0.0.10",
        "tls-port 26380", "include /etc/redis/pitlink/sentinel-access.conf",
    } <= set(sentinel)  # fmt: skip
    access = host.lines("pitlink/sentinel-access.conf")
    assert "sentinel auth-user pit pitlink-sentinel" in access
    before = host.contents()
    assert "written" not in host.installed(ADDRESSES[2])
    assert host.contents() == before


def test_the_primary_names_the_commands_of_the_replicas(host: Host) -> None:
    said = host.installed(ADDRESSES[0])
    assert "replicaof" not in host.settings()
    for other in ADDRESSES[1:]:
        command = f"pitlink setup --redis {other} --primary 10.0.0.8 --keys pitlink-keys"
        assert f"{command} --floor floor.toml\n" in said


def test_what_the_servers_changed_is_left(host: Host) -> None:
    """After a fail-over, Redis and the sentinel write the new primary into their files."""
    host.installed()
    host.rewrite("10.0.0.8 6379", "10.0.0.10 6379")
    before = host.contents()
    host.installed(primary=ADDRESSES[2])
    assert host.contents() == before


def test_only_the_addresses_change_if_another_machine_has_the_primary(host: Host) -> None:
    """Lines of a person remain. Lines that the servers added go: they would have priority."""
    host.installed()
    path = host.path("etc/redis/redis.conf")
    path.write_text(path.read_text().replace("\ninclude", f"\n{OWN}\ninclude", 1))
    wanted = host.settings()
    host.rewrite("10.0.0.8 6379", "10.0.0.10 6379")
    host.installed()
    assert OWN in host.lines("redis.conf")
    assert host.settings() == wanted
    host.rewrite()
    host.installed(primary=ADDRESSES[1])
    assert "replicaof" not in host.settings()


def test_a_changed_setting_has_priority_over_what_the_servers_added(host: Host) -> None:
    host.installed()
    host.rewrite()
    write_floor(host.floor, SENTINELS.replace("=2", "=1").replace("26380", "26390"))
    host.installed()
    assert "min-replicas-to-write 1" in host.lines("pitlink-replicated.conf")
    assert ADDED not in host.settings()


def test_passwords_that_the_servers_added_are_not_shown(host: Host) -> None:
    host.installed()
    host.rewrite()
    found = RedisMachine.of(read_floor(host.floor), "floor", ADDRESSES[1], ADDRESSES[2])
    path = Path("/etc/redis/redis.conf")
    before = host.path(str(path)).read_text()
    (wanted,) = (each for each in found.files({path: before}, renews=True) if each.path == path)
    plan = FilePlan(wanted, path, before.encode(), FileState.OURS)
    shown = "\n".join(plan.shown())
    assert "+replicaof 10.0.0.10 6379" in shown
    assert SECRET not in shown
    new = FilePlan(wanted, path, None, FileState.NEW)
    assert list(new.shown()) == without_added(wanted.text).splitlines()


def test_a_file_of_a_person_ends_the_command(host: Host) -> None:
    path = host.path("etc/redis/redis.conf")
    path.parent.mkdir()
    path.write_text("port 6379\n")
    refused = host.install()
    assert refused.returncode == 1
    assert f"Redis and its sentinel need {path}. Neither was restarted" in refused.stderr
    assert path.read_text() == "port 6379\n"
    assert not host.path("etc/redis/sentinel.conf").exists()
    path.write_text(f"{OWN}\n{path.with_name('redis.conf.pitlink').read_text()}")
    host.installed()
    assert host.lines("redis.conf")[0] == OWN


def test_a_link_to_a_file_of_another_user_is_not_given_away(host: Host) -> None:
    """The directory belongs to the user of Redis, who can put any link there."""
    host.installed()
    path = host.path("etc/redis/sentinel.conf")
    other = host.path("etc/other")
    path.rename(other)
    for make in (path.symlink_to, path.hardlink_to):
        make(other)
        refused = host.install()
        assert (refused.returncode, str(path) in refused.stderr) == (1, True)
        path.unlink()


def test_the_command_checks_first_and_starts_redis_before_its_sentinel(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated run starts nothing. A refusal writes nothing."""
    done: list[str] = []
    checks = ["check_programs", "check_address", "check_ports", "check_redis"]

    def note(name: str, *given: object) -> None:
        done.append(f"{name} {given[:1]}")

    for name in (*checks, "restart", "stop"):
        monkeypatch.setattr(units, name, functools.partial(note, name))
    monkeypatch.setattr(units, "systemd_runs", lambda: True)
    monkeypatch.setattr(redis_machine, "SYSTEM", host.root)

    def asked(*_: object, is_empty: bool) -> None:
        done.append(f"check_primary {is_empty}")
        if refuses:
            raise UserError("no")

    monkeypatch.setattr(redis_machine, "check_primary", asked)
    found = RedisMachine.of(read_floor(host.floor), "floor", ADDRESSES[1], ADDRESSES[0])

    def agree(plan: FilePlan) -> bool:
        done.append(plan.place.name)
        return True

    def run() -> list[str]:
        done.clear()
        redis_machine.install_redis(host.root, found, host.keys, agree)
        return [each.split()[0] for each in done]

    refuses, before = True, host.contents()
    with pytest.raises(UserError, match="no"):
        run()
    assert host.contents() == before
    refuses = False
    checks.append("check_primary")
    assert run() == [
        *checks, "pitlink-replicated.conf", "redis.conf", "sentinel.conf", "stop", "restart",
        "restart",
    ]  # fmt: skip
    assert done[-3:] == [
        "stop ('redis-sentinel',)", "restart ('redis-server',)", "restart ('redis-sentinel',)"
    ]  # fmt: skip
    assert run() == checks


def test_debians_sentinel_has_changed_its_own_file_already(host: Host) -> None:
    path = host.path("etc/redis/sentinel.conf")
    path.parent.mkdir()
    path.write_text("sentinel monitor mymaster 127.0.0.1 6379 2\nsentinel myid 0f\n")
    host.installed()
    assert "sentinel monitor pit 10.0.0.8 6379 2" in host.lines("sentinel.conf")
    assert "sentinel myid 0f" not in host.lines("sentinel.conf")
    path.write_text("sentinel monitor other 127.0.0.1 6379 2\n")
    assert f"its sentinel need {path}." in host.install().stderr


@pytest.mark.parametrize("name", ["appendonlydir", "appendonly.aof"])
def test_a_redis_with_data_does_not_become_a_replica(host: Host, name: str) -> None:
    """It would delete the ledger. A replica that has copied the data is installed again."""
    data = host.path("var/lib/redis") / name
    data.mkdir(parents=True)
    assert f"this Redis has data ({data}) and was no replica" in host.refused()
    host.installed(ADDRESSES[0])
    other = Host(host.root.with_name("other"), host.floor, host.keys)
    for _ in range(2):
        other.installed()
        (other.path("var/lib/redis") / name).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize(
    ("redis", "own", "primary", "said"),
    [
        ("rediss://localhost:6379/0", "8", "8", "is for a Redis with sentinels and"),
        ("redis+sentinel://10.0.0.8,10.0.0.9,10.0.0.10/pit", "8", "8", "and TLS"),
        ("rediss+cluster://10.0.0.8,10.0.0.9,10.0.0.10", "8", "8", "and TLS"),
        ("rediss+sentinel://10.0.0.8,10.0.0.9/pit", "8", "8", "at least 3 machines"),
        ("rediss+sentinel://10.0.0.8,b.pit,c.pit/pit", "8", "8", "of b.pit, c.pit"),
        (SENTINELS, "7", "8", "--redis 10.0.0.7: "),
        (SENTINELS, "8", "7", "--primary 10.0.0.7: "),
    ],
)
def test_addresses_that_do_not_fit_are_refused(
    host: Host, redis: str, own: str, primary: str, said: str
) -> None:
    write_floor(host.floor, redis)
    assert said in host.refused(f"10.0.0.{own}", f"10.0.0.{primary}")


def test_keys_that_do_not_fit_are_refused(host: Host) -> None:
    """Each message names the command that makes the right keys."""
    keys, floor = host.keys, host.floor
    single = write_floor(floor.with_name("single.toml"), "rediss://localhost:6379/0")
    other = write_floor(floor.with_name("other.toml"), SENTINELS.replace("/pit", "/oak"))
    shutil.rmtree(keys)
    keys.mkdir()
    nothing = host.refused(ADDRESSES[0])
    assert f"pitlink-keys/redis to {keys}/redis, from the machine" in nothing
    for made_for, options, said in (
        (single, (), f"there is no {keys}/redis/replica-access.conf"),
        (floor, (), "redis.crt is not for 10.0.0.8, 10.0.0.9, 10.0.0.10"),
        (other, ("--renew", "redis"), "sentinel-access.conf is not for pit"),
        (floor, ("--redis-home", "/elsewhere"), "--redis-home /etc/redis/pitlink"),
    ):
        make_keys(made_for, keys, *options)
        refused = host.refused(ADDRESSES[0])
        assert said in refused
        assert "run `pitlink keys --config /etc/pitlink/floor.toml" in refused
    make_keys(floor, keys)
    host.installed(ADDRESSES[0])


@pytest.mark.duty("D20")
def test_the_passwords_of_replicas_and_sentinels_are_kept(host: Host) -> None:
    """The servers write them into their own files, so a renewal of the certificate keeps them."""
    keys = host.keys
    names = ("redis/replica-password", "redis/sentinel-password", "sentinels/password")
    before = [(keys / name).read_bytes() for name in names]
    make_keys(host.floor, keys, "--renew", "redis")
    assert [(keys / name).read_bytes() for name in names] == before
    assert len(set(before)) == 3
    users = (keys / "redis" / "users.acl").read_text()
    assert "user pitlink-replica on resetchannels -@all +psync +replconf +ping #" in users
    assert "user pitlink-sentinel on allchannels -@all " in users
    for password in before:
        assert password.decode().strip() not in users
    make_keys(write_floor(host.floor, "rediss://localhost:6379/0"), keys)
    assert "pitlink-replica" not in (keys / "redis" / "users.acl").read_text()


def test_services_get_the_password_of_the_sentinels(host: Host) -> None:
    home, password = host.path("etc/pitlink/keys"), "sentinels/password"
    for parts in (["services"], ["service.1"]):
        done = invoke_pitlink("install-keys", str(host.keys), *parts, "--root", str(host.root))
        assert done.returncode == 0, done.stderr
        assert (home / password).read_bytes() == (host.keys / password).read_bytes()
        shutil.rmtree(home)


def test_an_address_of_another_machine_is_refused() -> None:
    units.check_address("127.0.0.1")
    with pytest.raises(UserError, match=r"198\.51\.100\.1 is not an address of this machine"):
        units.check_address("198.51.100.1")
