from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bonus.printable import escape_unprintable
from meters.terminal.printing import escape_lines


class PlainConsole(Console):
    """A console that escapes control characters in its text, and does not interpret markup.

    `width` counts if there is no terminal. `soft_wrap` leaves long lines without line breaks.
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
        """Print a text as one line, with its line breaks escaped."""
        self.print(escape_unprintable(text), style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_lines(segment.text), segment.style)
