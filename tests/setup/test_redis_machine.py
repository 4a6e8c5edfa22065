"""`pitlink setup --redis`: the files of a Redis server and its sentinel, and what it refuses."""

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bonus.errors import UserError
from meters.floor.floor_file import read_floor
from meters.setup import redis_installation, units
from meters.setup.file_states import ADDED, FilePlan, FileState, without_added
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


def install(
    machine: Machine, floor: Path, keys: Path, own: str, primary: str = ADDRESSES[0]
) -> subprocess.CompletedProcess[str]:
    where = ("--floor", str(floor), "--keys", str(keys))
    return machine.setup("--redis", own, "--primary", primary, *where)


def lines(machine: Machine, name: str) -> list[str]:
    return machine.path(f"etc/redis/{name}").read_text().splitlines()


def test_a_machine_gets_its_files_and_a_second_run_changes_nothing(
    floor: Path, keys: Path, machine: Machine
) -> None:
    done = install(machine, floor, keys, ADDRESSES[2])
    assert (done.returncode, done.stderr) == (0, "")
    redis, sentinel = lines(machine, "redis.conf"), lines(machine, "sentinel.conf")
    for found in (redis, sentinel):
        assert [line for line in found if line.startswith("bind")] == ["bind 10.0.0.10 127.0.0.1"]
    assert redis[-3:] == [
        "replicaof 10.0.0.8 6379", "replica-announce-ip 10.0.0.10",
        "include /etc/redis/pitlink-replicated.conf",
    ]  # fmt: skip
    assert "min-replicas-to-write 2" in lines(machine, "pitlink-replicated.conf")
    assert {
        "sentinel monitor pit 10.0.0.8 6379 2", "sentinel down-after-milliseconds pit 3000",
        "sentinel failover-timeout pit 30000", "sentinel parallel-syncs pit 1", "port 0",
        "sentinel announce-ip 10.0.0.10",
        "tls-port 26380", "include /etc/redis/pitlink/sentinel-access.conf",
    } <= set(sentinel)  # fmt: skip
    assert "sentinel auth-user pit pitlink-sentinel" in lines(
        machine, "pitlink/sentinel-access.conf"
    )
    before = machine.contents()
    again = install(machine, floor, keys, ADDRESSES[2])
    assert (again.returncode, again.stderr) == (0, "")
    assert "written" not in again.stdout
    assert machine.contents() == before


def test_the_primary_names_the_commands_of_the_replicas(
    floor: Path, keys: Path, machine: Machine
) -> None:
    done = install(machine, floor, keys, ADDRESSES[0])
    assert (done.returncode, done.stderr) == (0, "")
    assert not [line for line in lines(machine, "redis.conf") if line.startswith("replicaof")]
    for other in ADDRESSES[1:]:
        command = f"pitlink setup --redis {other} --primary 10.0.0.8 --keys pitlink-keys"
        assert f"{command} --floor floor.toml\n" in done.stdout


def settings(machine: Machine, name: str) -> set[str]:
    return {line for line in lines(machine, name) if line}


def rewritten(machine: Machine, old: str = "", new: str = "") -> None:
    """Change both files as their servers do: in place, and with more lines at the end."""
    for name in NAMES:
        path = machine.path(f"etc/redis/{name}")
        text = path.read_text().replace(old, new).replace("announce-ip 10.0.0.9", ANNOUNCED)
        path.write_text(f"{text}\n{ADDED}\nrequirepass {SECRET}\nmin-replicas-to-write 2\n")


def test_what_the_servers_changed_is_left(floor: Path, keys: Path, machine: Machine) -> None:
    """After a fail-over, Redis and the sentinel write the new primary into their files."""
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    rewritten(machine, "10.0.0.8 6379", "10.0.0.10 6379")
    before = machine.contents()
    again = install(machine, floor, keys, ADDRESSES[1], ADDRESSES[2])
    assert (again.returncode, again.stderr) == (0, "")
    assert machine.contents() == before


