"""Files that processes write belong to their owner alone, under any umask."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controllers.agent.outbox import Outbox
from meters.process.private_files import make_private_directory, write_private_file
from meters.store.ledger_mark import LedgerMark
from tests.deploy.tree import DEPLOY, run_script
from tests.processes import pitlink_command
from tests.waiting import LONG_S, dies_with_us, free_port

pytestmark = pytest.mark.duty("D20")


def open_to_others(directory: Path) -> list[str]:
    return [
        f"{stat.S_IMODE(path.stat().st_mode):o} {path.relative_to(directory)}"
        for path in [directory, *directory.rglob("*")]
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.slow
def test_a_whole_floor_leaves_nothing_open_to_others(tmp_path: Path) -> None:
    """Outboxes, marks, embedded servers' data and logs belong to the owner; no core file exists."""
    data = tmp_path / "data"
    run = pitlink_command(
        "demo", "--for", "4", "--tables", "2", "--port", str(free_port()), "--data", str(data)
    )
    done = subprocess.run(
        dies_with_us(["sh", "-c", 'umask 0; ulimit -c unlimited; exec "$@"', "sh", *run]),
        capture_output=True, text=True, timeout=2 * LONG_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(data.rglob("*.sqlite"))
    assert list((data / "marks").iterdir())
    assert open_to_others(data) == []


@pytest.mark.slow
def test_no_process_of_ours_leaves_a_core_file(tmp_path: Path) -> None:
    look = "import sys, resource; from meters.cli.main import run\n"
    look += "sys.argv = ['pitlink', '--version']\n"
    look += "try: run()\nfinally: print(resource.getrlimit(resource.RLIMIT_CORE))"
    done = subprocess.run(
        ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", sys.executable, "-c", look],
        capture_output=True, text=True, timeout=LONG_S, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "(0, 0)"


@pytest.mark.usefixtures("no_umask")
def test_an_outbox_is_its_owners_alone_also_one_that_was_not(tmp_path: Path) -> None:
    path = tmp_path / "data" / "tables" / "T-1.sqlite"
    outbox = Outbox.open(path, "main", "T-1")
    outbox.write_event(1, b"{}", b"", b"")
    assert {each.name for each in path.parent.iterdir()} >= {"T-1.sqlite"}
    assert open_to_others(tmp_path / "data") == []
    outbox.close()
    path.chmod(0o644)
    Outbox.open(path, "main", "T-1").close()
    assert open_to_others(tmp_path / "data") == []


@pytest.mark.usefixtures("no_umask")
def test_a_ledger_mark_is_its_owners_alone_also_one_that_was_not(tmp_path: Path) -> None:
    data = tmp_path / "data"
    mark = LedgerMark(data, "main")
    mark.reset(3, "a" * 40, "b" * 40)
    assert open_to_others(data) == []
    mark.path.chmod(0o644)
    mark.reset(4, "c" * 40, "d" * 40)
    assert open_to_others(data) == []


@pytest.mark.usefixtures("no_umask")
def test_a_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    """It belongs to the operator. Directories created below it are closed to others."""
    tmp_path.chmod(0o755)
    make_private_directory(tmp_path / "a" / "b")
    with write_private_file(tmp_path / "a" / "b" / "c") as file:
        file.write(b"x")
    assert open_to_others(tmp_path) == ["755 ."]


def test_no_unit_and_no_container_leaves_a_core_file() -> None:
    """The unit sets the kernel's limit before the program runs."""
    units = [*(DEPLOY / "systemd").glob("*.service")]
    assert len(units) >= 4
    assert [path.name for path in units if "\nLimitCORE=0\n" not in path.read_text()] == []
    assert "ulimits: {core: 0}" in (DEPLOY / "compose.yaml").read_text()


def copy_image_files(home: Path, change: Callable[[str], str]) -> None:
    named = [DEPLOY / "compose.yaml", DEPLOY / "container" / "Containerfile"]
    for path in (*named, *(DEPLOY / "kubernetes").glob("*.yaml")):
        copy = home / path.relative_to(DEPLOY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(change(path.read_text()))


def make_program(path: Path, text: str = "") -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def test_every_image_is_pinned_to_a_digest() -> None:
    """This checks the committed files: a tag moved in a registry changes nothing on a floor."""
    checked = run_script("pin-images", "--check")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_images_are_pinned_to_what_the_registry_says(tmp_path: Path) -> None:
    """Every image in the files gets its digest after its tag, once, and keeps it."""
    deploy = tmp_path / "deploy"
    copy_image_files(deploy, lambda text: re.sub("@sha256:[0-9a-f]{64}", "", text))
    make_program(
        tmp_path / "docker", 'echo "sha256:$(printf %s "$4" | sha256sum | cut -d" " -f1)"\n'
    )
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PITLINK_DEPLOY": str(deploy)}
    before = run_script("pin-images", "--check", **env)
    assert before.returncode == 1
    assert "not pinned: eclipse-mosquitto:2.0.22\n" in before.stdout
    assert run_script("pin-images", **env).returncode == 0
    checked = run_script("pin-images", "--check", **env)
    assert (checked.returncode, checked.stdout) == (0, "")
    broker = (deploy / "kubernetes" / "30-broker.yaml").read_text()
    assert "image: eclipse-mosquitto:2.0.22@sha256:" in broker
    base = "ARG BASE=docker.io/library/python:3.12-slim-bookworm@sha256:"
    assert base in (deploy / "container" / "Containerfile").read_text()
    assert run_script("pin-images", **env).returncode == 0
    assert (deploy / "kubernetes" / "30-broker.yaml").read_text() == broker


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("redis:7.2.16", "redis:7.2.5", "image: {}"),
        ("redis:7.2.16", "redis:7.2.5", "- image: {}"),
        ("redis:7.2.16", "other/redis:9.1", "image: '{}' # x"),
        ("", "", "image: {}"),
        ("", "", 'image: "{}"'),
    ],
)
def test_an_image_with_known_weaknesses_is_named(
    tmp_path: Path, old: str, new: str, written: str
) -> None:
    """The committed images have none that the table knows."""
    copy_image_files(
        tmp_path,
        lambda text: re.sub(
            "image: (.+)", lambda found: written.format(found[1]), text.replace(old, new)
        ),
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in ("trivy", "grype"):
        make_program(programs / tool)
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "PITLINK_DEPLOY": str(tmp_path)}
    audited = run_script("audit-dependencies", "--images", **env)
    assert audited.returncode == (1 if new else 0), audited.stderr
    named = [line.endswith(f": {new}") for line in audited.stdout.splitlines()]
    assert named == [True] * bool(new)
