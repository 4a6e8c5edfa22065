"""The Debian packages of a test: this checkout, and the release before it."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from tests.deploy.tree import ROOT

BUILD: Final = Path("deploy") / "debian" / "build"
_LOWEST: Final = "0.0.0a1"
"""Version of the earlier package as long as no release has a package."""


def build_package(out: Path, version: str | None = None, tree: Path = ROOT) -> Path:
    """Build a package into an empty directory, without compression; return its file."""
    options = [] if version is None else ["--version", version]
    done = subprocess.run(
        [tree / BUILD, "--out", out, *options],
        capture_output=True, text=True, check=False,
        env=os.environ | {"DPKG_DEB_COMPRESSOR_TYPE": "none"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    package = Path(done.stdout.strip())
    assert list(out.iterdir()) == [package]
    return package


def build_earlier_package(out: Path, scratch: Path) -> Path:
    """Build the last release. If it has no package yet, build this tree with a lower version."""
    last = _git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    if re.fullmatch(r"v\S+", last) and _git("ls-tree", last, str(BUILD)):
        _git("clone", "--quiet", "--shared", "--branch", last, str(ROOT), str(scratch))
        return build_package(out, last.removeprefix("v"), scratch)
    return build_package(out, _LOWEST)


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
