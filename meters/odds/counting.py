"""The calculation of odds with progress bars, and with counts that are kept for the next time."""

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
from meters.terminal.console import PlainConsole

_SILENT_SECONDS: Final = 1.0


def count_entries(offers: Sequence[Offer], command: str, *, keep: bool = True) -> list[OddsEntry]:
    """Return the odds of offers. Show a progress bar if the calculation takes over a second.

    Args:
        offers: the wagers, each with a paytable.
        command: the name of the command, for messages.
        keep: whether to keep the counts in the user's cache directory, and to use those in it.
    """
    with _ProgressBars(command) as bars:
        directory = _cache_directory() if keep else None
        if keep and directory is None:
            bars.notice("there is no home directory to keep counts in")
        shelf = CountCache(directory, bars.notice) if directory else None
        counted = Enumerator(shelf, bars.begin)
        return [entry_of(offer, counted) for offer in offers]


def _cache_directory() -> Path | None:
    """Return the directory in which counts are kept: `pitlink` in the user's cache directory.

    Return None if the user has no home directory.
    """
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
    """Progress bars on standard error, one for each count of hands. They appear after a second."""

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
        """Note the time at which the work starts."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bars."""
        if self._started:
            self._progress.stop()

    def begin(self, name: str, steps: int) -> Advance:
        """Add a bar for a new count. Return a function to call as the count progresses."""
        task = self._progress.add_task(f"Counting {name}", total=steps)

        def advance(done: int) -> None:
            self._progress.update(task, advance=done)
            if not self._started and time.monotonic() - self._begun > _SILENT_SECONDS:
                self._started = True
                self._progress.start()

        return advance

    def notice(self, message: str) -> None:
        """Print a message that is not an error."""
        said = f"pitlink {self._command}: {message}"
        self._console.print(said, soft_wrap=True)
