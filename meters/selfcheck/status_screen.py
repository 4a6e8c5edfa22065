"""The state of a floor on a screen: a line for each link and each check, if they fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bonus.display import money
from meters.selfcheck.check_result import Check, age_text

_STYLES: Final = {"warn": "yellow", "FAIL": "bold red"}
_NAMED_MAX: Final = 8
WIN_WAITS_S: Final = 900
"""A win can wait this long without a warning, as for the alert PitlinkClaimWaits."""


@dataclass(frozen=True, slots=True)
class StoredLink:
    """The data of a link in Redis that the screen shows.

    `closure` says who closed the link, when and why. `meters` has each meter's title and amount in
    cents. `wins` and `requests` count what waits for a floorperson; `oldest_s` is the age of the
    oldest win. `day_closed` is the last closed gaming day; empty if no day was closed.
    """

    closure: str | None = None
    meters: tuple[tuple[str, int], ...] = ()
    wins: int = 0
    oldest_s: float = 0.0
    requests: int = 0
    day_closed: str = ""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """The state of a link and its reason, in the words of the floor page.

    `state` is ``Open``, ``Closed``, ``Inoperable`` or ``Unknown``. `offline` has the tables whose
    agents are not connected; None if no service answers. If Redis cannot be read, `stored` is None.
    """

    link: str
    state: str
    reason: str
    tables: int
    offline: tuple[str, ...] | None
    stored: StoredLink | None

    @property
    def check(self) -> Check:
        """The link as the result of a check.

        It fails if no service operates the link, or if its state is unknown. It warns if a win
        waits too long, or if an agent is not connected.
        """
        works = self.state in {"Open", "Closed"}
        oldest_s = self.stored.oldest_s if self.stored else 0.0
        waits = oldest_s > WIN_WAITS_S or bool(self.offline)
        return Check(self.link, holds=works and not waits, seen=self.reason, warns=works)


@dataclass(frozen=True, slots=True)
class FloorStatus:
    facility: str
    timezone: str
    at: datetime
    links: tuple[LinkStatus, ...]
    checks: tuple[Check, ...]

    @property
    def problems(self) -> int:
        every = [*(link.check for link in self.links), *self.checks]
        return sum(not check.holds for check in every)


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """A line of the screen. Without a `mark`, it continues the line above."""

    mark: str
    text: str

    @property
    def style(self) -> str | None:
        return _STYLES.get(self.mark)


def status_lines(
    status: FloorStatus, *, meters: bool = True, well: bool = True
) -> Iterator[ScreenLine]:
    """Yield the lines of the screen.

    Without ``well``, links and checks without a problem are only counted.
    """
    width = max(len(link.link) for link in status.links)
    for link in status.links:
        if well or not link.check.holds:
            yield from _link_lines(link, width, meters=meters)
    fine = [link for link in status.links if link.check.holds]
    if fine and not well:
        wins = sum(link.stored.wins for link in fine if link.stored)
        seen = f"{len(fine)} other links, with all their tables online, {wins} wins wait"
        yield ScreenLine("ok", seen)
    for check in status.checks:
        if well or not check.holds:
            yield ScreenLine(check.mark, check.line)
    rest = sum(check.holds for check in status.checks)
    if rest and not well:
        yield ScreenLine("ok", f"{rest} other checks")


def _link_lines(link: LinkStatus, width: int, *, meters: bool) -> Iterator[ScreenLine]:
    offline = link.offline
    online = "?" if offline is None else link.tables - len(offline)
    tables = f"{online} of {link.tables} tables online"
    begin = f"{link.link:<{width}}  {link.state:<10}"
    yield ScreenLine(link.check.mark, f"{begin}  {tables}  {_waiting(link.stored)}")
    if link.reason:
        yield ScreenLine("", link.reason)
    if offline:
        more = f", and {len(offline) - _NAMED_MAX} more" if len(offline) > _NAMED_MAX else ""
        yield ScreenLine("", f"not connected: {', '.join(offline[:_NAMED_MAX])}{more}")
    if meters and link.stored and link.stored.meters:
        amounts = (f"{title} {money(cents)}" for title, cents in link.stored.meters)
        yield ScreenLine("", ", ".join(amounts))


def _waiting(stored: StoredLink | None) -> str:
    if stored is None:
        return "wins not known"
    words = "no win waits"
    if stored.wins:
        wins = f"{stored.wins} win{'s wait' if stored.wins > 1 else ' waits'}"
        words = f"{wins}, oldest {age_text(stored.oldest_s)}"
    if stored.requests:
        words += f", {stored.requests} request{'s wait' if stored.requests > 1 else ' waits'}"
    return words


def _need_a_person(wins: int, requests: int, others: int = 0) -> str:
    """Return in words what needs a person; empty if nothing does.

    >>> _need_a_person(1, 0), _need_a_person(2, 1, 1)
    ('1 win needs a person', '2 wins, 1 request and 1 line need a person')
    """
    counts = ((wins, "win"), (requests, "request"), (others, "line"))
    parts = [f"{count} {one}{'s' * (count > 1)}" for count, one in counts if count]
    words = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
    one = wins + requests + others == 1
    return f"{words} need{'s' * one} a person" if words else ""


def heading(status: FloorStatus) -> str:
    """Return the first line: the facility, its local time, and what needs a person."""
    at = status.at.astimezone(ZoneInfo(status.timezone))
    stored = [link.stored for link in status.links if link.stored]
    wins, requests = sum(one.wins for one in stored), sum(one.requests for one in stored)
    verdict = _need_a_person(wins, requests, status.problems) or "all in order"
    return f"{status.facility}, {at:%Y-%m-%d %H:%M:%S %Z}: {verdict}"


def fitting_screen(status: FloorStatus, console: Console) -> RenderableType:
    """Return the screen in a terminal.

    If it does not fit, the meters are left out. If it still does not fit, links and checks without
    a problem are only counted, and then the last lines are left out.
    """
    for meters, well in ((True, True), (False, True), (False, False)):
        shown = list(status_lines(status, meters=meters, well=well))
        screen = _grid(status, shown)
        # Rendering hundreds of lines takes seconds. Each line needs at least one row.
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
