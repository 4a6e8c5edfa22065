"""The systemd units: valid for systemd itself, and as restricted as their work allows."""

import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import DEPLOY
from tests.servers import pitlink_command, require

UNITS: Final = DEPLOY / "systemd"
EXPOSURE_MOST: Final = "20"
"""Exposure limit in tenths, up to a hundred: `systemd-analyze security` calls it 2.0 of 10."""
SERVICES: Final = ("pitlink-serve@1", "pitlink-table@TCP-01", "pitlink-audit",
            "pitlink-audit-whole", "pitlink-archive")  # fmt: skip
TIMERS: Final = ("pitlink-audit", "pitlink-audit-whole", "pitlink-archive")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    require(str(command[0]))
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the units as installed: each template with an instance, and our program."""
    program = pitlink_command()[0]
    for path in UNITS.iterdir():
        text = path.read_text().replace("ExecStart=pitlink ", f"ExecStart={program} ")
        (tmp_path / path.name).write_text(text)
    for name in SERVICES:
        template, at, _ = name.partition("@")
        if at:
            shutil.copy(tmp_path / f"{template}@.service", tmp_path / f"{name}.service")
    return tmp_path


def test_systemd_reads_every_unit_without_a_word(installed: Path) -> None:
    names = [f"{name}.service" for name in SERVICES] + [f"{name}.timer" for name in TIMERS]
    done = run("systemd-analyze", "verify", *(installed / name for name in names))
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "pitlink" in line]
    assert (done.returncode, complaints) == (0, [])


@pytest.mark.duty("D20")
@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_is_exposed_no_more_than_this(installed: Path, name: str) -> None:
    """`systemd-analyze security` calculates it offline. It was 1.1 with systemd 252."""
    unit = installed / f"{name}.service"
    checked = ("systemd-analyze", "security", "--offline=true", "--no-pager")
    done = run(*checked, f"--threshold={EXPOSURE_MOST}", unit)
    assert done.returncode == 0, done.stdout
    unit.write_text(
        "\n".join(line for line in unit.read_text().splitlines() if "SystemCall" not in line)
    )
    assert run(*checked, f"--threshold={EXPOSURE_MOST}", unit).returncode != 0


@pytest.mark.duty("D20")
def test_directories_and_keys_belong_to_their_owners_alone(tmp_path: Path) -> None:
    """`systemd-sysusers` and `systemd-tmpfiles` restrict keys copied with open modes."""
    if not (shutil.which("id") and Path("/proc/self").stat().st_uid == 0):
        pytest.skip("only root gives files away")
    for table in ("services/1", "tables/one.TCP-01"):
        bundle = tmp_path / "etc/pitlink/keys" / table
        bundle.mkdir(parents=True)
        (bundle / "password").write_text("x\n")
        (bundle / "password").chmod(0o644)
    assert run("systemd-sysusers", f"--root={tmp_path}", UNITS / "pitlink.sysusers").returncode == 0
    users = {
        line.split(":")[0]: int(line.split(":")[2])
        for line in (tmp_path / "etc/passwd").read_text().splitlines()
    }
    done = run("systemd-tmpfiles", "--create", f"--root={tmp_path}", UNITS / "pitlink.tmpfiles")
    assert done.returncode == 0, done.stderr
    for place, owner in (("services/1", "pitlink"), ("tables/one.TCP-01", "pitlink-table")):
        bundle = tmp_path / "etc/pitlink/keys" / place
        for path, mode in ((bundle, 0o700), (bundle / "password", 0o600)):
            found = path.stat()
            assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (users[owner], mode), path
    data = (tmp_path / "var/lib/pitlink").stat()
    assert (data.st_uid, stat.S_IMODE(data.st_mode)) == (users["pitlink"], 0o700)


def test_who_uses_redis_sees_the_password_of_the_sentinels() -> None:
    """A unit sees only its own keys. Most floors have no sentinels, so the place may be missing."""
    for name in SERVICES:
        unit = UNITS / f"{name.partition('@')[0]}{'@' if '@' in name else ''}.service"
        (seen,) = (
            line.partition("=")[2].split()
            for line in unit.read_text().splitlines()
            if line.startswith("BindReadOnlyPaths=")
        )
        assert ("-/etc/pitlink/keys/sentinels" in seen) == ("table" not in name), name
