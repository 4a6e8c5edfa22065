"""`deploy/backup` as root, while the accounts whose files it copies attack it."""

import fcntl
import os
import runpy
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from controllers.agent.outbox import Outbox
from meters.audit.audit_files import backup_note
from tests.deploy.tree import DEPLOY
from tests.waiting import dies_with_us, eventually

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can lose what root has"),
    pytest.mark.duty("D11"),
]

_SERVICE: Final = 61_234
_REDIS: Final = 61_235
_PRIVATE: Final = "only root may read this"
_APPEND_ONLY: Final = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n"
_WITHIN_S: Final = 40
"""Far more than a run needs, and far less than for ever."""


class Machine:
    """Directories of a machine, each with the owner that it has there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data, self.redis = home / "pitlink", home / "redis"
        self.secrets, self.copies = home / "secrets", home / "copies"
        self.marks, self.archive = self.data / "marks", self.data / "archive"
        self.aof = self.redis / "appendonlydir"
        self.secrets.mkdir(mode=0o700)
        self.secret = self.secrets / "shadow.json"
        self.secret.write_text(_PRIVATE)
        self.secret.chmod(0o600)
        for path in (self.marks, self.archive / "main", self.aof):
            path.mkdir(parents=True)
        (self.marks / "main.json").write_text("mark")
        (self.marks / "main.lock").touch()
        (self.archive / "main" / "2026-11-20.jsonl.zst").write_text("day")
        Outbox.open(self.data / "tables" / "TCP-01.sqlite", "main", "TCP-01").close()
        (self.aof / "a.manifest").write_text("file a.1.incr.aof seq 1 type i\n")
        (self.aof / "a.1.incr.aof").write_bytes(_APPEND_ONLY)
        self.give()

    def give(self) -> None:
        """Give everything to its account, as that account would have made it."""
        for top, uid in ((self.data, _SERVICE), (self.redis, _REDIS)):
            for path in (top, *top.rglob("*")):
                if path.is_symlink() or path.stat().st_nlink == 1 or path.is_dir():
                    os.chown(path, uid, uid, follow_symlinks=False)

    def command(self, *options: str) -> list[str]:
        none = str(self.home / "none")
        places = {"data": str(self.data), "redis": str(self.redis), "tables": none, "config": none}
        given = [each for name, place in places.items() for each in (f"--{name}", place)]
        return dies_with_us([str(DEPLOY / "backup"), str(self.copies), *given, *options])

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*options), capture_output=True, text=True, check=False, timeout=_WITHIN_S
        )

    def check_nothing_lost(self) -> None:
        """Check that no secret was copied, and that root's own directory is as it was."""
        assert [path.name for path in self.secrets.iterdir()] == [self.secret.name]
        assert (self.secret.read_text(), self.secret.stat().st_uid) == (_PRIVATE, 0)
        for path in self.copies.rglob("*"):
            assert not path.is_symlink()
            assert path.is_dir() or _PRIVATE not in path.read_text(errors="replace")

    @contextmanager
    def waiting(self, *options: str) -> Iterator[subprocess.Popen[str]]:
        lock = self.marks / "main.lock"
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            backup = subprocess.Popen(
                self.command(*options), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            eventually(
                lambda: backup.poll() is not None or readers_of(lock), what="it waits for the lock"
            )
            yield backup


def readers_of(path: Path) -> list[int]:
    found = []
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if opened.resolve() == path.resolve() and int(opened.parts[2]) != os.getpid():
                found.append(int(opened.parts[2]))
        except OSError:
            continue
    return found


@pytest.fixture
def machine() -> Iterator[Machine]:
    # The directories of pytest are closed to other accounts, and so to our attackers.
    home = Path(tempfile.mkdtemp())
    home.chmod(0o755)
    yield Machine(home)
    shutil.rmtree(home)


def test_it_copies_everything_for_root_alone_and_leaves_nothing(machine: Machine) -> None:
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    (copy,) = machine.copies.iterdir()
    for path in (copy, *copy.iterdir()):
        facts = path.stat()
        assert (facts.st_uid, facts.st_mode & 0o077) == (0, 0), path
    for path in (*machine.data.rglob("*"), *machine.redis.rglob("*")):
        assert path.stat().st_uid != 0, path
    held = {}
    for path in copy.iterdir():
        with tarfile.open(path) as tar:
            held[path.name] = {member.name for member in tar if member.isfile()}
    assert held == {
        "marks.tar": {"marks/main.json"},
        "archive.tar": {"archive/main/2026-11-20.jsonl.zst"},
        "data-outboxes.tar": {"tables/TCP-01.sqlite"},
        "appendonlydir.tar": {"appendonlydir/a.manifest", "appendonlydir/a.1.incr.aof"},
    }


def test_the_services_cannot_set_the_time_of_the_backup(machine: Machine) -> None:
    """A link under its earlier name makes no file, and the present one is out of their reach."""
    (machine.data / "last-backup").symlink_to(machine.secrets / "new")
    machine.give()
    assert machine.run().returncode == 0
    machine.check_nothing_lost()
    note = backup_note(machine.data)
    attack = f"test -r {note} && ! touch {note} && ! mv {note.parent} {note.parent}.old"
    assert subprocess.run(
        ["sh", "-c", attack], user=_SERVICE, group=_SERVICE, extra_groups=[], check=False,
        stderr=subprocess.DEVNULL,
    ).returncode == 0  # fmt: skip


def put(path: Path, make: Callable[[Path], object]) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    make(path)


def put_on_each(machine: Machine, make: Callable[[Path], object], mark: str = "main.json") -> None:
    put(machine.marks / mark, make)
    put(machine.archive / "main" / "2026-11-20.jsonl.zst", make)
    put(machine.aof / "a.1.incr.aof", make)
    put(machine.data / "tables" / "TCP-01.sqlite", make)


def lead_outside(machine: Machine) -> None:
    for path in (machine.marks, machine.archive, machine.data / "tables"):
        put(path, lambda path: path.symlink_to(machine.secrets))
    (machine.aof / "a.manifest").write_text("file ../../secrets/shadow.json seq 1 type i\n")


_ATTACKS: Final[dict[str, Callable[[Machine], object]]] = {
    "directories are links, and the manifest names a file outside": lead_outside,
    "files are links": lambda on: put_on_each(on, lambda path: path.symlink_to(on.secret)),
    "files are hard links": lambda on: put_on_each(on, lambda path: path.hardlink_to(on.secret)),
    "the lock and files are pipes": lambda on: put_on_each(on, os.mkfifo, "main.lock"),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", _ATTACKS)
def test_what_leads_elsewhere_or_never_ends_is_named_and_ends(
    machine: Machine, attack: str
) -> None:
    _ATTACKS[attack](machine)
    machine.give()
    done = machine.run("--within", "3")
    machine.check_nothing_lost()
    assert done.returncode == 1
    for name in ("pitlink/marks", "pitlink/archive", "pitlink/tables", "redis/appendonlydir"):
        assert f"NOT COPIED, or not all of it: {machine.home}/{name}" in done.stderr
    assert not backup_note(machine.data).exists(), "nobody hears of a backup that is not complete"


@pytest.mark.slow
def test_what_an_account_says_cannot_change_the_terminal_of_root(machine: Machine) -> None:
    (machine.marks / "\x1b[2J.json").symlink_to(machine.secret)
    machine.give()
    done = machine.run()
    assert "?[2J.json" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.slow
def test_a_mark_that_becomes_a_link_during_the_wait_for_its_lock(machine: Machine) -> None:
    with machine.waiting() as backup:
        put(machine.marks / "main.json", lambda path: path.symlink_to(machine.secret))
    _, errors = backup.communicate(timeout=_WITHIN_S)
    machine.check_nothing_lost()
    assert "Permission denied" in errors.partition("main.json")[2]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["cat", "/dev/zero"], "larger than the free space"),
        (["sh", "-c", "yes >&2 & exec sleep 60"], "takes longer than 1 seconds"),
        (["sh", "-c", "kill -STOP $$"], "takes longer than 1 seconds"),
        (["sh", "-c", "setsid sleep 4 & exit"], "takes longer than 1 seconds"),
    ],
    ids=["sends for ever", "talks for ever", "stops itself", "leaves the pipe to another"],
)
def test_an_account_that_does_not_end_is_given_up(
    tmp_path: Path, command: Sequence[str], reason: str
) -> None:
    script = runpy.run_path(str(DEPLOY / "backup"))
    with pytest.raises(script["Refused"], match=reason):
        script["store"](command, tmp_path / "a.tar", 1 << 20, "1")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1 << 20


