"""The scripts for steps in which people easily err: installing keys, and copying the store."""

import contextlib
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

import pytest
import redis

from controllers.agent.outbox import Outbox
from meters.books.audit_notes import BACKUP_NOTE
from tests.deploy.tree import DEPLOY
from tests.keys.floor import write_floor
from tests.servers import RedisServer, run_pitlink

SCRIPTS: Final = ("backup", "pin-images", "put-keys", "up", "container/make-keys")


def run(name: str, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DEPLOY / name, *arguments],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **env},
    )  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_run_and_stops_at_the_first_error(name: str) -> None:
    path = DEPLOY / name
    text = path.read_text()
    assert "\nset -eu" in text
    assert os.access(path, os.X_OK)
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0


@pytest.mark.duty("D11")
def test_a_copy_made_under_load_is_a_store_of_its_own(tmp_path: Path) -> None:
    """Redis starts on the copy, which holds everything that was written before it was made."""
    with RedisServer() as store:
        client = redis.Redis(unix_socket_path=str(store.socket_path))
        for number in range(300):
            client.xadd("ledger", {"number": number})
        tables = tmp_path / "data" / "tables"
        Outbox.open(tables / "TCP-01.sqlite", "one", "TCP-01").close()
        with contextlib.closing(Outbox.open(tables / "TCP-02.sqlite", "one", "TCP-02")):
            (tmp_path / "files" / "one").mkdir(parents=True)
            (tmp_path / "files" / "one" / "2026-11-20.jsonl.zst").write_text("closed\n")
            places = ("--redis", store.home, "--data", tables.parent)
            done = run("backup", tmp_path / "copies", *places, "--archive", tmp_path / "files")
        client.close()
    assert done.returncode == 0, done.stderr
    assert "not the outbox of TCP-02: its agent runs" in done.stdout
    assert (tables.parent / BACKUP_NOTE).exists(), "the alert PitlinkBackupLate goes by it"
    assert f"no marks in {tables.parent}" in done.stdout
    (copy,) = (tmp_path / "copies").iterdir()
    assert (copy / "archive" / "one" / "2026-11-20.jsonl.zst").read_text() == "closed\n"
    assert (copy / "outboxes" / "TCP-01.sqlite").stat().st_size > 0
    with RedisServer(options={"dir": str(copy)}) as restored:
        client = redis.Redis(unix_socket_path=str(restored.socket_path))
        assert client.xlen("ledger") == 300
        client.close()


def test_it_reports_that_there_is_nothing_to_copy(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "none")
    done = run("backup", tmp_path, "--redis", nowhere, "--data", nowhere, "--tables", nowhere)
    assert done.returncode == 1
    assert "no archive in" in done.stdout
    assert "neither append-only files nor outboxes" in done.stderr
    data = tmp_path / "data"
    Outbox.open(data / "tables" / "TCP-01.sqlite", "one", "TCP-01").close()
    done = run("backup", data, "--redis", nowhere, "--data", data, "--tables", nowhere)
    assert done.returncode == 0, done.stderr
    assert not (data / BACKUP_NOTE).exists(), "a table's machine has not copied the books"
    assert run("backup").returncode == 2
    assert run("backup", "--redis").returncode == 2


@pytest.fixture
def as_root(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which root replaces users that this machine does not have."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    tools = tmp_path / "tools"
    tools.mkdir()
    texts = (
        ("id", "echo 0"),
        ("chown", ""),
        ("install", 'for place; do :; done\nmkdir -p "$place" && chmod 700 "$place"'),
    )
    for name, text in texts:
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    return {"PITLINK_ROOT": str(tmp_path / "root"), "PATH": f"{tools}:{os.environ['PATH']}"}


@pytest.mark.duty("D20")
def test_keys_go_to_their_places_and_nobody_else_reads_them(
    tmp_path: Path, as_root: dict[str, str]
) -> None:
    """After a second run nothing from before remains."""
    keys, root, env = tmp_path / "keys", tmp_path / "root", as_root
    config = write_floor(tmp_path / "floor.toml")
    made = run_pitlink("keys", "--config", str(config), "--out", str(keys))
    assert made.returncode == 0, made.stderr
    for _ in range(2):
        done = run("put-keys", keys, **env)
        assert (done.returncode, done.stderr) == (0, "")
        (root / "etc/mosquitto/pitlink/left-over").touch()
    assert run("put-keys", keys, "broker", **env).returncode == 0
    there = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert {
        "etc/mosquitto/pitlink/acl", "etc/redis/pitlink/users.acl",
        "etc/pitlink/keys/services/1/service.key", "etc/pitlink/keys/check/check.crt",
        "etc/pitlink/keys/display/password", "etc/pitlink/keys/archive/redis-password",
        "etc/pitlink/keys/tables/main.A-1/table.key",
    } <= there  # fmt: skip
    assert not [name for name in there if "left-over" in name or name.endswith("ca.key")]
    for name in there:
        assert stat.S_IMODE((root / name).stat().st_mode) == 0o600
    wrong = run("put-keys", keys, "A-9", **env)
    assert (wrong.returncode, "nobody is called A-9" in wrong.stderr) == (1, True)
    assert "no directory of keys" in run("put-keys", tmp_path, **env).stderr


@pytest.mark.duty("D20")
def test_a_table_that_moved_gets_the_bundle_of_its_link(
    tmp_path: Path, as_root: dict[str, str]
) -> None:
    """Of two bundles the script installs neither: only the floor file says which one is right."""
    keys, placed = tmp_path / "keys", tmp_path / "root/etc/pitlink/keys/tables"
    config = write_floor(tmp_path / "floor.toml")
    assert run_pitlink("keys", "--config", str(config), "--out", str(keys)).returncode == 0
    assert run("put-keys", keys, "A-1", **as_root).returncode == 0
    shutil.copytree(keys / "tables" / "main.A-1", keys / "tables" / "high.A-1")
    for names in (("A-1",), ()):
        done = run("put-keys", keys, *names, **as_root)
        assert done.returncode == 1
        for bundle in ("high.A-1", "main.A-1"):
            assert str(keys / "tables" / bundle) in done.stderr
        assert "calls unused" in done.stderr
        assert not (placed / "high.A-1").exists()
    shutil.rmtree(keys / "tables" / "main.A-1")
    done = run("put-keys", keys, "A-1", **as_root)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{placed / 'main.A-1'}  removed" in done.stdout
    assert {path.name for path in placed.iterdir()} == {"high.A-1"}
    assert (placed / "high.A-1" / "table.key").exists()
