"""`pitlink install-keys`: each program of a machine gets its own keys, which nobody else reads."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from bonus.errors import UserError
from meters.process.private_files import make_directory, read_bytes, write_private
from meters.setup.key_installation import directories_of, install_keys
from tests.keys.floor import make_keys, write_floor
from tests.processes import invoke_pitlink
from tests.setup.machine import Machine


@pytest.fixture
def keys(tmp_path: Path, made_keys: Path) -> Path:
    return shutil.copytree(made_keys, tmp_path / "keys")


def install(keys: Path, machine: Machine, *parts: str) -> subprocess.CompletedProcess[str]:
    return invoke_pitlink("install-keys", str(keys), *parts, "--root", str(machine.root))


@pytest.mark.slow
@pytest.mark.duty("D20")
def test_keys_go_to_their_places_and_nobody_else_reads_them(keys: Path, machine: Machine) -> None:
    """After a second run nothing from before remains."""
    left = [
        machine.path(f"etc/mosquitto/pitlink{end}") for end in ("/left-over", ".old/broker.key")
    ]
    for _ in range(2):
        done = install(keys, machine)
        assert (done.returncode, done.stderr) == (0, "")
        for path in left:
            path.parent.mkdir(exist_ok=True)
            path.touch()
    (keys / "broker" / ".acl.00000000").touch()
    assert "installed for mosquitto" in install(keys, machine, "broker").stdout
    assert "unchanged" in install(keys, machine, "broker").stdout
    open_to_others = machine.path("etc/redis/pitlink/redis.key")
    open_to_others.chmod(0o644)
    assert "installed for redis" in install(keys, machine, "redis").stdout
    there = machine.contents()
    assert {
        "etc/mosquitto/pitlink/acl", "etc/redis/pitlink/users.acl",
        "etc/pitlink/keys/services/1/service.key", "etc/pitlink/keys/check/check.crt",
        "etc/pitlink/keys/display/password", "etc/pitlink/keys/archive/redis-password",
        "etc/pitlink/keys/tables/main.A-1/table.key",
    } <= there.keys()  # fmt: skip
    wrong = ("left-over", "ca.key", ".old", ".new", "/.acl")
    assert not [name for name in there if any(part in name for part in wrong)]
    for name, (mode, _) in there.items():
        assert mode == 0o600
        assert stat.S_IMODE(machine.path(name).parent.stat().st_mode) == 0o700
    refused = install(keys, machine, "A-9")
    assert (refused.returncode, "there are no keys for A-9" in refused.stderr) == (1, True)
    assert "is no directory of keys" in install(keys.parent / "root", machine).stderr


@pytest.mark.slow
@pytest.mark.duty("D20")
def test_the_owner_of_keys_cannot_lead_root_elsewhere(
    keys: Path, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While root copies, the user of a program replaces a directory with a symbolic link."""
    elsewhere, really_sync = tmp_path / "elsewhere", os.fsync
    elsewhere.mkdir()
    new = machine.path("etc/pitlink/keys/services.new/1")

    def sync_and_replace(file: int) -> None:
        really_sync(file)
        if new.is_dir() and not new.is_symlink():
            new.rename(new.with_name("moved"))
            new.symlink_to(elsewhere)

    monkeypatch.setattr(os, "fsync", sync_and_replace)
    install_keys(machine.root, directories_of(keys, ["services"]))
    assert machine.path("etc/pitlink/keys/services/1").is_symlink(), "the attack took place"
    assert list(elsewhere.iterdir()) == []


@pytest.mark.slow
@pytest.mark.duty("D20")
@pytest.mark.parametrize("left", ["etc/redis/pitlink/redis.key", "etc/redis/pitlink.new"])
def test_what_the_owner_of_keys_puts_in_their_place_is_not_read(
    keys: Path, machine: Machine, left: str
) -> None:
    """Root would wait for ever for what comes out of a pipe, and stop at a link."""
    assert install(keys, machine, "redis").returncode == 0
    path = machine.path(left)
    path.unlink(missing_ok=True)
    if path.suffix == ".new":
        path.symlink_to(keys)
    else:
        os.mkfifo(path, 0o600)
    done = install(keys, machine, "redis")
    assert (done.returncode, done.stderr) == (0, "")
    assert keys.is_dir()
    assert not path.exists() or path.is_file()


