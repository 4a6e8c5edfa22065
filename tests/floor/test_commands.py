"""The commands that use a floor file: exit statuses and messages, never a traceback."""

import os
import re
import socket
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest
from redis import Redis
from typer.testing import CliRunner

from bonus.errors import UserError
from meters.cli.main import command_line
from tests.floor.example import FLOOR, SHIPPED
from tests.servers import Mosquitto, RedisServer, eventually, free_port, run_pitlink

pytestmark = pytest.mark.slow

COMMANDS: Final = sorted(point.name for point in entry_points(group="pitlink.commands"))
BROKER: Final = "mqtt://pit:s3cret@10.0.0.7:1883"
REDIS: Final = "redis://10.0.0.8:6379/0"


def floor_file(home: Path, *, broker: str, redis: str) -> str:
    path = home / "floor.toml"
    path.write_text(FLOOR.replace(BROKER, broker).replace(REDIS, redis))
    (home / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    return str(path)


@pytest.fixture
def mute_port() -> Iterator[int]:
    """Yield a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


class TestCheck:
    def test_a_good_floor_on_good_parts(
        self, tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
    ) -> None:
        """Status 0 and a line for each check. A table that offers no Ante gets a warning.

        So does a floor file that nobody has approved yet.
        """
        path = floor_file(tmp_path, broker=mosquitto.url, redis=redis_server.url)
        done = run_pitlink("check", "--config", path)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
            "warn  software",
            "ok    floor file",
            "ok    signage",
            "warn  paytables of T-3",
            "ok    return of bonus on one",
            "ok    last audit",
            "ok    last whole audit",
            "ok    last backup",
            "ok    last check of the archive",
            "ok    redis",
            "ok    redis version",
            "ok    services",
            "ok    schema of the people",
            "ok    operators' log",
            "ok    schema of one",
            "warn  configuration of one",
            "ok    data of one",
            "ok    schema of two",
            "warn  configuration of two",
            "ok    data of two",
            "ok    archive of one",
            "ok    archive of two",
            "ok    broker",
        ]
        assert "no ante is offered: no ante_bonus of 649a.12(b) chosen" in done.stdout

    def test_a_logo_that_is_not_there(
        self, tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
    ) -> None:
        path = floor_file(tmp_path, broker=mosquitto.url, redis=redis_server.url)
        (tmp_path / "logo.svg").unlink()
        done = run_pitlink("check", "--config", path)
        assert done.returncode == 1
        assert f"FAIL  signage: the logo {tmp_path / 'logo.svg'} cannot be read" in done.stdout

    def test_parts_that_are_not_there(self, tmp_path: Path) -> None:
        """Status 1. Each part that fails has its line, and the other checks still run."""
        path = floor_file(
            tmp_path,
            broker=f"mqtt://pit:s3cret@127.0.0.1:{free_port()}",
            redis=f"redis://127.0.0.1:{free_port()}",
        )
        done = run_pitlink("check", "--config", path)
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
        assert done.returncode == 1
        assert [line.split(":")[0] for line in failed] == ["FAIL  redis", "FAIL  broker"]
        assert all("refused" in line or "Connect call failed" in line for line in failed)
        assert "s3cret" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("part", ["broker", "redis"])
    def test_a_part_that_says_nothing(self, tmp_path: Path, mute_port: int, part: str) -> None:
        """The check of this part ends after a few seconds."""
        urls = {
            "broker": f"mqtt://127.0.0.1:{free_port()}",
            "redis": f"redis://127.0.0.1:{free_port()}",
        }
        urls[part] = f"{urls[part].split(':')[0]}://127.0.0.1:{mute_port}"
        done = run_pitlink("check", "--config", floor_file(tmp_path, **urls))
        assert done.returncode == 1
        (line,) = [one for one in done.stdout.splitlines() if one.startswith(f"FAIL  {part}")]
        assert {"broker": "has not answered within", "redis": "no answer within 5"}[part] in line

    @pytest.mark.parametrize("limit", ["message_size_limit", "max_packet_size"])
    def test_a_broker_that_refuses_the_longest_event(
        self, tmp_path: Path, redis_server: RedisServer, limit: str
    ) -> None:
        """Short events would pass, so only a round with many wagers would show it."""
        with Mosquitto(options=[f"{limit} 16000"]) as broker:
            path = floor_file(tmp_path, broker=broker.url, redis=redis_server.url)
            done = run_pitlink("check", "--config", path)
        assert done.returncode == 1
        (line,) = [one for one in done.stdout.splitlines() if one.startswith("FAIL")]
        assert line.startswith("FAIL  broker: ")
        assert "the broker refuses an event of 16,384 bytes, the longest one" in line

    def test_a_redis_that_may_lose_writes(self, tmp_path: Path, mosquitto: Mosquitto) -> None:
        """The message names the setting to change."""
        options = {"appendfsync": "everysec", "maxmemory-policy": "allkeys-lru"}
        with RedisServer(options=options) as redis_server:
            path = floor_file(tmp_path, broker=mosquitto.url, redis=redis_server.url)
            done = run_pitlink("check", "--config", path)
        assert done.returncode == 1
        (line,) = [one for one in done.stdout.splitlines() if one.startswith("FAIL")]
        assert "appendfsync everysec; it must be always" in line
        assert "maxmemory-policy allkeys-lru; it must be noeviction" in line

    def test_a_redis_that_refuses_writes(self, tmp_path: Path, mosquitto: Mosquitto) -> None:
        """Its settings are right and it answers every read, so only a write shows it."""
        with RedisServer() as server, Redis.from_url(server.url) as redis:
            path = floor_file(tmp_path, broker=mosquitto.url, redis=server.url)

            def found() -> tuple[int, str]:
                done = run_pitlink("check", "--config", path)
                (line,) = [one for one in done.stdout.splitlines() if " redis: " in one]
                return done.returncode, line

            redis.config_set("min-replicas-to-write", 1)
            status, line = found()
            assert status == 1
            assert line.startswith("FAIL  redis: Redis refuses writes: it has fewer replicas")
            redis.config_set("min-replicas-to-write", 0)
            redis.config_set("maxmemory", 1)
            status, line = found()
            assert status == 1
            assert line.startswith("FAIL  redis: Redis refuses writes: its memory is full")
            redis.config_set("maxmemory", 0)
            assert found() == (0, "ok    redis: keeps every write")
            redis.config_set("save", "3600 1")
            (server.home / "dump.rdb").mkdir()
            redis.bgsave()
            eventually(lambda: not redis.info("persistence")["rdb_bgsave_in_progress"])
            status, line = found()
            assert status == 1
            assert line.startswith("FAIL  redis: Redis refuses writes: its last snapshot")

    def test_a_redis_that_will_refuse_writes_is_a_warning(
        self, tmp_path: Path, mosquitto: Mosquitto
    ) -> None:
        with RedisServer(options={"save": "3600 1"}) as server, Redis.from_url(server.url) as redis:
            path = floor_file(tmp_path, broker=mosquitto.url, redis=server.url)
            redis.setrange("of-this-test", 40_000_000, "1")
            redis.config_set("maxmemory", "48mb")
            done = run_pitlink("check", "--config", path)
        assert done.returncode == 0
        (line,) = [one for one in done.stdout.splitlines() if "disk and memory of redis" in one]
        assert line.startswith("warn  ")
        assert "it makes snapshots, and refuses writes when one fails" in line
        assert " % of its maxmemory is used" in line

    @pytest.mark.reading("T19")
    def test_a_bonus_that_gives_back_more_than_is_wagered_is_a_warning(
        self, tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
    ) -> None:
        """It prevents nothing: status 0."""
        path = Path(floor_file(tmp_path, broker=mosquitto.url, redis=redis_server.url))
        path.write_text(path.read_text().replace("_every = 24", "_every = 1"))
        done = run_pitlink("check", "--config", str(path))
        assert done.returncode == 0
        (line,) = [one for one in done.stdout.splitlines() if one.startswith("warn  return")]
        assert "the house loses, so draw less often" in line

    def test_the_shipped_example_is_a_good_floor(
        self, tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
    ) -> None:
        """The servers of the example are embedded, so the test leaves them out."""
        text = SHIPPED.read_text().replace('"embedded"  ', f'"{mosquitto.url}"  ', 1)
        text = text.replace('"embedded"  ', f'"{redis_server.url}"  ', 1)
        path = tmp_path / "floor.toml"
        path.write_text(text)
        done = run_pitlink("check", "--config", str(path))
        assert (done.returncode, done.stderr) == (0, "")
        assert f"answers at 127.0.0.1:{mosquitto.port}" in done.stdout


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
        done = run_pitlink(*arguments, "--config", str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"pitlink: {path}:18: wager is in cents, a whole number without quotes or point:"
            " $1 is 100\n"
        )

    @pytest.mark.parametrize("command", ["check", "serve", "audit"])
    def test_no_floor(self, tmp_path: Path, command: str) -> None:
        """A missing file gives status 1. No file argument is wrong usage, status 2."""
        done = run_pitlink(command, "--config", str(tmp_path / "none.toml"))
        assert done.returncode == 1
        assert (
            done.stderr
            == f"pitlink: {tmp_path}/none.toml: cannot be read: No such file or directory\n"
        )
        done = run_pitlink(command)
        assert done.returncode == 2
        assert "--config" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_table_that_the_floor_has_not(self, tmp_path: Path) -> None:
        """The message says so."""
        path = floor_file(tmp_path, broker=BROKER, redis=REDIS)
        done = run_pitlink("table", "T-9", "--config", path, "--events")
        assert done.returncode == 1
        assert done.stderr == f"pitlink: {path}: there is no table T-9\n"

    @pytest.mark.parametrize("arguments", [("dance",), ("check", "--dance"), ("audit", "more")])
    def test_wrong_usage(self, arguments: tuple[str, ...]) -> None:
        """Status 2, and the usage."""
        done = run_pitlink(*arguments)
        assert done.returncode == 2
        assert "Usage: pitlink" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("command", [*COMMANDS, ""])
    def test_help(self, command: str) -> None:
        """Every command has a `--help` that says what it does."""
        done = run_pitlink(*command.split(), "--help")
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
    name, *rest = command.split()
    done = CliRunner().invoke(command_line([name]), [name, *rest, "--config", str(config)])
    assert isinstance(done.exception, UserError), done.output
    assert "runuser -u nobody -- pitlink" in str(done.exception)
    assert list((tmp_path / "data").iterdir()) == []


def test_the_contract_s_commands_are_all_there() -> None:
    """`odds` belongs to a later part."""
    assert set(COMMANDS) >= {"audit", "check", "demo", "serve", "settle", "table"}
