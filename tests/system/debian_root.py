"""A Debian that the tests copy: made once by debootstrap, outside the checkout."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TextIO

import pytest

_BASE: Final = (
    "ca-certificates",
    "dbus",
    "python-is-python3",
    "python3-venv",
    "systemd",
    "systemd-sysv",
)
_MIRROR: Final = "http://deb.debian.org/debian"


def require_system(*programs: str) -> None:
    """Skip the test if this machine cannot run a system in a system, and say why. Also in CI."""
    if os.geteuid() != 0:
        pytest.skip("only root can run a system in a directory")
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (deploy/test --system installs them)")


def cache_directory() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitlink-tests"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def open_turn() -> TextIO:
    """Open the file whose lock gives a machine or a container its turn in the control group."""
    return (cache_directory() / "machine.lock").open("w")


def make_debian_root(name: str, packages: Sequence[str]) -> Path:
    """Return the root directory of a Debian 12 with these packages, made by the first call."""
    require_system("debootstrap")
    root, part = cache_directory() / name, cache_directory() / f"{name}.part"
    with (cache_directory() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of the run may be making it
        if root.exists():
            return root
        shutil.rmtree(part, ignore_errors=True)
        included = f"--include={','.join(packages)}"
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", included, "bookworm", part, _MIRROR],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"debootstrap failed: {' '.join(done.stdout.splitlines()[-1:])}")
        for package in (part / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()
        part.rename(root)
    return root


@pytest.fixture(scope="session")
def debian_root() -> Path:
    return make_debian_root("debian-bookworm", _BASE)