@pytest.mark.slow
@pytest.mark.duty("D20")
@pytest.mark.parametrize("kind", ["link to a directory", "link to a file", "pipe"])
def test_whoever_brings_keys_cannot_lead_root_elsewhere(
    keys: Path, machine: Machine, tmp_path: Path, kind: str
) -> None:
    """A table's user would read what root can read, or root would wait for ever."""
    secrets, added = tmp_path / "secrets", keys / "tables" / "main.A-1" / "added"
    secrets.mkdir()
    (secrets / "server.key").write_text("only for root")
    if kind == "pipe":
        os.mkfifo(added)
    else:
        added.symlink_to(secrets if kind.endswith("directory") else secrets / "server.key")
    done = install(keys, machine, "A-1")
    assert (done.returncode, f"{added}: cannot be installed" in done.stderr) == (1, True)
    assert not machine.path("etc/pitlink/keys/tables/main.A-1").exists()


@pytest.mark.duty("D20")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read what others may not")
@pytest.mark.parametrize("replaced", ["tables", "tables/main.A-1"])
def test_root_installs_no_keys_from_where_a_link_of_another_account_leads(
    keys: Path, machine: Machine, tmp_path: Path, replaced: str
) -> None:
    """The bundle itself is a link to a directory of root, or a directory on the way is one."""
    secrets = tmp_path / "secrets"
    (keys / replaced).rename(secrets)
    (keys / replaced).symlink_to(secrets)
    assert install(keys, machine, "A-1").returncode == 0, "root follows its own link"
    shutil.rmtree(machine.path("etc/pitlink/keys/tables"))
    os.chown((keys / replaced).parent, 65_534, 65_534)
    done = install(keys, machine, "A-1")
    assert (done.returncode, "a symbolic link of another system user" in done.stderr) == (1, True)
    assert not machine.path("etc/pitlink/keys/tables").exists()


@pytest.mark.duty("D20")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read what others may not")
def test_root_installs_no_file_of_its_own_that_another_account_gave_a_second_name(
    keys: Path, machine: Machine, tmp_path: Path
) -> None:
    bundle, secret = keys / "tables" / "main.A-1", tmp_path / "server.key"
    secret.write_text("only for root")
    (bundle / "added").hardlink_to(secret)
    os.chown(bundle, 65_534, 65_534)
    done = install(keys, machine, "A-1")
    assert done.returncode == 1
    assert f"{bundle / 'added'}: cannot be installed: it has another hard link" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read what others may not")
def test_root_reads_only_plain_files_in_a_directory_of_another_account(tmp_path: Path) -> None:
    """`pitlink setup` and `pitlink keys` read what a server's account can replace."""
    own, foreign = tmp_path / "own", tmp_path / "foreign"
    for directory in (own, foreign):
        directory.mkdir()
    (own / "file").write_text("x")
    for directory in (own, foreign):
        (directory / "link").symlink_to(own / "file")
        os.mkfifo(directory / "pipe")
    os.chown(foreign, 65_534, 65_534)
    assert read_bytes(own / "link") == b"x"
    for path in (own / "pipe", foreign / "pipe", foreign / "link"):
        with pytest.raises(UserError, match="cannot be read"):
            read_bytes(path)


