"""Counting of odds for a command, with a progress bar and a cache on disk for later runs.

The name of a cached file includes a digest of the code that made the count. If a ranking or the
counting code changes, the names of older files no longer match, so no outdated count is read.
"""

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from os import PathLike, fspath
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from bonus.errors import UserError
from bonus.odds.enumerations import Enumerator
from bonus.odds.hand_counts import Advance
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from bonus.odds.wager_odds import entry_of
from meters.process.console import PlainConsole

_SILENT_SECONDS: Final = 1.0


def count_entries(
    offers: Sequence[Offer],
    command: str,
    *,
    keep: bool = True,
    refused: list[tuple[Offer, str]] | None = None,
) -> list[OddsEntry]:
    """Return the odds of offers. In a terminal, a count of over a second shows a progress bar.

    ``command`` is the command's name for messages. With ``keep``, counts are read from the user's
    cache directory, and kept there. An offer whose odds cannot be counted is added to
    ``refused``, with the reason, and has no entry.

    Raises:
        UserError: the odds of an offer cannot be counted, and ``refused`` is None.
    """
    entries: list[OddsEntry] = []
    with _ProgressBars(command) as bars:
        directory = _cache_directory() if keep else None
        if keep and directory is None:
            bars.notice(
                "there is no home directory, so the counted odds are not kept: the next run counts"
                " them again"
            )
        shelf = CountCache(directory, bars.notice) if directory else None
        counted = Enumerator(shelf, bars.begin)
        for offer in offers:
            try:
                entries.append(entry_of(offer, counted))
            except UserError as error:
                if refused is None:
                    raise
                refused.append((offer, str(error)))
    return entries


def _cache_directory() -> Path | None:
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification says that a relative path must be ignored.
    if Path(named).is_absolute():
        return Path(named) / "pitlink"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" / "pitlink" if home.is_absolute() else None


class _ProgressBars:
    def __init__(self, command: str) -> None:
        self._command = command
        self._console = PlainConsole(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._begun = time.monotonic()
        self._started = False

    def __enter__(self) -> "_ProgressBars":
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            self._progress.stop()

    def begin(self, name: str, steps: int) -> Advance:
        task = self._progress.add_task(f"Counting {name}", total=steps)

        def advance(done: int) -> None:
            self._progress.update(task, advance=done)
            if not self._started and time.monotonic() - self._begun > _SILENT_SECONDS:
                self._started = True
                self._progress.start()

        return advance

    def notice(self, message: str) -> None:
        said = f"pitlink {self._command}: {message}"
        self._console.print(said, soft_wrap=True)


_COUNTED_BY: Final = (
    "cards.py",
    "hands",
    "odds/hand_counts.py",
    "odds/dealer_duels.py",
    "odds/enumerations.py",
)
"""The modules of ``bonus`` that a count depends on. A package means all its modules."""

_DIGEST_SIZE: Final = 32
_SUFFIX: Final = ".counts"
_KEY: Final = re.compile(rf"[0-9a-f]{{{_DIGEST_SIZE}}}")


@cache
def code_digest() -> str:
    found = sha256()
    for name in _COUNTED_BY:
        for module in _modules(files("bonus").joinpath(*name.split("/"))):
            found.update(module.name.encode())
            found.update(module.read_bytes())
    return found.hexdigest()


class CountCache:
    """A directory of cached counts. It is made when the first count is stored.

    If a file is damaged or cannot be read, the count is made again. If nothing can be written, the
    next run counts again. The function ``notice`` gets each reason why a file cannot be used, but
    only the first reason why nothing can be written.
    """

    def __init__(
        self, directory: str | PathLike[str], notice: Callable[[str], None], code: str = ""
    ) -> None:
        self._directory = Path(fspath(directory))
        self._notice = notice
        self._code = code or code_digest()
        self._unwritable = False

    def get(self, name: str) -> bytes | None:
        path = self._path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._notice(f"{path} cannot be read ({error.strerror}); the odds are counted again")
            return None
        digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
        if sha256(payload).digest() != digest:
            self._notice(f"{path} is damaged; the odds are counted again")
            return None
        return payload

    def put(self, name: str, data: bytes) -> None:
        """Store data under a name in one step, even if several processes store the same name."""
        path = self._path(name)
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._write(path, sha256(data).digest() + data)
            self._drop_older(name, path)
        except OSError as error:
            if not self._unwritable:
                why = f"{error.strerror}"
                self._notice(f"nothing can be stored in {self._directory} ({why})")
            self._unwritable = True

    def _path(self, name: str) -> Path:
        key = sha256(f"{self._code} {name}".encode()).hexdigest()[:_DIGEST_SIZE]
        return self._directory / f"{_stem(name)}-{key}{_SUFFIX}"

    def _drop_older(self, name: str, path: Path) -> None:
        for other in self._directory.glob(f"{_stem(name)}-*{_SUFFIX}"):
            key = other.name.removeprefix(f"{_stem(name)}-").removesuffix(_SUFFIX)
            if other != path and _KEY.fullmatch(key):
                other.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        with NamedTemporaryFile(dir=self._directory, prefix=".", delete=False) as part:
            partial = Path(part.name)
            try:
                part.write(data)
                part.flush()
                partial.replace(path)
            except BaseException:
                with suppress(OSError):
                    partial.unlink()
                raise


def _stem(name: str) -> str:
    return name.replace(" ", "-").replace(",", "")


def _modules(at: Traversable) -> list[Traversable]:
    if at.is_dir():
        inside = [entry for entry in at.iterdir() if entry.name.endswith(".py")]
        return sorted(inside, key=lambda entry: entry.name)
    return [at]
