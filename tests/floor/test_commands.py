"""The commands that use a floor file: exit statuses and messages, never a traceback."""

import os
import re
import socket
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest
from redis import Redis

from tests.floor.example import FLOOR, SHIPPED
from tests.processes import invoke_pitlink
from tests.servers import Mosquitto, RedisServer, eventually, free_port

COMMANDS: Final = sorted(point.name for point in entry_points(group="pitlink.commands"))
BROKER: Final = "mqtt://pit:s3cret@10.0.0.7:1883"
REDIS: Final = "redis://10.0.0.8:6379/0"


def floor_file(home: Path, *, broker: str, redis: str) -> str:
    path = home / "floor.toml"
    path.write_text(FLOOR.replace(BROKER, broker).replace(REDIS, redis))
    (home / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    return str(path)


@pytest.fixture
def floor(tmp_path: Path, shared_redis_server: RedisServer, shared_mosquitto: Mosquitto) -> str:
    """Return a good floor file, with an empty database of the worker's Redis."""
    address = f"{shared_redis_server.url}?db=12"
    with Redis.from_url(address) as redis:
        redis.flushdb()
    return floor_file(tmp_path, broker=shared_mosquitto.url, redis=address)


def check(path: str, status: int, line: str) -> str:
    """Check a floor; return the one line of the output that begins with some words."""
    done = invoke_pitlink("check", "--config", path)
    assert done.returncode == status, done.stdout
    assert "s3cret" not in done.stdout + done.stderr
    found = [one for one in done.stdout.splitlines() if one.startswith(line)]
    assert len(found) == 1, f"one line with {line!r}: {done.stdout}"
    return found[0]


@pytest.mark.slow
class TestCheck:
    def test_a_good_floor_on_good_parts(self, floor: str) -> None:
        """A table that offers no Ante gets a warning, and a file that nobody approved."""
        done = invoke_pitlink("check", "--config", floor)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
            *("warn  software", "ok    floor file", "ok    signage", "warn  paytables of T-3"),
            *("ok    return of bonus on one", "ok    last audit", "ok    last whole audit"),
            *("ok    last backup", "ok    last check of the archive", "ok    redis"),
            *("ok    redis version", "ok    services", "ok    schema of the people"),
            *("ok    operators' log", "ok    schema of one", "warn  configuration of one"),
            *("ok    data of one", "ok    schema of two", "warn  configuration of two"),
            *("ok    data of two", "ok    archive of one", "ok    archive of two", "ok    broker"),
        ]
        assert "no ante is offered: no ante_bonus of 649a.12(b) chosen" in done.stdout

    def test_a_logo_that_is_not_there(self, floor: str) -> None:
        logo = Path(floor).with_name("logo.svg")
        logo.unlink()
        assert f"the logo {logo} cannot be read" in check(floor, 1, "FAIL  signage")

    def test_parts_that_are_not_there(self, tmp_path: Path) -> None:
        """Each part that fails has its line, and the other checks still run."""
        path = floor_file(
            tmp_path,
            broker=f"mqtt://pit:s3cret@127.0.0.1:{free_port()}",
            redis=f"redis://127.0.0.1:{free_port()}",
        )
        for part in ("FAIL  redis: ", "FAIL  broker: "):
            assert re.search("refused|Connect call failed", check(path, 1, part))

    @pytest.mark.parametrize(
        ("part", "said"), [("broker", "has not answered within"), ("redis", "no answer within 5")]
    )
    def test_a_part_that_says_nothing(self, tmp_path: Path, part: str, said: str) -> None:
        """The check of this part ends after a few seconds."""
        with socket.create_server(("127.0.0.1", 0)) as mute:
            ports = {"broker": free_port(), "redis": free_port()} | {part: mute.getsockname()[1]}
            path = floor_file(
                tmp_path,
                broker=f"mqtt://127.0.0.1:{ports['broker']}",
                redis=f"redis://127.0.0.1:{ports['redis']}",
            )
            assert said in check(path, 1, f"FAIL  {part}: ")

    @pytest.mark.parametrize("limit", ["message_size_limit", "max_packet_size"])
    def test_a_broker_that_refuses_the_longest_event(
        self, tmp_path: Path, shared_redis_server: RedisServer, limit: str
    ) -> None:
        """Short events would pass, so only a round with many wagers would show it."""
        with Mosquitto(options=[f"{limit} 16000"]) as broker:
            path = floor_file(tmp_path, broker=broker.url, redis=shared_redis_server.url)
            found = check(path, 1, "FAIL")
        assert found.startswith("FAIL  broker: ")
        assert "the broker refuses an event of 16,384 bytes, the longest one" in found

    def test_a_redis_that_may_lose_or_refuses_writes(
        self, tmp_path: Path, shared_mosquitto: Mosquitto
    ) -> None:
        """It answers every read. The message names the setting, or the reason of the refusal."""
        options = {"appendfsync": "everysec", "maxmemory-policy": "allkeys-lru"}
        with RedisServer(options=options) as server, Redis.from_url(server.url) as redis:
            path = floor_file(tmp_path, broker=shared_mosquitto.url, redis=server.url)
            found = check(path, 1, "FAIL")
            assert "appendfsync everysec; it must be always" in found
            assert "maxmemory-policy allkeys-lru; it must be noeviction" in found
            redis.config_set("appendfsync", "always")
            redis.config_set("maxmemory-policy", "noeviction")
            refuses = "FAIL  redis: Redis refuses writes: "
            redis.config_set("min-replicas-to-write", 1)
            assert "it has fewer replicas" in check(path, 1, refuses)
            redis.config_set("min-replicas-to-write", 0)
            redis.config_set("maxmemory", 1)
            assert "its memory is full" in check(path, 1, refuses)
            redis.config_set("maxmemory", 0)
            assert check(path, 0, "ok    redis:") == "ok    redis: keeps every write"
            redis.config_set("save", "3600 1")
            redis.setrange("of-this-test", 40_000_000, "1")
            redis.config_set("maxmemory", "48mb")
            found = check(path, 0, "warn  disk and memory of redis")
            assert "it makes snapshots, and refuses writes when one fails" in found
            assert " % of its maxmemory is used" in found
            (server.home / "dump.rdb").mkdir()
            redis.bgsave()
            eventually(lambda: not redis.info("persistence")["rdb_bgsave_in_progress"])
            assert "its last snapshot" in check(path, 1, refuses)

    @pytest.mark.reading("T19")
    def test_a_bonus_that_gives_back_more_than_is_wagered_is_a_warning(self, floor: str) -> None:
        """It prevents nothing: status 0."""
        path = Path(floor)
        path.write_text(path.read_text().replace("_every = 24", "_every = 1"))
        assert "the house loses, so draw less often" in check(floor, 0, "warn  return")

    def test_the_shipped_example_is_a_good_floor(
        self, floor: str, shared_redis_server: RedisServer, shared_mosquitto: Mosquitto
    ) -> None:
        """The servers of the example are embedded, so the test leaves them out."""
        text = SHIPPED.read_text()
        for address in (shared_mosquitto.url, f"{shared_redis_server.url}?db=12"):
            text = text.replace('"embedded"  ', f'"{address}"  ', 1)
        Path(floor).write_text(text)
        found = check(floor, 0, "ok    broker")
        assert f"answers at 127.0.0.1:{shared_mosquitto.port}" in found


