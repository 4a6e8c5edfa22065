"""How far a command has come, on a terminal."""

import sys

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from meters.terminal.console import PlainConsole


def progress_bar() -> Progress:
    """A bar for each link on standard error, and nothing where that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=PlainConsole(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
