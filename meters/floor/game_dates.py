"""Dates between which a game can be played: `effective` and `expires` of its file.

Outside them, the tables of the game begin no round, and the service refuses their wagers. An open
round can still be settled or voided, and its wins can be paid.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bonus.law.chapter_file import Chapter
from meters.floor.floor_file import Floor

EXPIRES_SOON_DAYS: Final = 30
"""Days before the last day of a game from which there are warnings."""

GAME_NOT_IN_EFFECT: Final = "game_not_in_effect"
"""Refusal code for a game outside its dates; the service and the table use it."""


def date_warnings(floor: Floor, now: datetime | None = None) -> tuple[str, ...]:
    """Return a warning for each game of a floor's tables that cannot be played now.

    A game that expires within `EXPIRES_SOON_DAYS` days brings one too. Days are those of the
    facility's time zone.
    """
    today = _today(floor.facility.timezone, now)
    return tuple(warning for game in _played(floor) if (warning := _warning(game, today)))


def problem_now(game: Chapter, timezone: str, now: datetime | None = None) -> str:
    """Return why a game cannot be played now; empty if it can. Days are those of `timezone`."""
    if game.effective is None and game.expires is None:
        return ""
    return _problem(game, _today(timezone, now))


def _problem(game: Chapter, today: date) -> str:
    if game.effective and today < date.fromisoformat(game.effective):
        return f"{_name(game)} cannot be played before {game.effective}: its file says effective"
    if game.expires and today > date.fromisoformat(game.expires):
        return f"{_name(game)} cannot be played after {game.expires}: its file says expires"
    return ""


def _warning(game: Chapter, today: date) -> str:
    if problem := _problem(game, today):
        return f"{problem}; its tables accept no wagers"
    if game.expires is None:
        return ""
    left = date.fromisoformat(game.expires) - today
    if left.days > EXPIRES_SOON_DAYS:
        return ""
    return f"{_name(game)} expires: it cannot be played after {game.expires}"


def _name(game: Chapter) -> str:
    return f"{game.title} ({game.game})"


def _today(timezone: str, now: datetime | None) -> date:
    return (now or datetime.now(UTC)).astimezone(ZoneInfo(timezone)).date()


def _played(floor: Floor) -> Iterator[Chapter]:
    names = dict.fromkeys(table.game for link in floor.link for table in link.table)
    return (floor.games[name] for name in names)
