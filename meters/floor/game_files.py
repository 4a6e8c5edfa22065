"""Game files of the house: the TOML files in the directory that the floor file names.

If today is not between the dates `effective` and `expires` of a game's file, the tables of the game
begin no round, and the service refuses their wagers. An open round can still be settled or voided,
and its wins can be paid.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from bonus.errors import UserError
from bonus.law.chapter_file import Chapter
from bonus.law.games import Games, chapter_games
from bonus.law.paytable_checks import check_chapter
from bonus.law.paytables import ChapterError
from meters.floor.toml_errors import SourceLines, read_file, read_toml, unprintable_texts

FILES_MAX: Final = 100
BYTES_MAX: Final = 262_144
"""The greatest size of a game file. The largest file of a chapter has 9 kB."""

EXPIRES_SOON_DAYS: Final = 30
"""Warnings begin this many days before the last day of a game."""

GAME_NOT_IN_EFFECT: Final = "game_not_in_effect"
"""Refusal code of the service and the table for a game outside its dates."""

_SUFFIX: Final = ".toml"


@dataclass(frozen=True, slots=True)
class GameText:
    """The text of a game file without a byte order mark. A line feed ends each line.

    `digest` is the SHA-256 of the text, in hexadecimal.
    """

    name: str
    text: str
    digest: str


class GameError(UserError):
    """Game file with an error. The message has the file, the line and the reason."""


def read_games(directory: Path) -> Games:
    """Read and check all game files of a directory. Return them with the games of the chapters.

    Files in subdirectories are not read.

    Raises:
        GameError: a file is wrong, cannot be read, or is a symbolic link out of the directory.
    """
    found: list[tuple[Chapter, str]] = []
    for path in _paths(directory):
        text = _read(path)
        try:
            found.append((parse_game(text, str(path)), _digest(text)))
            Games(found)
        except ChapterError as error:
            raise GameError(f"{path}:{_line_of(error, text)}: {error}") from None
    return Games(found) if found else chapter_games()


def read_game_texts(directory: Path, games: Games) -> dict[str, GameText]:
    """Read the files of the house's games again. Return their texts by the name of the game.

    Raises:
        GameError: a file cannot be read, or has changed since it was read for `games`.
    """
    found: dict[str, GameText] = {}
    of_digest = {digest: game for game, digest in games.digests.items()}
    for path in _paths(directory):
        text = _read(path)
        digest = _digest(text)
        if digest in of_digest:
            found[of_digest[digest]] = GameText(path.name, text, digest)
    for game in games.digests:
        if game not in found:
            raise GameError(f"{directory}: the file of {game} changed while it was read: try again")
    return found


def parse_game(text: str, name: str = "game file") -> Chapter:
    """Read and check the text of a game file. A `GameError` has the line and the reason."""
    game, raw, lines = read_toml(text, name, Chapter, GameError, of_game=True)
    for path, problem in unprintable_texts(raw, ()):
        raise GameError(f"{name}:{lines.line_of(path)}: {problem}")
    for key in ("effective", "expires"):
        if problem := _day_problem(getattr(game, key)):
            raise GameError(f"{name}:{lines.line_of((key,))}: {key} {problem}")
    try:
        check_chapter(game)
    except ChapterError as error:
        raise GameError(f"{name}:{_line_of(error, text)}: {error}") from None
    return game


def _paths(directory: Path) -> Iterator[Path]:
    try:
        root = directory.resolve(strict=True)
        paths = sorted(path for path in root.iterdir() if path.name.endswith(_SUFFIX))
    except OSError as error:
        raise GameError(f"{directory}: the games cannot be read: {error.strerror}") from None
    if len(paths) > FILES_MAX:
        raise GameError(f"{directory}: {len(paths)} game files: at most {FILES_MAX} are allowed")
    for path in paths:
        if path.resolve().parent != root:
            raise GameError(f"{path} is a symbolic link to another place: copy the file here")
        yield path


def _day_problem(day: str | None) -> str:
    try:
        date.fromisoformat(day or "2026-12-01")
    except ValueError:
        return f"is {day}, which is no day of the calendar"
    return ""


def _line_of(error: ChapterError, text: str) -> int:
    line = SourceLines(text).line_of(error.place) if error.place else 1
    if not error.text:
        return line
    start = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    at = text.find(error.text, start)
    return line if at < 0 else text.count("\n", 0, at) + 1


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > BYTES_MAX:
            raise GameError(f"{path}: the file is larger than {BYTES_MAX} bytes")
    except OSError as error:
        raise GameError(f"{path}: cannot be read: {error.strerror}") from None
    return read_file(path, GameError)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def date_warnings(
    games: Iterable[Chapter], timezone: str, now: datetime | None = None
) -> tuple[str, ...]:
    """Return a warning for each game that cannot be played today in `timezone`, or expires soon."""
    today = _today(timezone, now)
    return tuple(filter(None, (_warning(game, today) for game in games)))


def problem_now(game: Chapter, timezone: str, now: datetime | None = None) -> str:
    """Return why a game cannot be played today in `timezone`; empty if it can."""
    if game.effective is None and game.expires is None:
        return ""
    return _date_problem(game, _today(timezone, now))


def _date_problem(game: Chapter, today: date) -> str:
    name = f"{game.title} ({game.game})"
    if game.effective and today < date.fromisoformat(game.effective):
        return f"{name} cannot be played before {game.effective}, the date `effective` in its file"
    if game.expires and today > date.fromisoformat(game.expires):
        return f"{name} cannot be played after {game.expires}, the date `expires` in its file"
    return ""


def _warning(game: Chapter, today: date) -> str:
    if problem := _date_problem(game, today):
        return f"{problem}; its tables accept no wagers"
    if game.expires is None or (date.fromisoformat(game.expires) - today).days > EXPIRES_SOON_DAYS:
        return ""
    return f"{game.title} ({game.game}) expires: it cannot be played after {game.expires}"


def _today(timezone: str, now: datetime | None) -> date:
    return (now or datetime.now(UTC)).astimezone(ZoneInfo(timezone)).date()
