"""The self-check of a running service, and of the installed programs (duty D9).

The programs are compared with the digests in RECORD, a file of the wheel that was written when the
wheel was built. A person who can change installed files can also change RECORD. So pitlink also
shows one digest over all files. People compare it with the digest of the submitted wheel, which
they keep in another place.
"""

import asyncio
import base64
import csv
import hashlib
import importlib.util
import marshal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, FileHash, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import msgspec
import structlog

from meters.floor.floor_file import Floor
from meters.selfcheck.check_result import Check, failure, passed, warning
from meters.selfcheck.floor_checks import date_checks, facility_checks

log = structlog.get_logger()

SOFTWARE_EVERY_S: Final = 3_600.0
UNDER_WAY: Final = "the self-check is under way"

_ROOMS: Final = ("bonus", "meters", "controllers")
_PROGRAM: Final = frozenset({".py", ".pyc", ".so", ".lua", ".js", ".html", ".css", ".toml", ".svg"})
"""Suffixes of files that run, are shown, or contain the rules. An installed file with one of these
suffixes must be in RECORD.
"""

_HEADER: Final = 16
_BY_DIGEST: Final = 1
"""Flag in a compiled file: the file contains the digest of its source. Python can run such a file
without comparing this digest with the source.
"""
_DIGESTS: Final = frozenset({"sha256", "sha384", "sha512"})
"""Digests that a wheel's RECORD may use. Weaker digests are refused."""

_CACHE: Final = "__pycache__"
_NAMED_MOST: Final = 5


@dataclass(frozen=True, slots=True)
class Software:
    """The installed programs. If they are a git checkout without RECORD, `recorded` is false.

    `digest` is one SHA-256 over the output of `sha256sum` for each file, sorted by path.
    """

    files: int
    digest: str
    problems: tuple[str, ...]
    recorded: bool = True

    @property
    def check(self) -> Check:
        seen = f"{self.files} files, SHA-256 over all {self.digest}"
        if self.problems:
            more = len(self.problems) - _NAMED_MOST
            problems = "; ".join(self.problems[:_NAMED_MOST]) + (
                f"; and {more} more" if more > 0 else ""
            )
            return failure("software", f"{problems} ({seen})")
        if not self.recorded:
            seen = f"a checkout, without digests to compare with: install the wheel ({seen})"
            return warning("software", seen)
        return passed("software", f"as the wheel recorded it: {seen}")


def read_software() -> Software:
    homes = {room: _home(room) for room in _ROOMS}
    found: dict[str, bytes] = {}
    problems: list[str] = []
    for path, file in _present(homes):
        if file.is_dir():
            # Python prefers a directory to a module of the same name. This check does not read the
            # directory.
            problems.append(f"{path} is a symbolic link to a directory")
            continue
        try:
            found[path] = file.read_bytes()
            if file.suffix == ".py" and not is_of_its_source(file, found[path]):
                problems.append(f"{path} has compiled code of another source")
        except OSError as error:
            problems.append(f"{path} cannot be read: {error.strerror}")
    digest = hashlib.sha256(
        b"".join(
            f"{hashlib.sha256(data).hexdigest()}  {path}\n".encode()
            for path, data in sorted(found.items())
        )
    ).hexdigest()
    try:
        installed = distribution("pitlink")
    except PackageNotFoundError:
        return Software(len(found), digest, ("the installation has no record", *problems))
    if _is_checkout(installed):
        return Software(len(found), digest, tuple(problems), recorded=False)
    try:
        differences = tuple(_differences(installed, homes, found))
    except (ValueError, TypeError, IndexError, csv.Error):
        differences = ("the installation's record of its files cannot be read",)
    return Software(len(found), digest, (*differences, *problems))


def _home(room: str) -> Path:
    spec = importlib.util.find_spec(room)
    return Path(spec.origin).parent if spec and spec.origin else Path(room)