def test_the_account_is_the_one_that_decides_what_a_path_is(machine: Machine) -> None:
    script = runpy.run_path(str(DEPLOY / "backup"))
    mine, theirs, loose = (machine.home / name for name in ("mine", "theirs", "loose"))
    mine.symlink_to(machine.redis)
    theirs.symlink_to(machine.secrets)
    os.chown(theirs, _SERVICE, _SERVICE, follow_symlinks=False)
    assert script["owner"](f"{mine}/appendonlydir") == (_REDIS, str(machine.aof))
    assert script["owner"](f"{theirs}/shadow.json")[0] == _SERVICE
    assert script["owner"](f"{machine.secrets}/none/below") == (0, f"{machine.secrets}/none/below")
    loose.mkdir()
    loose.chmod(0o777)
    with pytest.raises(script["Refused"], match="other accounts than root can replace"):
        script["owner"](f"{loose}/redis")
    loose.chmod(0o1777)
    with pytest.raises(script["Refused"], match="other accounts could make it"):
        script["owner"](f"{loose}/redis/appendonlydir")
    # What the kernel does not show is no missing path: another account may have hidden it.
    with pytest.raises(OSError, match="too long"):
        script["owner"](f"{machine.home}/{'x' * 300}/redis")


def test_a_directory_of_another_account_is_no_place_for_a_backup(machine: Machine) -> None:
    for place in (machine.data, machine.data / "copies"):
        machine.copies = place
        done = machine.run()
        assert (done.returncode, f"belongs to user {_SERVICE}" in done.stderr) == (1, True)
    assert not (machine.data / "copies").exists()