def test_only_the_addresses_change_if_another_machine_has_the_primary(
    floor: Path, keys: Path, machine: Machine
) -> None:
    """Lines of a person remain. Lines that the servers added go: they would have priority."""
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    path = machine.path("etc/redis/redis.conf")
    path.write_text(path.read_text().replace("\ninclude", f"\n{OWN}\ninclude", 1))
    wanted = [settings(machine, name) for name in NAMES]
    rewritten(machine, "10.0.0.8 6379", "10.0.0.10 6379")
    again = install(machine, floor, keys, ADDRESSES[1])
    assert (again.returncode, again.stderr) == (0, "")
    assert OWN in lines(machine, "redis.conf")
    assert [settings(machine, name) for name in NAMES] == wanted
    rewritten(machine)
    primary = install(machine, floor, keys, ADDRESSES[1], ADDRESSES[1])
    assert primary.returncode == 0
    assert not [line for line in lines(machine, "redis.conf") if line.startswith("replicaof")]


def test_a_changed_setting_has_priority_over_what_the_servers_added(
    floor: Path, keys: Path, machine: Machine
) -> None:
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    rewritten(machine)
    write_floor(floor, SENTINELS.replace("=2", "=1").replace("26380", "26390"))
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    assert "min-replicas-to-write 1" in lines(machine, "pitlink-replicated.conf")
    for name in NAMES:
        assert ADDED not in lines(machine, name)


def test_passwords_that_the_servers_added_are_not_shown(
    floor: Path, keys: Path, machine: Machine
) -> None:
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    rewritten(machine)
    found = RedisMachine.of(read_floor(floor), "floor", ADDRESSES[1], ADDRESSES[2])
    path = Path("/etc/redis/redis.conf")
    before = machine.path(str(path)).read_text()
    (wanted,) = (each for each in found.files({path: before}, renews=True) if each.path == path)
    plan = FilePlan(wanted, path, before.encode(), FileState.OURS)
    shown = "\n".join(plan.shown())
    assert "+replicaof 10.0.0.10 6379" in shown
    assert SECRET not in shown
    new = FilePlan(wanted, path, None, FileState.NEW)
    assert list(new.shown()) == without_added(wanted.text).splitlines()


def test_a_file_of_a_person_ends_the_command(floor: Path, keys: Path, machine: Machine) -> None:
    path = machine.path("etc/redis/redis.conf")
    path.parent.mkdir()
    path.write_text("port 6379\n")
    refused = install(machine, floor, keys, ADDRESSES[1])
    assert refused.returncode == 1
    assert f"Redis and its sentinel need {path}. Neither was restarted" in refused.stderr
    assert path.read_text() == "port 6379\n"
    assert not machine.path("etc/redis/sentinel.conf").exists()
    path.write_text(f"{OWN}\n{path.with_name('redis.conf.pitlink').read_text()}")
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    assert lines(machine, "redis.conf")[0] == OWN


def test_a_link_to_a_file_of_another_user_is_not_given_away(
    floor: Path, keys: Path, machine: Machine
) -> None:
    """The directory belongs to the user of Redis, who can put any link there."""
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    path = machine.path("etc/redis/sentinel.conf")
    other = machine.path("etc/other")
    path.rename(other)
    for make in (path.symlink_to, path.hardlink_to):
        make(other)
        refused = install(machine, floor, keys, ADDRESSES[1])
        assert refused.returncode == 1
        assert str(path) in refused.stderr
        path.unlink()


