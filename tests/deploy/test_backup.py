"""`deploy/backup` as root, while the accounts whose files it copies attack it."""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from controllers.agent.outbox import Outbox
from meters.books.audit_notes import backup_note
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
        """Return the command line of a backup."""
        none = str(self.home / "none")
        places = {"data": str(self.data), "redis": str(self.redis), "tables": none, "config": none}
        given = [each for name, place in places.items() for each in (f"--{name}", place)]
        return dies_with_us([str(DEPLOY / "backup"), str(self.copies), *given, *options])

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Make a backup."""
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
        """Run a backup up to its wait for the lock of a mark."""
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
    """Return the other processes that have a file open."""
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
    assert (copy / "marks" / "main.json").read_text() == "mark"
    assert (copy / "archive" / "main" / "2026-11-20.jsonl.zst").read_text() == "day"
    assert (copy / "appendonlydir" / "a.1.incr.aof").read_bytes() == _APPEND_ONLY
    with closing(Outbox.open(copy / "outboxes" / "TCP-01.sqlite", "main", "TCP-01")):
        pass
    for path in copy.rglob("*"):
        facts = path.stat()
        assert (facts.st_uid, facts.st_mode & 0o077) == (0, 0), path
    for path in (*machine.data.rglob("*"), *machine.redis.rglob("*")):
        assert path.stat().st_uid != 0, path


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


def put_link(path: Path, target: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(target)


def put_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def put_hard_link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.hardlink_to(target)


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 15 << 40)


_ATTACKS: Final[dict[str, Callable[[Machine], object]]] = {
    "pitlink/marks is a link": lambda on: put_link(on.marks, on.secrets),
    "pitlink/marks/main.json is a link": lambda on: put_link(on.marks / "main.json", on.secret),
    "pitlink/marks/main.lock is no file": lambda on: put_pipe(on.marks / "main.lock"),
    "pitlink/marks/main.json is no file": lambda on: put_pipe(on.marks / "main.json"),
    "pitlink/marks/main.json belongs to root": lambda on: put_hard_link(
        on.marks / "main.json", on.secret
    ),
    "pitlink/marks/main.json has ": lambda on: make_huge(on.marks / "main.json"),
    "pitlink/archive is a link": lambda on: put_link(on.archive, on.secrets),
    "pitlink/archive/main is a link": lambda on: put_link(on.archive / "main", on.secrets),
    "pitlink/archive/main/day.zst is no file": lambda on: put_pipe(on.archive / "main" / "day.zst"),
    "pitlink/archive/main/day.zst has ": lambda on: make_huge(on.archive / "main" / "day.zst"),
    "pitlink/tables/TCP-01.sqlite is a link": lambda on: put_link(
        on.data / "tables" / "TCP-01.sqlite", on.secret
    ),
    "pitlink/tables/TCP-01.sqlite is no file": lambda on: put_pipe(
        on.data / "tables" / "TCP-01.sqlite"
    ),
    "redis/appendonlydir is a link": lambda on: put_link(on.aof, on.secrets),
    "redis/appendonlydir/a.1.incr.aof is a link": lambda on: put_link(
        on.aof / "a.1.incr.aof", on.secret
    ),
    "names the file '../../secrets/shadow.json'": lambda on: (on.aof / "a.manifest").write_text(
        "file ../../secrets/shadow.json seq 1 type i\n"
    ),
}


@pytest.mark.parametrize("named", _ATTACKS)
def test_what_is_no_plain_file_of_its_account_is_named_and_not_followed(
    machine: Machine, named: str
) -> None:
    _ATTACKS[named](machine)
    machine.give()
    done = machine.run()
    machine.check_nothing_lost()
    assert done.returncode == 1
    assert named in done.stderr
    assert not backup_note(machine.data).exists(), "nobody hears of a backup that is not complete"


def test_a_mark_that_becomes_a_link_during_the_wait_for_its_lock(machine: Machine) -> None:
    with machine.waiting() as backup:
        put_link(machine.marks / "main.json", machine.secret)
    output = backup.communicate(timeout=_WITHIN_S)
    machine.check_nothing_lost()
    assert "main.json is a link" in str(output)


def test_marks_that_become_a_link_during_the_wait_for_a_lock(machine: Machine) -> None:
    """Root must not write the attacker's text to a place of the attacker's choice."""
    other = machine.data / "other"
    machine.marks.rename(other)
    machine.marks.symlink_to(other)
    machine.give()
    with machine.waiting() as backup:
        machine.marks.unlink()
        other.rename(machine.marks)
        (machine.marks / "main.json").write_text("* * * * * root id\n")
        other.symlink_to(machine.secrets)
    backup.communicate(timeout=_WITHIN_S)
    machine.check_nothing_lost()


def test_an_account_that_stops_its_own_process_is_given_up(machine: Machine) -> None:
    with machine.waiting("--wait", "1") as backup:
        for process in readers_of(machine.marks / "main.lock"):
            os.kill(process, signal.SIGSTOP)
        _, errors = backup.communicate(timeout=_WITHIN_S)
    assert backup.returncode == 1
    assert "does not answer" in errors
    assert (next(machine.copies.iterdir()) / "appendonlydir").exists()


def test_a_directory_of_another_account_is_no_place_for_a_backup(machine: Machine) -> None:
    for place in (machine.data, machine.data / "copies"):
        machine.copies = place
        done = machine.run()
        assert (done.returncode, f"belongs to user {_SERVICE}" in done.stderr) == (1, True)
    assert not (machine.data / "copies").exists()
