"""`deploy/release`: what it refuses, and that everybody who builds a commit gets the same bytes."""

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import ROOT
from tests.selfcheck.installed import Installed

pytestmark = pytest.mark.slow

VERSION: Final = "9.9.9"
ENTRY: Final = f"## {VERSION}, 2026-11-26\n"


def git(place: Path, *arguments: str) -> None:
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    own = {f"GIT_{name}": "tester@pit.example" for name in names}
    subprocess.run(
        ["git", *arguments], cwd=place, check=True, capture_output=True,
        env=os.environ | own | {"GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    place = tmp_path / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    changelog = place / "deploy" / "docs" / "compliance" / "changelog.md"
    changelog.write_text(changelog.read_text().replace("## ", f"{ENTRY}\nNothing.\n\n## ", 1))
    git(place, "init", "--quiet")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "Release")
    git(place, "tag", f"v{VERSION}")
    return place


def release(
    place: Path, *arguments: object, umask: int = 0o022
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [place / "deploy" / "release", *map(str, arguments)],
        capture_output=True, text=True, check=False, umask=umask,
    )  # fmt: skip


def test_what_is_not_as_it_was_committed_and_tagged_is_not_released(
    checkout: Path, tmp_path: Path
) -> None:
    """Nothing is made, and an earlier release is not replaced."""

    def refuses(reason: str, *arguments: object) -> None:
        done = release(checkout, *arguments, "wheel")
        assert (done.returncode, done.stdout) == (1, "")
        assert reason in done.stderr
        assert not (checkout / "dist").exists()

    (more := checkout / "meters" / "more.py").touch()
    refuses("changes that are not committed")
    more.unlink()
    name = "meters/__init__.py"
    text = (checkout / name).read_text()
    for option in ("assume-unchanged", "skip-worktree"):
        git(checkout, "update-index", f"--{option}", name)
        (checkout / name).write_text("import nobody_reviewed_this\n")
        refuses("git hides changes of some files")
        git(checkout, "update-index", f"--no-{option}", name)
        (checkout / name).write_text(text)
    (out := tmp_path / "out").mkdir()
    refuses(f"{out} exists already", "--out", out)
    git(checkout, "tag", "--delete", f"v{VERSION}")
    for tag, reason in (
        ("v9.9.8", "no line '## 9.9.8, YYYY-MM-DD'"),
        ("v9.9.99", "no line '## 9.9.99, YYYY-MM-DD'"),
        ("v9x9.9", "is not a version"),
    ):
        git(checkout, "tag", tag)
        refuses(reason)
        git(checkout, "tag", "--delete", tag)
    refuses("this commit has no tag such as v0.1.0")


@pytest.mark.parametrize(
    ("wrong", "reason"), [("rpm", "unknown argument rpm"), ("--out", "--out needs a value")]
)
def test_a_wrong_argument_is_refused(wrong: str, reason: str) -> None:
    done = release(ROOT, wrong)
    assert (done.returncode, reason in done.stderr) == (1, True)


@pytest.mark.duty("D9")
def test_everybody_who_builds_a_commit_gets_the_same_bytes(checkout: Path, tmp_path: Path) -> None:
    """In another directory, with other times and permissions of the files, too."""
    tools = ". deploy/environment.sh; root=$PWD; make_tools_environment; make_site_environment"
    subprocess.run(["bash", "-euc", tools], cwd=ROOT, check=True)
    other = tmp_path / "elsewhere" / "other"
    other.parent.mkdir()
    old_umask = os.umask(0o077)
    try:
        git(tmp_path, "clone", "--quiet", str(checkout), str(other))
    finally:
        os.umask(old_umask)
    for path in (other / "meters").rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    for place, umask in ((checkout, 0o022), (other, 0o077)):
        for name in (".venv-tools", ".venv-site"):
            (place / name).symlink_to(ROOT / name)
        done = release(place, "--out", place.parent / "out", "wheel", "sbom", umask=umask)
        assert done.returncode == 0, done.stderr
    first, second = (place.parent / "out" for place in (checkout, other))
    sums = (first / "SHA256SUMS").read_text()
    assert sums == (second / "SHA256SUMS").read_text()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=first, check=True)

    wheel = first / f"pitlink-{VERSION}-py3-none-any.whl"
    bom = first / f"pitlink-{VERSION}.cdx.json"
    assert [line.split()[1] for line in sums.splitlines()] == [wheel.name, bom.name]
    with zipfile.ZipFile(wheel) as packed:
        changelog = f"pitlink-{VERSION}.data/data/share/doc/pitlink/changelog.md"
        assert ENTRY in packed.read(changelog).decode()
        assert VERSION in packed.read("meters/web/site/compliance/changelog.html").decode()
    installed = Installed(wheel, tmp_path / "installed")
    assert installed.run("--version").stdout == f"pitlink {VERSION}\n"
    check = installed.run("check", "--config", str(checkout / "deploy" / "floor.toml"))
    assert "as the wheel recorded it" in " ".join(check.stdout.split())
    listed = json.loads(bom.read_text())
    assert listed["metadata"]["component"]["version"] == VERSION
    libraries = {each["name"]: each for each in listed["components"]}
    assert libraries["htm"]["purl"] == "pkg:npm/htm@3.1.1", "what the pages use, too"
    assert libraries["preact"]["version"] == "10"
    redis = libraries["redis"]
    assert redis["externalReferences"][0]["hashes"][0]["alg"] == "SHA-256"
