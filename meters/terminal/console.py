"""The console of rich as commands use it: colors and tables, and text that cannot do anything."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bonus.printable import escape_unprintable
from meters.terminal.printing import escape_lines


class PlainConsole(Console):
    """A console that escapes the text it is given; markup in it is text as well.

    Args:
        stderr: print to standard error.
        width: how many columns there are where this is no terminal; by rich's own rule if None.
        soft_wrap: leave long lines whole.
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
        """Print one line, whatever the text holds."""
        self.print(escape_unprintable(text), style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render what is printed, with its text escaped."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_lines(segment.text), segment.style)