def _present(homes: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield every file of the packages outside ``__pycache__``, after its path as in RECORD.

    A symbolic link to a directory is yielded, but not the files in the directory.
    """
    for room, home in homes.items():
        for file in sorted(home.rglob("*")):
            linked = file.is_symlink() and file.is_dir()
            if _CACHE not in file.parts and (linked or file.is_file()):
                yield f"{room}/{file.relative_to(home).as_posix()}", file


class _Directory(msgspec.Struct, frozen=True):
    editable: bool = False


class _Origin(msgspec.Struct, frozen=True):
    dir_info: _Directory = _Directory()


def _is_checkout(installed: Distribution) -> bool:
    try:
        text = installed.read_text("direct_url.json")
        return text is not None and msgspec.json.decode(text, type=_Origin).dir_info.editable
    except ValueError:
        return False


def _differences(
    installed: Distribution, homes: Mapping[str, Path], found: Mapping[str, bytes]
) -> Iterator[str]:
    recorded = {
        str(file): file.hash
        for file in installed.files or ()
        if file.parts[0] in _ROOMS and _CACHE not in file.parts
    }
    if not recorded:
        yield "the installation has no record of its files"
        return
    for room, home in homes.items():
        if home.resolve() != Path(str(installed.locate_file(room))).resolve():
            yield f"{room} does not run from where it was installed, but from {home}"
    for path, expected in sorted(recorded.items()):
        if path not in found:
            yield f"{path} is missing"
        elif not _is_as_recorded(found[path], expected):
            yield f"{path} is altered"
    for path in sorted(found.keys() - recorded.keys()):
        if Path(path).suffix in _PROGRAM:
            yield f"{path} was not installed"


def _is_as_recorded(data: bytes, expected: FileHash | None) -> bool:
    if expected is None or expected.mode not in _DIGESTS:
        return False
    digest = hashlib.new(expected.mode, data).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == expected.value


def is_of_its_source(source: Path, text: bytes) -> bool:
    """Return whether Python would run this source file, not a different compiled file beside it.

    Python does not run a compiled file that is outdated or of another version. If a compiled file
    cannot be read, `OSError` is raised.
    """
    try:
        compiled = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    except FileNotFoundError:
        return True
    if not compiled.startswith(importlib.util.MAGIC_NUMBER):
        return True
    flags, moment, size = (
        int.from_bytes(compiled[offset : offset + 4], "little") for offset in (4, 8, 12)
    )
    status = source.stat()
    if not flags & _BY_DIGEST and (moment, size) != (int(status.st_mtime), status.st_size):
        return True
    try:
        held: object = marshal.loads(compiled[_HEADER:])  # noqa: S302  (as Python itself would)
        return held == compile(text, str(source), "exec", dont_inherit=True)
    except (ValueError, EOFError, TypeError, SyntaxError):
        return False


class SelfCheck:
    """The checks of the whole service. `pitlink check` makes the same checks.

    After a failure, every link is inoperable until the service is restarted. Even if somebody
    restores an altered file, nobody knows which contents this process has loaded.
    """

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self.problem: str | None = UNDER_WAY

    async def run(self) -> None:
        """Check everything once, then the software and the games' dates every hour (D9, D10).

        After the start, a check of the games' dates is logged only when its result is new.
        """
        started = await asyncio.to_thread(read_software)
        dates = date_checks(self._floor)
        checks = [started.check, *await asyncio.to_thread(facility_checks, self._floor)]
        self._settle(checks)
        while self.problem is None:
            await asyncio.sleep(SOFTWARE_EVERY_S)
            software = since(started, await asyncio.to_thread(read_software))
            before, dates = dates, date_checks(self._floor)
            self._settle([software, *(check for check in dates if check not in before)])
        await asyncio.Event().wait()

    def _settle(self, checks: list[Check]) -> None:
        for check in checks:
            if check.fails:
                log.error("self-check failed", what=check.what, seen=check.seen)
            elif check.holds:
                log.info("self-check holds", what=check.what, seen=check.seen)
            else:
                log.warning("self-check warns", what=check.what, seen=check.seen)
        failed = [f"{check.what}: {check.seen}" for check in checks if check.fails]
        self.problem = f"self-check failed: {'; '.join(failed)}" if failed else None


def since(started: Software, now: Software) -> Check:
    """Check that the installed programs have not changed since this process started (D9)."""
    check = now.check
    if check.holds and now.digest != started.digest:
        return failure(
            check.what, "another release was installed since the start: restart the service"
        )
    return check
