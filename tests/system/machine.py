"""A Debian machine with systemd, which runs on this machine until the test ends."""

import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Final, Self

import pytest

from tests.system.debian_root import make_debian_root, open_turn, require_system
from tests.waiting import dies_with_us, eventually

INSTALLED: Final = (
    "ca-certificates", "caddy", "curl", "dbus", "mosquitto", "prometheus", "python3",
    "redis-server", "systemd", "systemd-sysv", "systemd-timesyncd",
)  # fmt: skip
"""Debian's packages of the machine: the servers run with Debian's configuration, as after an
installation. The machine has no network, so it also has what the package of pitlink depends on."""
HOST: Final = "pit.example"
PACKAGES: Final = "/packages"
"""Directory of the machine in which it sees the packages of the test."""

_MOUNTS: Final = """
mount -t tmpfs tmpfs "$0" && mkdir "$0/upper" "$0/work" "$0/merged" &&
mount -t overlay -o "lowerdir=/etc,upperdir=$0/upper,workdir=$0/work" overlay "$0/merged"
"""
_ENVIRONMENT: Final = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
)  # fmt: skip
_WITHIN_S: Final = 600
_POWER_OFF: Final = signal.SIGRTMIN + 4


def require_machine() -> None:
    """Skip the test if this machine cannot boot another one, and say why. Also in CI."""
    require_system("nsenter", "systemd-nspawn", "unshare")
    spaces = ("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork")
    with tempfile.TemporaryDirectory() as place:
        tried = subprocess.run(
            ["unshare", *spaces, "sh", "-c", _MOUNTS, place],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if tried.returncode != 0:
        pytest.skip(f"the kernel refuses name spaces or mounts: {tried.stderr.strip()}")


class Machine:
    """Booted machine that sees `packages` as `PACKAGES`. Its changes are gone when it ends.

    Machines of this user run one after the other, because they share a control group.
    """

    def __init__(self, packages: Path) -> None:
        self._root = make_debian_root("debian-bookworm-servers", INSTALLED)
        self._packages = packages
        (packages / "hosts").write_text(f"127.0.0.1 localhost pit {HOST}\n")
        # debootstrap copies the name of this machine, which would have priority over --hostname.
        (packages / "hostname").write_text("pit\n")
        self._turn = open_turn()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._nspawn: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        self._nspawn = subprocess.Popen(
            dies_with_us([
                "systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit",
                "--private-network", "--volatile=overlay", f"--directory={self._root}",
                f"--bind-ro={self._packages}:{PACKAGES}", "--resolv-conf=off", "--hostname=pit",
                f"--bind-ro={self._packages / 'hosts'}:/etc/hosts",
                f"--bind-ro={self._packages / 'hostname'}:/etc/hostname",
                "--machine=pitlink-test",
            ]),
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            eventually(self._has_booted, what="the machine to boot")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        leader = self._leader()
        assert leader is not None, f"the machine is off: {self._boot_messages()}"
        return subprocess.run(
            ["nsenter", "--target", str(leader), "--all", "env", "-i", *_ENVIRONMENT, *command],
            input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            timeout=_WITHIN_S,
        )  # fmt: skip

    def do(self, *command: str, stdin: str = "") -> str:
        done = self.run(*command, stdin=stdin)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-6000:]}"
        return done.stdout

    def has(self, path: str) -> bool:
        return self.run("test", "-e", path).returncode == 0

    def _has_booted(self) -> bool:
        assert self._nspawn is not None
        if self._nspawn.poll() is not None:
            raise RuntimeError(f"systemd-nspawn has ended: {self._boot_messages()}")
        state = self.run("systemctl", "is-system-running") if self._leader() else None
        return state is not None and state.stdout.strip() in {"running", "degraded"}

    def _leader(self) -> int | None:
        assert self._nspawn is not None
        tasks = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children")
        with contextlib.suppress(OSError):
            for child in tasks.read_text().split():
                if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                    return int(child)
        return None

    def _boot_messages(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-3000:]

    def _stop(self) -> None:
        assert self._nspawn is not None
        if leader := self._leader():
            with contextlib.suppress(ProcessLookupError):
                os.kill(leader, _POWER_OFF)
        else:
            self._nspawn.kill()
        try:
            self._nspawn.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._nspawn.kill()
            self._nspawn.wait()
        self._log.close()
        self._turn.close()
