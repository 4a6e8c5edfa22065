"""`pitlink setup --redis`: the files of a Redis server and its sentinel, and what it refuses."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bonus.errors import UserError
from meters.setup import units
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.servers import run_pitlink
from tests.setup.machine import Machine

ADDRESSES: Final = ("10.0.0.8", "10.0.0.9", "10.0.0.10")
SENTINELS: Final = "rediss+sentinel://10.0.0.8,10.0.0.9,10.0.0.10:26380/pit?replicas=2"


def write_floor(path: Path, redis: str) -> Path:
    link = link_text("main", meter_text("progressive"), table_text("A-1", "progressive"))
    path.write_text(floor_text(link, service={"broker": "mqtts://pit.oak:8883", "redis": redis}))
    return path


def make_keys(floor: Path, keys: Path, *options: str) -> None:
    done = run_pitlink(
        "keys", "--config", str(floor), "--out", str(keys),
        "--redis-home", "/etc/redis/pitlink", *options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    return write_floor(tmp_path / "floor.toml", SENTINELS)


@pytest.fixture
def keys(floor: Path) -> Path:
    directory = floor.with_name("keys")
    make_keys(floor, directory)
    return directory


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "root")


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
    assert redis[-2:] == [
        "replicaof 10.0.0.8 6379", "include /etc/redis/pitlink-replicated.conf"
    ]  # fmt: skip
    assert "min-replicas-to-write 2" in lines(machine, "pitlink-replicated.conf")
    assert {
        "sentinel monitor pit 10.0.0.8 6379 2", "sentinel down-after-milliseconds pit 3000",
        "sentinel failover-timeout pit 30000", "sentinel parallel-syncs pit 1", "port 0",
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


def test_what_the_servers_changed_is_left_and_what_a_person_changed_is_not_started(
    floor: Path, keys: Path, machine: Machine
) -> None:
    """Redis and the sentinel write a new primary into their files."""
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    first = machine.contents()
    for name in ("redis.conf", "sentinel.conf"):
        path = machine.path(f"etc/redis/{name}")
        path.write_text(f"{path.read_text().replace('.8 6379', '.10 6379')}\nlatency 1\n")
    before = machine.contents()
    again = install(machine, floor, keys, ADDRESSES[1], ADDRESSES[2])
    assert again.returncode == 0, again.stderr
    assert machine.contents() == before
    # With another primary, both files are written again.
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    assert machine.contents() == first
    path = machine.path("etc/redis/redis.conf")
    path.write_text("port 6379\n")
    refused = install(machine, floor, keys, ADDRESSES[1])
    assert refused.returncode == 1
    assert f"Redis and its sentinel need {path}. Neither was restarted" in refused.stderr
    assert path.read_text() == "port 6379\n"
    path.write_text(path.with_name("redis.conf.pitlink").read_text())
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0


def test_debians_sentinel_has_changed_its_own_file_already(
    floor: Path, keys: Path, machine: Machine
) -> None:
    path = machine.path("etc/redis/sentinel.conf")
    path.parent.mkdir()
    path.write_text("sentinel monitor mymaster 127.0.0.1 6379 2\nsentinel myid 0f\n")
    assert install(machine, floor, keys, ADDRESSES[1]).returncode == 0
    assert "sentinel monitor pit 10.0.0.8 6379 2" in lines(machine, "sentinel.conf")
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
    assert f"this Redis has data of its own ({data}), which a replica deletes" in refused.stderr
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
        done = run_pitlink("install-keys", str(keys), *parts, "--root", str(machine.root))
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
