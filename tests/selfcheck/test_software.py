"""An installation is compared with the record of its wheel, file by file (duty D9)."""

import asyncio
import base64
import hashlib
import importlib.metadata
import importlib.util
import os
import py_compile
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest

import meters.selfcheck.software
from meters.floor.floor_file import parse_floor
from meters.selfcheck import software
from meters.selfcheck.check_result import Check
from meters.selfcheck.software import SelfCheck, read_software, since
from tests.floor.example import FLOOR
from tests.selfcheck.installed import ROOT, Installed, build_wheel
from tests.waiting import eventually_async

pytestmark = pytest.mark.duty("D9")

LUA: Final = "meters/store/scripts/decide_claim.lua"
PAGE: Final = "meters/web/assets/signage.js"
MODULE: Final = "bonus/law/meter_terms.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def home(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an installed copy, which this process treats as its own."""
    copy = Installed(wheel, tmp_path / "installed")
    (found,) = importlib.metadata.distributions(path=[str(copy.home)])
    monkeypatch.setattr(software, "distribution", lambda _: found)
    monkeypatch.setattr(software, "_home", lambda room: copy.home / room)
    return copy.home


def seen(*said: str) -> str:
    """Return the message of a failed check, which must contain each of these texts."""
    check = read_software().check
    assert (check.what, check.fails) == ("software", True)
    for part in said:
        assert part in check.seen, check.seen
    return check.seen


@pytest.mark.slow
def test_what_was_installed_is_as_recorded_and_its_digest_is_anybodys(home: Path) -> None:
    """The digest can be calculated without our code, from the wheel that was submitted."""
    check = read_software().check
    line = "find bonus meters controllers -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"
    done = subprocess.run(line, shell=True, cwd=home, capture_output=True, text=True, check=True)  # noqa: S602
    assert check.holds
    assert check.seen.endswith(f"SHA-256 over all {done.stdout.split()[0]}")


@pytest.mark.duty("D9", proof=True)
def test_one_byte_is_enough(home: Path) -> None:
    before = read_software().digest
    for name in (LUA, PAGE, MODULE, "bonus/law/chapters/649a.toml"):
        file = home / name
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        assert seen(f"{name} is altered").count(" is altered") == 1
        assert read_software().digest != before
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        assert read_software().check.holds


def test_a_file_that_was_not_installed_is_named(home: Path) -> None:
    for name in (
        "meters/store/scripts/more.lua", "bonus/more.py", "controllers/more.pyc",
        "meters/web/assets/more.js", "bonus/law/chapters/999a.toml", "bonus/more/law.so",
    ):  # fmt: skip
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("")
        seen(f"{name} was not installed")
        (home / name).unlink()


def test_files_that_are_missing_are_named_and_counted(home: Path) -> None:
    (home / LUA).unlink()
    seen(f"{LUA} is missing")
    shutil.rmtree(home / "bonus" / "hands")
    missing = 1 + len(list((ROOT / "bonus" / "hands").glob("*.py")))
    seen("bonus/hands/counts.py is missing", f"and {missing - 5} more")


def test_a_link_to_a_directory_is_named(home: Path, tmp_path: Path) -> None:
    """Python imports a package before a module of its name, even if it is a link."""
    (tmp_path / "returns").mkdir()
    (tmp_path / "returns" / "__init__.py").write_text("hurt = True\n")
    (home / MODULE).with_suffix("").symlink_to(tmp_path / "returns")
    seen("bonus/law/meter_terms is a symbolic link to a directory")


