"""The console of the commands (library rich): colors and tables, with escaped text."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bonus.printable import escape_unprintable
from meters.terminal.printing import escape_lines


class PlainConsole(Console):
    """A console that escapes control characters in its text, and does not interpret markup.

    Args:
        stderr: whether to print to standard error.
        width: the number of columns if there is no terminal; None for the default of rich.
        soft_wrap: whether to leave long lines as they are, without line breaks.
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
        """Print a text as one line. Line breaks in the text are escaped."""
        self.print(escape_unprintable(text), style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render an object, and escape its text."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_lines(segment.text), segment.style)
