"""The scripts for steps in which people easily err, such as copying the store."""

import contextlib
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
import redis

from controllers.agent.outbox import Outbox
from meters.audit.audit_files import backup_note
from tests.deploy.tree import DEPLOY, ROOT, run_script
from tests.servers import RedisServer

SCRIPTS: Final = (
    ".ci/run", *(f"deploy/{name}" for name in (
        "container/make-keys", "debian/build", "debian/relocate-environment", "demo", "pin-images",
        "site/build", "test", "up",
    )),
)  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_run_and_stops_at_the_first_error(name: str) -> None:
    path = ROOT / name
    text = path.read_text()
    assert "\nset -eu" in text
    assert "bash" not in text.splitlines()[0] or "\nset -euo pipefail\n" in text
    assert os.access(path, os.X_OK)
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.duty("D11")
def test_a_copy_made_under_load_is_a_store_of_its_own(tmp_path: Path) -> None:
    """Unpacked as documented, Redis starts on it, with everything written before it was made."""
    data, table = tmp_path / "data", tmp_path / "table"
    with RedisServer() as store:
        client = redis.Redis(unix_socket_path=str(store.socket_path))
        for number in range(300):
            client.xadd("ledger", {"number": number})
        (data / "marks").mkdir(parents=True)
        (data / "marks" / "one.json").write_text("mark")
        Outbox.open(table / "tables" / "TCP-01.sqlite", "one", "TCP-01").close()
        with contextlib.closing(Outbox.open(table / "tables" / "TCP-02.sqlite", "one", "TCP-02")):
            (tmp_path / "files" / "one").mkdir(parents=True)
            (tmp_path / "files" / "one" / "2026-11-20.jsonl.zst").write_text("closed\n")
            archive = ("--archive", tmp_path / "files")
            places = ("--redis", store.home, "--data", data, "--tables", table, *archive)
            done = run_script(
                "backup", tmp_path / "copies", *places, "--archive", tmp_path / "files"
            )
        client.close()
    assert done.returncode == 0, done.stderr
    assert "not the outbox of TCP-02: its agent runs" in done.stdout
    assert backup_note(data).exists(), "the alert PitlinkBackupLate goes by it"
    assert f"nothing to copy in {data}/tables" in done.stdout
    there = tmp_path / "there"
    for name in ("redis", "pitlink", "pitlink-restore", "pitlink-table"):
        (there / name).mkdir(parents=True)
    (copy,) = (tmp_path / "copies").iterdir()
    pages = (DEPLOY / "docs" / "recover" / name for name in ("restore.md", "replace-machine.md"))
    text = "".join(page.read_text() for page in pages)
    for typed in sorted(set(re.findall(r"-- (tar -xf - [^`\n]*<BACKUP/[a-z]+\.tar)", text))):
        command = typed.replace("BACKUP", str(copy)).replace("/var/lib", str(there))
        subprocess.run(["bash", "-c", command], check=True)
    assert (there / "pitlink" / "marks" / "one.json").read_text() == "mark"
    assert (there / "pitlink/archive/one/2026-11-20.jsonl.zst").read_text() == "closed\n"
    for home in (there / "pitlink-restore", there / "pitlink-table" / "tables"):
        assert [path.name for path in home.glob("*.sqlite")] == ["TCP-01.sqlite"]
    with RedisServer(options={"dir": str(there / "redis")}) as restored:
        client = redis.Redis(unix_socket_path=str(restored.socket_path))
        assert client.xlen("ledger") == 300
        client.close()


@pytest.mark.slow
def test_it_reports_that_there_is_nothing_to_copy(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "none")
    done = run_script(
        "backup", tmp_path, "--redis", nowhere, "--data", nowhere, "--tables", nowhere
    )
    assert done.returncode == 1
    assert f"nothing to copy in {nowhere}/archive" in done.stdout
    assert "neither append-only files nor outboxes" in done.stderr
    data = tmp_path / "data"
    Outbox.open(data / "tables" / "TCP-01.sqlite", "one", "TCP-01").close()
    done = run_script("backup", data, "--redis", nowhere, "--data", data, "--tables", nowhere)
    assert done.returncode == 0, done.stderr
    assert not backup_note(data).exists(), "a table's machine has not copied the books"
    assert run_script("backup").returncode == 2
    assert run_script("backup", "--redis").returncode == 2