def test_the_command_checks_first_and_starts_redis_before_its_sentinel(
    floor: Path, keys: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated run starts nothing. A refusal writes nothing."""
    done: list[str] = []
    checks = ["check_programs", "check_address", "check_ports", "check_redis"]

    def note(name: str, *given: object) -> None:
        done.append(f"{name} {given[:1]}")

    for name in (*checks, "restart", "stop"):
        monkeypatch.setattr(units, name, functools.partial(note, name))
    monkeypatch.setattr(units, "systemd_runs", lambda: True)
    monkeypatch.setattr(redis_installation, "SYSTEM", machine.root)

    def asked(*_: object, is_empty: bool) -> None:
        done.append(f"check_primary {is_empty}")
        if refuses:
            raise UserError("no")

    monkeypatch.setattr(redis_installation, "check_primary", asked)
    found = RedisMachine.of(read_floor(floor), "floor", ADDRESSES[1], ADDRESSES[0])

    def agree(plan: FilePlan) -> bool:
        done.append(plan.place.name)
        return True

    def run() -> list[str]:
        done.clear()
        redis_installation.install_redis(machine.root, found, keys, agree)
        return [each.split()[0] for each in done]

    refuses, before = True, machine.contents()
    with pytest.raises(UserError, match="no"):
        run()
    assert machine.contents() == before
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


def test_debians_sentinel_has_changed_its_own_file_already(
    floor: Path, keys: Path, machine: Machine
) -> None:
    path = machine.path("etc/redis/sentinel.conf")
    path.parent.mkdir()
    path.write_text("sentinel monitor mymaster 127.0.0.1 6379 2\nsentinel myid 0f\n")
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    assert "sentinel monitor pit 10.0.0.8 6379 2" in lines(machine, "sentinel.conf")
    assert "sentinel myid 0f" not in lines(machine, "sentinel.conf")
    path.write_text("sentinel monitor other 127.0.0.1 6379 2\n")
    assert f"its sentinel need {path}." in install(machine, floor, keys, ADDRESSES[1]).stderr


@pytest.mark.parametrize("name", ["appendonlydir", "appendonly.aof"])
def test_a_redis_with_data_does_not_become_a_replica(
    floor: Path, keys: Path, machine: Machine, name: str
) -> None:
    """It would delete the ledger. A replica that has copied the data is installed again."""
    data = machine.path("var/lib/redis") / name
    data.parent.mkdir(parents=True)
    data.mkdir()
    before = machine.contents()
    refused = install(machine, floor, keys, ADDRESSES[1])
    assert refused.returncode == 1
    assert f"this Redis has data ({data}) and was no replica" in refused.stderr
    assert machine.contents() == before
    assert install(machine, floor, keys, ADDRESSES[0]).returncode == 0
    data.rmdir()
    other = Machine(machine.root.with_name("other"))
    assert install(other, floor, keys, ADDRESSES[1]).returncode == 0
    (other.path("var/lib/redis") / name).mkdir(parents=True)
    assert install(other, floor, keys, ADDRESSES[1]).returncode == 0


@pytest.mark.parametrize(
    ("redis", "machines", "said"),
    [
        (
            "rediss://localhost:6379/0",
            ("10.0.0.8", "10.0.0.8"),
            "is for a Redis with sentinels and",
        ),
        ("redis+sentinel://10.0.0.8,10.0.0.9,10.0.0.10/pit", ("10.0.0.8", "10.0.0.8"), "and TLS"),
        ("rediss+cluster://10.0.0.8,10.0.0.9,10.0.0.10", ("10.0.0.8", "10.0.0.8"), "and TLS"),
        (
            "rediss+sentinel://10.0.0.8,10.0.0.9/pit",
            ("10.0.0.8", "10.0.0.8"),
            "at least 3 machines",
        ),
        ("rediss+sentinel://10.0.0.8,b.pit,c.pit/pit", ("10.0.0.8", "10.0.0.8"), "of b.pit, c.pit"),
        (SENTINELS, ("10.0.0.7", "10.0.0.8"), "--redis 10.0.0.7: "),
        (SENTINELS, ("10.0.0.8", "10.0.0.7"), "--primary 10.0.0.7: "),
    ],
)
def test_addresses_that_do_not_fit_are_refused(
    tmp_path: Path, machine: Machine, redis: str, machines: tuple[str, str], said: str
) -> None:
    floor, before = write_floor(tmp_path / "floor.toml", redis), machine.contents()
    done = install(machine, floor, tmp_path / "keys", *machines)
    assert done.returncode == 1
    assert said in done.stderr
    assert machine.contents() == before


def test_keys_that_do_not_fit_are_refused(tmp_path: Path, floor: Path, machine: Machine) -> None:
    """Each message names the command that makes the right keys."""
    keys, before = tmp_path / "keys", machine.contents()
    single = write_floor(tmp_path / "single.toml", "rediss://localhost:6379/0")
    other = write_floor(tmp_path / "other.toml", SENTINELS.replace("/pit", "/oak"))
    elsewhere = tmp_path / "elsewhere"

    def refused() -> str:
        done = install(machine, floor, keys, ADDRESSES[0])
        assert done.returncode == 1
        assert "run `pitlink keys --config /etc/pitlink/floor.toml" in done.stderr
        assert machine.contents() == before
        return done.stderr

    keys.mkdir()
    nothing = install(machine, floor, keys, ADDRESSES[0])
    assert f"pitlink-keys/redis to {keys}/redis, from the machine" in nothing.stderr
    make_keys(single, keys)
    assert f"there is no {keys}/redis/replica-access.conf" in refused()
    make_keys(floor, keys)
    assert "redis.crt is not for 10.0.0.8, 10.0.0.9, 10.0.0.10" in refused()
    make_keys(other, keys, "--renew", "redis")
    assert "sentinel-access.conf is not for pit" in refused()
    make_keys(floor, keys, "--redis-home", str(elsewhere))
    assert "--redis-home /etc/redis/pitlink" in refused()
    make_keys(floor, keys)
    assert install(machine, floor, keys, ADDRESSES[0]).returncode == 0


@pytest.mark.duty("D20")
def test_the_passwords_of_replicas_and_sentinels_are_kept(keys: Path, floor: Path) -> None:
    """The servers write them into their own files, so a renewal of the certificate keeps them."""
    names = ("redis/replica-password", "redis/sentinel-password", "sentinels/password")
    before = [(keys / name).read_bytes() for name in names]
    make_keys(floor, keys, "--renew", "redis")
    assert [(keys / name).read_bytes() for name in names] == before
    assert len(set(before)) == 3
    users = (keys / "redis" / "users.acl").read_text()
    assert "user pitlink-replica on resetchannels -@all +psync +replconf +ping #" in users
    assert "user pitlink-sentinel on allchannels -@all " in users
    for password in before:
        assert password.decode().strip() not in users
    make_keys(write_floor(floor, "rediss://localhost:6379/0"), keys)
    assert "pitlink-replica" not in (keys / "redis" / "users.acl").read_text()


def test_services_get_the_password_of_the_sentinels(keys: Path, machine: Machine) -> None:
    for parts in (["services"], ["service.1"]):
        done = invoke_pitlink("install-keys", str(keys), *parts, "--root", str(machine.root))
        assert done.returncode == 0, done.stderr
        home = machine.path("etc/pitlink/keys")
        assert (home / "sentinels/password").read_bytes() == (
            keys / "sentinels/password"
        ).read_bytes()
        shutil.rmtree(home)


def test_options_go_together(machine: Machine) -> None:
    for options, said in (
        (("--redis", "10.0.0.8"), "give both"),
        (("--redis", "10.0.0.8", "--primary", "10.0.0.8", "--table", "A-1"), "give one"),
        (("--redis", "10.0.0.8", "--primary", "10.0.0.8", "--host", "a.pit"), "--host: only for"),
        (("--table", "A-1", "--name", "Oak"), "--name: only for the machine of the services"),
    ):
        done = machine.setup(*options)
        assert done.returncode == 2
        assert said in done.stderr
    done = machine.setup("--redis", "10.0.0.8", "--primary", "10.0.0.8")
    assert done.returncode == 1
    assert "floor.toml: install the floor first with `pitlink setup`" in done.stderr


def test_an_address_of_another_machine_is_refused() -> None:
    units.check_address("127.0.0.1")
    with pytest.raises(UserError, match=r"198\.51\.100\.1 is not an address of this machine"):
        units.check_address("198.51.100.1")