@pytest.mark.duty("D20")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write what others may not")
def test_root_writes_no_key_through_a_directory_that_another_account_replaced(
    tmp_path: Path,
) -> None:
    """`pitlink keys` as root, if its directory is also that from which a service reads its keys."""
    elsewhere, services = tmp_path / "elsewhere", tmp_path / "keys" / "services"
    for directory in (elsewhere, services):
        directory.mkdir(parents=True)
    (elsewhere / "ca.crt").write_text("of root")
    (services / "1").symlink_to(elsewhere)
    write_private(services / "1" / "ca.crt", "root follows its own link")
    os.chown(services, 65_534, 65_534)
    for below in ("1", "1/new"):
        with pytest.raises(UserError, match="cannot be made"):
            make_directory(services / below)
    with pytest.raises(UserError, match="cannot be read"):
        read_bytes(services / "1" / "ca.crt")
    with pytest.raises(UserError, match="cannot be written"):
        write_private(services / "1" / "ca.crt", "x")
    assert [each.name for each in elsewhere.iterdir()] == ["ca.crt"]
    assert (elsewhere / "ca.crt").read_text() == "root follows its own link"


@pytest.mark.slow
@pytest.mark.duty("D20")
def test_a_table_that_moved_gets_the_bundle_of_its_link(keys: Path, machine: Machine) -> None:
    """Of two bundles the command installs neither: only the floor file says which one is right."""
    placed = machine.path("etc/pitlink/keys/tables")
    assert install(keys, machine, "A-1").returncode == 0
    shutil.copytree(keys / "tables" / "main.A-1", keys / "tables" / "high.A-1")
    for names in (("A-1",), ()):
        done = install(keys, machine, *names)
        assert done.returncode == 1
        for bundle in ("high.A-1", "main.A-1"):
            assert str(keys / "tables" / bundle) in done.stderr
        assert "calls unused" in done.stderr
        assert not (placed / "high.A-1").exists()
    shutil.rmtree(keys / "tables" / "main.A-1")
    done = install(keys, machine, "A-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{placed / 'main.A-1'}  removed" in done.stdout
    assert {path.name for path in placed.iterdir()} == {"high.A-1"}
    assert (placed / "high.A-1" / "table.key").exists()


@pytest.mark.slow
def test_without_names_it_installs_what_the_directory_has(keys: Path, machine: Machine) -> None:
    """A second machine of services has neither the keys of the broker nor the user mosquitto."""
    shutil.rmtree(keys / "broker")
    path = machine.path("etc/passwd")
    users = path.read_text().replace("mosquitto:", "other:")
    path.write_text(users.replace("pitlink-table:", "another:"))
    assert install(keys, machine, "broker").returncode == 1
    done = install(keys, machine)
    assert (done.returncode, machine.contents()) == (1, {})
    assert "there is no user pitlink-table" in done.stderr
    assert "systemd-sysusers" in done.stderr
    assert install(keys, machine, "services").returncode == 0
    path.write_text(users)
    done = install(keys, machine)
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.path("etc/redis/pitlink/redis.key").exists()
    assert machine.path("etc/pitlink/keys/services/1/service.key").exists()
    assert not machine.path("etc/mosquitto").exists()


@pytest.mark.slow
@pytest.mark.duty("D20")
def test_a_machine_gets_only_the_bundles_of_its_own_services(
    keys: Path, machine: Machine, tmp_path: Path
) -> None:
    """Two machines with all bundles would both use the first one."""
    make_keys(write_floor(tmp_path / "floor.toml"), keys, "--services", "3")
    place = machine.path("etc/pitlink/keys/services")
    assert install(keys, machine, "services").returncode == 0
    assert {path.name for path in place.iterdir()} == {"1", "2", "3"}
    for _ in range(2):
        done = install(keys, machine, "service.2", "service.3")
        assert (done.returncode, done.stderr) == (0, "")
        assert {path.name for path in place.iterdir()} == {"2", "3"}
    assert "check  unchanged" in done.stdout
    shutil.rmtree(place)
    assert install(keys, machine, "service.3").returncode == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {path.name for path in place.iterdir()} == {"3"}
    refused = install(keys, machine, "service.4")
    assert (refused.returncode, "there is no 4 in" in refused.stderr) == (1, True)
