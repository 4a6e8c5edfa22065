"""The screen of `pitlink status`: one line for each link and each check, as much as fits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bonus.display import money
from meters.status.floor_status import FloorStatus, LinkStatus, age_text

_STYLES: Final = {"warn": "yellow", "FAIL": "bold red"}
_NAMED_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """A line of the screen. `mark` is empty for a line that continues the one above."""

    mark: str
    text: str

    @property
    def style(self) -> str | None:
        return _STYLES.get(self.mark)


def status_lines(
    status: FloorStatus, *, meters: bool = True, well: bool = True
) -> Iterator[ScreenLine]:
    """Yield the lines of a status.

    Without ``well``, the links and checks that are in order are only counted.
    """
    width = max(len(link.link) for link in status.links)
    for link in status.links:
        if well or not link.check.holds:
            yield from _link_lines(link, width, meters=meters)
    fine = [link for link in status.links if link.check.holds]
    if fine and not well:
        wins = f"{sum(link.wins or 0 for link in fine)} wins wait"
        yield ScreenLine("ok", f"{len(fine)} other links, with all their tables online, {wins}")
    for check in status.checks:
        if well or not check.holds:
            yield ScreenLine(check.mark, f"{check.what}: {check.seen}")
    rest = sum(check.holds for check in status.checks)
    if rest and not well:
        yield ScreenLine("ok", f"{rest} other checks")


def _link_lines(link: LinkStatus, width: int, *, meters: bool) -> Iterator[ScreenLine]:
    offline = link.offline
    online = "?" if offline is None else link.tables - len(offline)
    tables = f"{online} of {link.tables} tables online"
    yield ScreenLine(
        link.check.mark, f"{link.link:<{width}}  {link.state:<10}  {tables}  {_waiting(link)}"
    )
    if link.reason:
        yield ScreenLine("", link.reason)
    if offline:
        more = f", and {len(offline) - _NAMED_MAX} more" if len(offline) > _NAMED_MAX else ""
        yield ScreenLine("", f"not connected: {', '.join(offline[:_NAMED_MAX])}{more}")
    if meters and link.meters:
        amounts = (f"{title} {money(cents)}" for title, cents in link.meters)
        yield ScreenLine("", ", ".join(amounts))


def _waiting(link: LinkStatus) -> str:
    if link.wins is None:
        return "wins not known"
    words = "no win waits"
    if link.wins:
        wins = f"{link.wins} win{'s wait' if link.wins > 1 else ' waits'}"
        words = f"{wins}, oldest {age_text(link.oldest_s)}"
    if link.requests:
        words += f", {link.requests} request{'s wait' if link.requests > 1 else ' waits'}"
    return words


def heading(status: FloorStatus) -> str:
    """Return the first line: the facility, the time there, and how many lines need a person."""
    at, count = status.at.astimezone(ZoneInfo(status.timezone)), status.problems
    verdict = f"{count} need{'s' if count == 1 else ''} a person" if count else "all in order"
    return f"{status.facility}, {at:%Y-%m-%d %H:%M:%S %Z}: {verdict}"


def fitting_screen(status: FloorStatus, console: Console) -> RenderableType:
    """Return the screen in a terminal.

    If it is too small, the meters are left out first, then what is in order is only counted, and at
    last, the lines at the end are left out.
    """
    for meters, well in ((True, True), (False, True), (False, False)):
        shown = list(status_lines(status, meters=meters, well=well))
        screen = _grid(status, shown)
        # To render hundreds of lines takes seconds, and each line has at least one row.
        if len(shown) < console.height and _height(screen, console) <= console.height:
            return screen
    del shown[console.height :]
    while shown:
        shown.pop()
        screen = _grid(status, [*shown, ScreenLine("", "… more in a larger window")])
        if _height(screen, console) <= console.height:
            break
    return screen


def _height(screen: RenderableType, console: Console) -> int:
    return len(console.render_lines(screen, pad=False))


def _grid(status: FloorStatus, lines: Sequence[ScreenLine]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=4)
    grid.add_column(overflow="fold")
    grid.title = Text(heading(status), style="bold" if not status.problems else "bold red")
    grid.title_justify = "left"
    for line in lines:
        grid.add_row(line.mark, line.text, style=line.style)
    return grid
