"""The commands that use a floor file: exit statuses and messages, never a traceback."""

import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Final

import httpx
import pytest
from redis import Redis

import bonus.law.games
from bonus.errors import UserError
from meters.floor.floor_file import read_floor
from meters.restore.outboxes import read_outboxes
from tests.floor.example import FLOOR, SHIPPED
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text
from tests.keys.floor import make_keys, write_floor
from tests.processes import invoke_pitlink, run_pitlink
from tests.servers import Mosquitto, Pitlink, RedisServer, eventually, free_port

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
    address = f"{shared_redis_server.url}?db=12"
    with Redis.from_url(address) as redis:
        redis.flushdb()
    return floor_file(tmp_path, broker=shared_mosquitto.url, redis=address)


def check(path: str, status: int, line: str) -> str:
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
            *("ok    redis version", "ok    services", "ok    schema of the users"),
            *("ok    operators' log", "ok    schema of one", "warn  configuration of one"),
            *("ok    data of one", "ok    schema of two", "warn  configuration of two"),
            *("ok    data of two", "ok    archive of one", "ok    archive of two", "ok    broker"),
        ]
        assert "the table offers no ante: choose its ante_bonus of 649a.12(b) under" in done.stdout

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
            assert re.search("nothing listens|refused|Connect call failed", check(path, 1, part))

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
        assert "the broker refuses an event of 16,384 bytes, the longest possible" in found

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

    @pytest.mark.parametrize("command", ["check", "serve", "audit", "table T-1 --events"])
    def test_no_floor(self, tmp_path: Path, command: str) -> None:
        """A missing file gives status 1. No file argument is wrong usage, status 2."""
        done = invoke_pitlink(*command.split(), "--config", str(tmp_path / "none.toml"))
        assert done.returncode == 1
        assert (
            done.stderr == f"pitlink: {tmp_path}/none.toml: there is no such file: check its path\n"
        )
        done = invoke_pitlink(*command.split())
        assert done.returncode == 2
        assert "--config" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_table_that_the_floor_has_not(self, tmp_path: Path) -> None:
        path = floor_file(tmp_path, broker=BROKER, redis=REDIS)
        done = invoke_pitlink("table", "T-9", "--config", path, "--events")
        assert done.returncode == 1
        assert (
            done.stderr == f"pitlink: {path}: there is no table T-9: it is one of T-1, T-2, T-3\n"
        )

    @pytest.mark.parametrize("arguments", [("dance",), ("check", "--dance"), ("audit", "more")])
    def test_wrong_usage(self, arguments: tuple[str, ...]) -> None:
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
    "restore --by A", "serve", "status --once", "table TCP-01 --panel", "user list",
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


PIN = "730482"


def _floor(**service: Value) -> str:
    usual: dict[str, Value] = {
        "broker": "embedded",
        "redis": "embedded",
        "http": f"127.0.0.1:{free_port()}",
        "data": "kept",
    }
    return floor_text(
        link_text(
            "main", meter_text("progressive"), table_text("T-1", "progressive", asset="1"),
            name="Main",
        ),
        section_text("[archive]", directory="days"),
        section_text("[signage]", logo="logo.svg"),
        service=usual | service,
        name="Keystone",
    )  # fmt: skip


_LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
READING = [
    ("audit",),
    ("audit", "--json"),
    ("report", "day"),
    ("report", "jackpots", "--csv", "-"),
    ("archive",),
    ("restore", "--by", "T. Garcia", "--yes"),
    ("user", "list"),
    ("user", "disable", "Ada"),
    ("approve", "main", "--by", "Ada"),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "house"
    home.mkdir()
    (home / "floor.toml").write_text(_floor())
    (home / "logo.svg").write_text(_LOGO)
    return home


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere"
    path.mkdir()
    return path


def test_every_path_is_the_floor_files(
    home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds in any directory of a command, and however it names the floor file."""
    tls = "rediss://pit@h:6380/0?ssl_ca_certs=ca%20s.pem&ssl_keyfile=/etc/r.key"
    text = _floor(redis=tls, keys="keys", certificate="tls/pit.pem", private_key="/etc/pit.key")
    (home / "floor.toml").write_text(text)
    monkeypatch.chdir(elsewhere)
    found = [read_floor(Path("../house/floor.toml")), read_floor(home / "floor.toml")]
    monkeypatch.chdir(home)
    found.append(read_floor(Path("floor.toml")))
    for floor in found:
        service = floor.service
        places = [service.data, service.keys, service.certificate, floor.archive.directory]
        places.append(floor.signage.logo)
        for place, below in zip(
            places, ("kept", "keys", "tls/pit.pem", "days", "logo.svg"), strict=True
        ):
            assert place is not None
            assert Path(place).is_absolute()
            assert Path(os.path.normpath(place)) == home / below
        assert service.private_key == "/etc/pit.key"
        name, _, options = service.redis.partition("?")
        assert name == "rediss://pit@h:6380/0"
        assert options.endswith("house/ca%20s.pem&ssl_keyfile=/etc/r.key")


@pytest.mark.slow
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_store_that_was_never_opened_is_reported_and_not_created(
    home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(elsewhere)
    done = invoke_pitlink(*command, "--config", str(home / "floor.toml"), stdin=f"{PIN}\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the Redis in {home / 'kept'} was never opened" in done.stderr
    assert sorted(path.name for path in home.iterdir()) == ["floor.toml", "logo.svg"]
    assert list(elsewhere.iterdir()) == []


@pytest.mark.slow
def test_restore_takes_an_empty_archive_for_none(home: Path) -> None:
    """`pitlink archive` creates the directory even if it finds no store."""
    (home / "days").mkdir()
    done = invoke_pitlink("restore", "--by", "T", "--yes", "--config", str(home / "floor.toml"))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the Redis in {home / 'kept'} was never opened" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", READING[:5], ids=" ".join)
def test_a_store_that_has_users_alone_has_no_books_to_read(
    home: Path, elsewhere: Path, command: tuple[str, ...]
) -> None:
    """Its first user creates it, before the first `pitlink serve`, and the message says where."""
    config = str(home / "floor.toml")
    ada = ("user", "add", "Ada", "--role", "administrator", "--config", config)
    added = run_pitlink(*ada, stdin=f"{PIN}\n", cwd=elsewhere)
    assert (added.returncode, added.stderr) == (0, "")
    assert f"the Redis in {home / 'kept'} is new: this is its first user" in added.stdout
    done = run_pitlink(*command, "--config", config, cwd=elsewhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the Redis in {home / 'kept'} was never opened" in done.stderr
    assert list(elsewhere.iterdir()) == []


@pytest.mark.slow
def test_commands_from_anywhere_work_on_the_store_of_the_service(
    home: Path, elsewhere: Path, tmp_path: Path
) -> None:
    """Data added from one directory is found from another. Nothing is left in either."""
    config = str(home / "floor.toml")
    ada = ("user", "add", "Ada", "--role", "administrator")
    assert run_pitlink(*ada, "--config", config, stdin=f"{PIN}\n", cwd=elsewhere).returncode == 0
    address = f"http://{read_floor(Path(config)).service.http}"
    with Pitlink("serve", "--config", "house/floor.toml", cwd=tmp_path) as service:
        service.until(lambda: httpx.get(f"{address}/readyz").is_success, what="it is ready")
        assert service.stop() == 0
    audited = run_pitlink("audit", "--json", "--config", config, cwd=elsewhere)
    assert audited.returncode == 0, audited.stderr
    found = json.loads(audited.stdout)
    assert found["balanced"]
    assert found["entries"] > 0
    assert found["unmarked"] == []
    users = run_pitlink("user", "list", "--json", "--config", "floor.toml", cwd=home)
    assert [row["name"] for row in json.loads(users.stdout)] == ["Ada"]
    flo = ("user", "add", "Flo", "--role", "floorperson", "--config", config)
    assert "is new" not in run_pitlink(*flo, stdin=f"{PIN}\n", cwd=elsewhere).stdout
    assert list(elsewhere.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "house"]


NOWHERE: Final = "127.0.0.1:9"


def _make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


DAMAGES: Final[dict[str, Callable[[Path], object]]] = {
    "missing": Path.unlink, "a directory": _make_directory, "empty": _write(b""),
    "not UTF-8": _write(b"\xff\xfe\x00\xff"), "other text": _write(b"[facility\n"),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "deep": _write(b"[" * 200_000),
}  # fmt: skip
READ_BY: Final = {
    "floor.toml": ("check", "audit", "archive", "submit", "odds", "keys", "user"),
    "logo.svg": ("check",),
    "keys/services/1/service.crt": ("audit", "user"),
    "keys/services/1/service.key": ("audit", "user"),
    "keys/archive/archive.crt": ("archive",),
    "keys/authority/ca.crt": ("keys",),
}
"""Every file that is read before a server is asked, and commands that read it."""
MORE: Final = {
    "user": ("list",), "submit": ("--out", "filing"), "keys": ("--out", "keys"),
    "archive": (), "check": (), "audit": (), "odds": (),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    house = tmp_path_factory.mktemp("whole")
    config = write_floor(
        house / "floor.toml", broker=f"mqtts://{NOWHERE}", redis=f"rediss://{NOWHERE}/0",
        keys=Path("keys"), data=Path("data"),
    )  # fmt: skip
    config.write_text(f'{config.read_text()}\n[signage]\nlogo = "logo.svg"\n')
    shutil.copytree(str(files("bonus.law").joinpath("chapters")), house / "law" / "chapters")
    (house / "logo.svg").write_text(_LOGO)
    make_keys(config, house / "keys")
    return house


def _words(command: str, house: Path) -> list[str]:
    more = [str(house / "keys") if word == "keys" else word for word in MORE[command]]
    if command == "submit":
        more[1] = str(house / "filing")
    words = [command, "--config", str(house / "floor.toml")]
    return [command, *more, *words[1:]] if command == "user" else [*words, *more]


@pytest.fixture
def house(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    house = shutil.copytree(whole, tmp_path / "house")
    monkeypatch.setattr(bonus.law.games, "files", lambda _: house / "law")
    _forget_chapters()
    yield house
    _forget_chapters()


def _forget_chapters() -> None:
    for cached in (bonus.law.games.load_chapter, bonus.law.games.chapters):
        cached.cache_clear()


def _run(command: str, house: Path) -> str:
    done = invoke_pitlink(*_words(command, house))
    assert done.returncode == 1, done.stdout
    return done.stdout + done.stderr


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", READ_BY)
def test_a_damaged_file_is_named_without_a_traceback(house: Path, file: str, damage: str) -> None:
    DAMAGES[damage](house / file)
    for command in READ_BY[file]:
        said = _run(command, house)
        assert Path(file).name in said, (command, said)
        assert "Traceback" not in said


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_the_law_is_named_with_what_to_do(house: Path, damage: str) -> None:
    law = house / "law/chapters/649a.toml"
    DAMAGES[damage](law)
    with pytest.raises(UserError, match=rf"{law}: .*install pitlink again"):
        bonus.law.games.load_chapter("649a")


def test_a_wrong_cell_of_the_law_is_named_with_its_line(house: Path) -> None:
    law = house / "law/chapters/649a.toml"
    text, cell = law.read_text(), '"70 for 1"'
    law.write_text(text.replace(cell, '"7,00 for 1"', 1))
    with pytest.raises(UserError, match=rf"{law}.*7,00 for 1.*install pitlink again"):
        bonus.law.games.load_chapter("649a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "was", "becomes", "reason"),
    [
        (command, *change)
        for command in ("check", "serve")
        for change in (
            ('["70 for 1"', '["7,00 for 1"',
             r"/649a\.toml:146: progressive 649a\.12\(e\)\(1\) A: straight_flush: '7,00 for 1' "),
            ('"three_card_poker"', '"four_card_prime"', r": 649a and 682a are both four_card"),
        )
    ],
)  # fmt: skip
def test_a_changed_installation_is_named_by_the_commands_that_start(
    whole: Path, command: str, was: str, becomes: str, reason: str
) -> None:
    """As processes: some modules read chapters while they are imported."""
    with tempfile.TemporaryDirectory() as house:
        shutil.copytree(Path(bonus.law.__path__[0]).parent, f"{house}/bonus")
        law = f"{house}/bonus/law/chapters"
        changed = Path(law, "649a.toml")
        text = changed.read_text()
        assert was in text
        changed.write_text(text.replace(was, becomes, 1))
        config, env = whole / "floor.toml", os.environ | {"PYTHONPATH": house}
        done = run_pitlink(command, "--config", str(config), env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(f"pitlink: {law}{reason}.*install pitlink again", done.stderr), done.stderr
    assert done.stderr.count("\n") == 1, "no traceback"


@pytest.mark.parametrize("damage", [*DAMAGES])
def test_a_damaged_outbox_is_named_by_the_restore(tmp_path: Path, damage: str) -> None:
    outbox = tmp_path / "A-1.sqlite"
    outbox.write_bytes(b"SQLite format 3\0" + bytes(200))
    DAMAGES[damage](outbox)
    paths = [outbox] if damage == "missing" else [tmp_path]
    with pytest.raises(UserError, match=r"A-1\.sqlite"), read_outboxes(paths, "main"):
        pass