class TestUsers:
    @pytest.mark.parametrize(
        "arguments",
        [("check",), ("serve",), ("audit",), ("audit", "--json"), ("table", "T-1", "--events")],
        ids=" ".join,
    )
    def test_a_bad_floor_is_refused_by_every_command(
        self, tmp_path: Path, arguments: tuple[str, ...]
    ) -> None:
        """Status 1, and one line with place and reason."""
        path = tmp_path / "floor.toml"
        path.write_text(FLOOR.replace("wager = 100", "wager = 1.00", 1))
        done = invoke_pitlink(*arguments, "--config", str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"pitlink: {path}:18: wager is in cents, a whole number without quotes or point:"
            " $1 is 100\n"
        )

    @pytest.mark.parametrize("command", ["check", "serve", "audit"])
    def test_no_floor(self, tmp_path: Path, command: str) -> None:
        """A missing file gives status 1. No file argument is wrong usage, status 2."""
        done = invoke_pitlink(command, "--config", str(tmp_path / "none.toml"))
        assert done.returncode == 1
        assert (
            done.stderr
            == f"pitlink: {tmp_path}/none.toml: cannot be read: No such file or directory\n"
        )
        done = invoke_pitlink(command)
        assert done.returncode == 2
        assert "--config" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_table_that_the_floor_has_not(self, tmp_path: Path) -> None:
        path = floor_file(tmp_path, broker=BROKER, redis=REDIS)
        done = invoke_pitlink("table", "T-9", "--config", path, "--events")
        assert done.returncode == 1
        assert done.stderr == f"pitlink: {path}: there is no table T-9\n"

    @pytest.mark.parametrize("arguments", [("dance",), ("check", "--dance"), ("audit", "more")])
    def test_wrong_usage(self, arguments: tuple[str, ...]) -> None:
        """Status 2, and the usage."""
        done = invoke_pitlink(*arguments)
        assert done.returncode == 2
        assert "Usage: pitlink" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("command", [*COMMANDS, ""])
    def test_help(self, command: str) -> None:
        done = invoke_pitlink(*command.split(), "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Usage: pitlink {command}".rstrip() in done.stdout
        assert "not available here" not in done.stdout
        assert len(done.stdout.splitlines()) > 5


_ON_DATA: Final = (
    "approve tcp-main --by A", "archive", "audit", "bots", "check", "report day 2026-11-20",
    "restore --by A", "serve", "status --once", "table TCP-01 --panel", "upgrade", "user list",
)  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read what others may not")
@pytest.mark.parametrize("command", _ON_DATA)
def test_root_does_not_work_on_the_data_of_another_account(tmp_path: Path, command: str) -> None:
    """With `last-audit.PID.new` as a link, an audit of root gave any file of root away."""
    text = re.sub(r"^data = .*$", f'data = "{tmp_path / "data"}"', FLOOR, flags=re.MULTILINE)
    assert text != FLOOR
    config = tmp_path / "floor.toml"
    config.write_text(text)
    (tmp_path / "data").mkdir()
    os.chown(tmp_path / "data", 65_534, 65_534)
    words = [*command.split(), "--config", str(config)]
    assert "runuser -u nobody -- pitlink" in invoke_pitlink(*words).stderr
    assert list((tmp_path / "data").iterdir()) == []


def test_the_contract_s_commands_are_all_there() -> None:
    """`odds` belongs to a later part."""
    assert set(COMMANDS) >= {"audit", "check", "demo", "serve", "settle", "table"}
