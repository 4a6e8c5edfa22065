"""Paths in a floor file, and commands that run in another directory."""

import json
import os
from pathlib import Path

import httpx
import pytest

from bonus.errors import UserError
from meters.floor.floor_file import read_floor
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text
from tests.processes import invoke_pitlink
from tests.servers import Pitlink, free_port, run_pitlink

PIN = "730482"


def _floor(**service: Value) -> str:
    """Return a floor file whose paths are relative."""
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
    ("upgrade", "--yes"),
    ("user", "list"),
    ("user", "disable", "Ada"),
    ("approve", "main", "--by", "Ada"),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the directory of a floor file with relative paths."""
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


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["marks/main.ledger-mark.json", "tables/T-1.sqlite"])
@pytest.mark.parametrize("command", ["serve", "audit"])
def test_data_that_an_earlier_release_kept_elsewhere_is_not_passed_over(
    home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, kept: str, command: str
) -> None:
    """The earlier release used `data` in the current directory. No new directory replaces it."""
    before = elsewhere / "kept" / kept
    before.parent.mkdir(parents=True)
    before.write_text("")
    monkeypatch.chdir(elsewhere)
    done = invoke_pitlink(command, "--config", str(home / "floor.toml"))
    assert done.returncode == 1
    assert str(home / "kept") in done.stderr
    assert f'data = "{elsewhere / "kept"}"' in done.stderr
    assert not (home / "kept").exists()


def test_another_floors_data_is_left_alone(
    home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data of an earlier release is left alone too, once the floor file has its own."""
    other = elsewhere / "kept/marks/other.ledger-mark.json"
    other.parent.mkdir(parents=True)
    other.write_text("")
    monkeypatch.chdir(elsewhere)
    read_floor(home / "floor.toml")
    (elsewhere / "kept/marks/main.ledger-mark.json").write_text("")
    with pytest.raises(UserError, match="move that directory"):
        read_floor(home / "floor.toml")
    (home / "kept/marks").mkdir(parents=True)
    (home / "kept/marks/main.ledger-mark.json").write_text("")
    read_floor(home / "floor.toml")