def compile_into(home: Path, text: str) -> Path:
    """Put the compiled form of another text next to a module, so that Python runs it."""
    source = home / MODULE
    was, moment = source.read_bytes(), source.stat()
    source.write_bytes(text.encode().ljust(len(was)))
    os.utime(source, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    compiled = Path(importlib.util.cache_from_source(str(source)))
    py_compile.compile(str(source), str(compiled), doraise=True)
    source.write_bytes(was)
    os.utime(source, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    return compiled


@pytest.mark.parametrize("whole", [True, False])
def test_a_compiled_form_of_another_source_is_found(home: Path, *, whole: bool) -> None:
    """Python runs it, although the source is unchanged."""
    compiled = compile_into(home, "hurt = True")
    if not whole:
        compiled.write_bytes(compiled.read_bytes()[:20])
    seen(f"{MODULE} has compiled code of another source")


def test_a_compiled_form_that_python_would_not_run_is_no_matter(home: Path) -> None:
    """This covers the module's own form, an outdated one, and one of another Python."""
    py_compile.compile(str(home / MODULE), doraise=True)
    assert read_software().check.holds
    compiled = compile_into(home, "hurt = True")
    os.utime(home / MODULE, (1, 1))
    assert read_software().check.holds
    compiled.write_bytes(b"\0" * 40)
    assert read_software().check.holds


def test_a_record_made_to_match_shows_in_the_digest_over_all(home: Path) -> None:
    """A person with the digest of the submitted wheel finds a change of both."""
    before = read_software()
    record = next(home.glob("*.dist-info")) / "RECORD"
    was = (home / LUA).read_bytes()
    (home / LUA).write_bytes(was + b"-- more\n")
    old, new = (
        base64.urlsafe_b64encode(hashlib.sha256(each).digest()).rstrip(b"=").decode()
        for each in (was, was + b"-- more\n")
    )
    assert record.read_text().count(old) == 1
    record.write_text(record.read_text().replace(old, new))
    after = read_software()
    assert after.check.holds
    assert after.digest != before.digest


RECORDS: Final[dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    "none": (lambda _: b"", "has no record of its files"),
    "itself alone": (lambda _: b"pitlink-0.1.0.dist-info/RECORD,,\n", "has no record of its files"),
    "no text": (lambda _: b"\x80", "the installation"),
    "more cells": (lambda _: b"bonus/more.py,,,,\n", "the installation"),
    "commas": (lambda _: b"," * 3, "the installation"),
    "an open quote": (lambda _: b'"\n,,\n', "the installation"),
    "no digest": (
        lambda text: re.sub(rb"(?m)^(%b),.*$" % LUA.encode(), rb"\1,,", text), f"{LUA} is altered",
    ),
    "shake_128": (lambda text: _recorded_by(text, b"shake_128"), f"{LUA} is altered"),
    "md5": (lambda text: _recorded_by(text, b"md5"), f"{LUA} is altered"),
}  # fmt: skip


def _recorded_by(text: bytes, how: bytes) -> bytes:
    return text.replace(b"%b,sha256=" % LUA.encode(), b"%b,%b=" % (LUA.encode(), how))


@pytest.mark.parametrize(("change", "said"), RECORDS.values(), ids=RECORDS)
def test_a_record_that_does_not_prove_the_files_is_refused(
    home: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    record = next(home.glob("*.dist-info")) / "RECORD"
    before = record.read_bytes()
    record.write_bytes(change(before))
    assert record.read_bytes() != before
    seen(said)


def test_an_origin_that_cannot_be_read_makes_no_checkout(home: Path) -> None:
    for data in (b"x", b"\x80", b'{"dir_info": 3}'):
        (next(home.glob("*.dist-info")) / "direct_url.json").write_bytes(data)
        assert read_software().check.holds


def test_programs_from_elsewhere_are_not_those_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = shutil.copytree(home / "bonus", home / "elsewhere" / "bonus")
    monkeypatch.setattr(
        software, "_home", lambda room: elsewhere if room == "bonus" else home / room
    )
    seen("bonus does not run from where it was installed")


@pytest.mark.slow
def test_a_checkout_has_nothing_to_be_held_against() -> None:
    """The tests run from a checkout, or from a copy that deploy/test made of it."""
    assert importlib.util.find_spec("meters") is not None
    check = read_software().check
    assert check == Check("software", holds=False, seen=check.seen, warns=True)
    assert "a checkout, without digests to compare with" in check.seen
    assert (ROOT / ".git").exists() or check.warns


@pytest.fixture
async def running(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SelfCheck]:
    monkeypatch.setattr(meters.selfcheck.software, "SOFTWARE_EVERY_S", 0.01)
    check = SelfCheck(parse_floor(FLOOR.replace('logo = "logo.svg"\n', "")))
    assert check.problem == "the self-check is under way"
    task = asyncio.create_task(check.run())
    await eventually_async(lambda: check.problem is None, what="all as installed")
    yield check
    task.cancel()
    await asyncio.wait({task})


async def test_a_file_that_changes_under_a_running_service_is_found_and_not_forgotten(
    home: Path, running: SelfCheck
) -> None:
    was = (home / LUA).read_bytes()
    (home / LUA).write_bytes(was + b"\n")
    problem = await eventually_async(lambda: running.problem, what="the file named")
    assert problem is not None
    assert problem.startswith(f"self-check failed: software: {LUA} is altered")
    (home / LUA).write_bytes(was)
    for _ in range(5):
        assert (await asyncio.to_thread(read_software)).check.holds
    assert running.problem == problem, "long enough to have looked again"


def test_another_release_under_a_running_service_is_not_what_was_started(home: Path) -> None:
    """Its files match its record. Only the running code differs from the installed one."""
    started = read_software()
    assert not since(started, read_software()).fails
    record = next(home.glob("*.dist-info")) / "RECORD"
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(line for line in lines if not line.startswith(MODULE)))
    (home / MODULE).unlink()
    now = read_software()
    assert now.check.holds
    assert "another release was installed since the start" in since(started, now).seen


async def test_a_logo_that_is_not_there_keeps_every_link_closed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that fails in `pitlink check` fails in a starting service too."""
    check = SelfCheck(parse_floor(FLOOR))
    task = asyncio.create_task(check.run())
    await eventually_async(lambda: "logo" in str(check.problem), what="the logo missed")
    task.cancel()
    await asyncio.wait({task})
