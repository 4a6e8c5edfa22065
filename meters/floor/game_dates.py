"""Dates between which a game can be played: `effective` and `expires` of its file."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bonus.law.chapter_file import Chapter
from meters.floor.floor_file import Floor, FloorError, Table

EXPIRES_SOON_DAYS: Final = 30
"""Number of days before the last day of a game from which there are warnings."""


def check_dates(floor: Floor, now: datetime | None = None) -> tuple[str, ...]:
    """Check that every game of a floor's tables can be played now.

    Return a warning for each game that expires within `EXPIRES_SOON_DAYS` days. `now` is the
    present time unless it is given; days are those of the facility's time zone.

    Raises:
        FloorError: a game is not effective yet, or expired.
    """
    today = _today(floor, now)
    for game in _played(floor):
        _check(game, today)
    return tuple(warning for game in _played(floor) if (warning := date_warning(game, today)))


def check_table_date(floor: Floor, table: Table, now: datetime | None = None) -> None:
    """Check that the game of a table can be played now.

    Raises:
        FloorError: the game is not effective yet, or expired.
    """
    _check(table.chapter, _today(floor, now))


def date_problem(game: Chapter, today: date) -> str:
    """Return the reason why a game cannot be played today; empty if it can be played."""
    if game.effective and today < date.fromisoformat(game.effective):
        return f"{game.game} cannot be played before {game.effective}: its file says effective"
    if game.expires and today > date.fromisoformat(game.expires):
        return f"{game.game} cannot be played after {game.expires}: its file says expires"
    return ""


def date_warning(game: Chapter, today: date) -> str:
    """Return a warning if a game expires within `EXPIRES_SOON_DAYS` days; empty if it does not."""
    if game.expires is None:
        return ""
    left = date.fromisoformat(game.expires) - today
    if not 0 <= left.days <= EXPIRES_SOON_DAYS:
        return ""
    return f"{game.game} expires: it cannot be played after {game.expires}"


def _check(game: Chapter, today: date) -> None:
    if problem := date_problem(game, today):
        raise FloorError(problem)


def _today(floor: Floor, now: datetime | None) -> date:
    return (now or datetime.now(UTC)).astimezone(ZoneInfo(floor.facility.timezone)).date()


def _played(floor: Floor) -> Iterator[Chapter]:
    """Yield the games that the tables of a floor play, each once."""
    names = dict.fromkeys(table.game for link in floor.link for table in link.table)
    return (floor.games[name] for name in names)
