import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from bonus.odds.enumerations import Enumerator
from bonus.odds.hand_counts import Advance
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from bonus.odds.wager_odds import entry_of
from meters.odds.count_cache import CountCache
from meters.process.console import PlainConsole

_SILENT_SECONDS: Final = 1.0


def count_entries(offers: Sequence[Offer], command: str, *, keep: bool = True) -> list[OddsEntry]:
    """Return the odds of offers, with a progress bar if the calculation takes over a second.

    ``command`` names the command in messages. ``keep``: use the counts in the user's cache
    directory.
    """
    with _ProgressBars(command) as bars:
        directory = _cache_directory() if keep else None
        if keep and directory is None:
            bars.notice("there is no home directory to keep counts in")
        shelf = CountCache(directory, bars.notice) if directory else None
        counted = Enumerator(shelf, bars.begin)
        return [entry_of(offer, counted) for offer in offers]


def _cache_directory() -> Path | None:
    """Return the directory in which counts are kept; None if the user has no home directory."""
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
