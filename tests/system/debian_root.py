"""A Debian that the tests copy: made once by debootstrap, outside the checkout."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

_INCLUDED: Final = (
    "--include=systemd,systemd-sysv,dbus,ca-certificates,python3-venv,python-is-python3"
)
_MIRROR: Final = "http://deb.debian.org/debian"


def require_system(*programs: str) -> None:
    """Skip the test if this machine cannot run a system in a system, and say why. Also in CI."""
    if os.geteuid() != 0:
        pytest.skip("only root can run a system in a directory")
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (deploy/test --system installs them)")


@pytest.fixture(scope="session")
def debian_root() -> Path:
    """Return the root directory of a Debian 12 with systemd and Python, to copy."""
    require_system("debootstrap")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitlink-tests"
    cache.mkdir(parents=True, exist_ok=True)
    root, part = cache / "debian-bookworm", cache / "debian-bookworm.part"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of the run may be making it
        if root.exists():
            return root
        shutil.rmtree(part, ignore_errors=True)
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", _INCLUDED, "bookworm", part, _MIRROR],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"debootstrap failed: {' '.join(done.stdout.splitlines()[-1:])}")
        for package in (part / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()
        part.rename(root)
    return root
