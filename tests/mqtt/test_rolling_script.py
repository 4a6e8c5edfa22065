"""`deploy/rolling-restart`: one service after the other, and none after one that fails."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.servers import answering
from tests.waiting import require

SCRIPT: Final = Path(__file__).resolve().parents[2] / "deploy" / "rolling-restart"


OTHER_FILES: Final = (
    '{"ready":false,"links":{"main":"self-check failed: software: bonus/a.py is altered"}}'
)


class Probes:
    """Replacement for the services' pages: each service is ready while its file exists.

    A file with text is the answer of a service that is not ready.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = 0
        self.restarted = home / "restarted"
        self.restarted.touch()
        self.systemctl = home / "systemctl"
        for name in ("a", "b"):
            (home / name).touch()

    def restart_with(self, act: str) -> None:
        """Have a restart run a shell command; `$2` is the unit."""
        self.systemctl.write_text(f'#!/bin/sh\necho "$1 $2" >> {self.restarted}\n{act}\n')
        self.systemctl.chmod(0o755)

    def run(self, *services: str) -> tuple[int, str, list[str]]:
        require("curl")
        done = subprocess.run(
            [str(SCRIPT), *services],
            env=os.environ | {"PITLINK_SYSTEMCTL": str(self.systemctl), "WITHIN": "1"},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, self.restarted.read_text().splitlines()

    def answer(self, path: str, _: object) -> tuple[int, str]:
        file = self.home / path.split("/")[1]
        reason = file.read_text() if file.exists() else "{}"
        return 503 if reason else 200, reason

    def service(self, name: str) -> str:
        return f"{name}=http://127.0.0.1:{self.port}/{name}"


@pytest.fixture
def probes(tmp_path: Path) -> Iterator[Probes]:
    probes = Probes(tmp_path)
    with answering(probes.answer) as probes.port:
        yield probes


@pytest.mark.parametrize(
    ("act", "missing", "found", "said"),
    [
        ("exit 0", "", (0, ["restart a", "restart b"]), ""),
        ("exit 0", "b", (1, []), "b is not ready: nothing was restarted"),
        ('rm "$(dirname "$0")/$2"', "", (1, ["restart a"]), "the others run on"),
        ("exit 4", "", (1, ["restart a"]), "the others run on"),
    ],
    ids=["each in turn", "one is not ready", "one does not come back", "one does not restart"],
)
def test_none_is_restarted_after_one_that_fails(
    probes: Probes, act: str, missing: str, found: tuple[int, list[str]], said: str
) -> None:
    probes.restart_with(act)
    if missing:
        (probes.home / missing).unlink()
    status, output, restarted = probes.run(probes.service("a"), probes.service("b"))
    assert (status, restarted) == found, output
    assert said in output


@pytest.mark.parametrize(
    ("stopped", "found"),
    [("a", ["a", "b"]), ("b", ["b", "a"]), ("ab", ["a", "b"])],
    ids=["the first", "the second", "both"],
)
def test_services_that_found_the_files_of_an_upgrade_restart_first(
    probes: Probes, stopped: str, found: list[str]
) -> None:
    """They operate no link until their restart, and a ready service does until then."""
    probes.restart_with(': > "$(dirname "$0")/$2"')
    for name in stopped:
        (probes.home / name).write_text(OTHER_FILES)
    status, output, restarted = probes.run(probes.service("a"), probes.service("b"))
    assert (status, restarted) == (0, [f"restart {name}" for name in found]), output


def test_a_service_whose_files_are_altered_is_the_only_one_that_restarts(probes: Probes) -> None:
    """Its next self-check finds the alteration again, and the other service plays on."""
    probes.restart_with("exit 0")
    (probes.home / "b").write_text(OTHER_FILES)
    status, output, restarted = probes.run(probes.service("a"), probes.service("b"))
    assert (status, restarted) == (1, ["restart b"]), output
    assert "b is not ready after 1 s" in output


@pytest.mark.parametrize("services", [[], ["a=http://x"], ["a", "b"]])
def test_wrong_usage_is_reported(probes: Probes, services: list[str]) -> None:
    status, said, restarted = probes.run(*services)
    assert (status, restarted) == (2, [])
    assert "UNIT=URL" in said
