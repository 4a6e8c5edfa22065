"""Tables and progress bars on a terminal, with control characters made visible."""

import sys
from collections.abc import Callable, Iterable
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from bonus.printable import escape_unprintable
from meters.process.printing import escape_lines


class PlainConsole(Console):
    """A console that escapes control characters in its text, and does not interpret markup.

    `width` is used if there is no terminal. With `soft_wrap`, long lines are not broken.
    """

    def __init__(
        self, *, stderr: bool = False, width: int | None = None, soft_wrap: bool = False
    ) -> None:
        super().__init__(
            stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap
        )
        if width is not None and not self.is_terminal:
            self.width = width

    def print_line(self, text: str, style: str | None = None) -> None:
        """Print a text as one line: its line breaks are escaped."""
        self.print(escape_unprintable(text), style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_lines(segment.text), segment.style)


_UNIT: Final = "entries"
_RATE_OVER_S: Final = 300.0
"""The rate is measured over five minutes, because some commands report progress minutes apart."""


class _Count(ProgressColumn):
    def render(self, task: Task) -> Text:
        count, unit = f"{task.completed:,.0f}", task.fields.get("unit", _UNIT)
        if task.total is not None:
            count += f" of {task.total:,.0f}"
        speed = task.finished_speed or task.speed
        return Text(f"{count} {unit}" if speed is None else f"{count}, {speed:,.0f} {unit}/s")


class _TimeLeft(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        if task.time_remaining is None or task.finished:
            return Text("")
        return Text.assemble(super().render(task), " left")


def progress_bar() -> Progress:
    """Return progress bars on standard error. Without a terminal, they show nothing.

    A task counts ledger entries, or the unit in its field ``unit``.
    """
    one_line = Column(no_wrap=True)
    return Progress(
        TextColumn("{task.description}", table_column=Column()),
        BarColumn(bar_width=10),
        _Count(table_column=one_line),
        _TimeLeft(table_column=one_line),
        console=PlainConsole(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
        speed_estimate_period=_RATE_OVER_S,
    )


def begin_bar(progress: Progress, what: str, unit: str = _UNIT) -> Callable[[int, int], None]:
    """Add a progress bar. Return a function that gets the number of finished and of all units."""
    task = progress.add_task(what, total=None, unit=unit)

    def advance(done: int, of: int) -> None:
        progress.update(task, completed=done, total=of)

    return advance
