"""The floor of the demonstration: three links, each with a third of the tables.

At one table, a person is the dealer and uses a panel; at all others, bots deal. Two links have
tables with games of the chapters, and each has all four meters of these games. Of every four tables
with bots on these links, two play Three Card Poker and feed the meters; the others play Three Card
Prime and Four Card Prime, which have no progressive wagers. The tables of the third link play two
games of the house, and all feed the three meters of this link. With all games, four more links
have a table for each of the other example games.

In later runs with the same data directory, every table stays on its link, because the ledger of
this link has the table's entries.
"""

from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

import jinja2
import msgspec

from bonus.errors import UserError
from meters.floor.branding import Branding
from meters.floor.floor_file import Floor, Link, Table, read_own_floor
from meters.floor.themes import BUILT_IN
from meters.floor.toml_errors import read_file, read_toml

FLOOR_FILE: Final = "demo-floor.toml"
PANEL_TABLE: Final = "TCP-00"
"""The table without a bot, at which a person is the dealer and uses a panel."""

GAMES: Final = "games"
"""Directory of the game files of the house, in the data directory."""

LINKS: Final = 3
_LIBERTY: Final = "liberty"
"""The link of the two games of the house that always have tables."""
_SIGNAGE: Final = '[signage.wording]\nfoot = "Must be 21 · 1-800-GAMBLER"'
_CHAPTER_ASSET: Final = 104_200
_HOUSE_ASSET: Final = 104_300
"""A table's asset number is one of these two numbers plus the table's own number."""


def write_demo_floor(
    data: Path, tables: int, port: int, signage: Path | None = None, *, all_games: bool = False
) -> tuple[Path, Floor]:
    """Write the floor file of a demonstration, and the files of its games of the house.

    If earlier runs had more than `tables` tables, or all games, the file keeps them. The section
    ``[signage]`` of the file `signage` decides how the displays look.

    Raises:
        UserError: the data directory cannot be written to, or a floor file cannot be read.
    """
    path = data / FLOOR_FILE
    _write_games(data / GAMES)
    if path.exists():
        earlier = _tables_of(read_own_floor(path))
        tables = max(tables, len(earlier.chapters) + len(earlier.liberty))
        all_games = all_games or bool(earlier.others)
    text = _floor_text(data, *_shares(tables), port, _signage_text(signage), all_games=all_games)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error}") from None
    return path, read_own_floor(path)


def playing_tables(
    floor: Floor, tables: int, *, all_games: bool = False
) -> list[tuple[Link, Table]]:
    """Return the tables at which bots play, with their links: `tables`, and with all games more.

    An earlier run with the same data directory can have had more tables.
    """
    chapter_tables, house_tables = _shares(tables)
    known = _tables_of(floor)
    others = known.others if all_games else []
    return [*known.chapters[:chapter_tables], *known.liberty[:house_tables], *others]


def _floor_text(
    data: Path, chapter_tables: int, house_tables: int, port: int, signage: str, *, all_games: bool
) -> str:
    """Return the floor file.

    Of the tables with games of the chapters, those with odd numbers are on the one-dollar link, and
    the others are on the five-dollar link.
    """
    template = files("controllers.demo").joinpath("demo_floor.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(  # noqa: S701  (TOML, not HTML)
        trim_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(template).render(
        port=port,
        signage=signage,
        data=_quoted(str(data.absolute())),
        chapter_tables=chapter_tables,
        chapter_asset=_CHAPTER_ASSET,
        house_tables=house_tables,
        house_asset=_HOUSE_ASSET,
        all_games=all_games,
    )


class _OwnFile(msgspec.Struct):
    signage: Branding


def _signage_text(own: Path | None) -> str:
    if own is None:
        return _SIGNAGE
    _, raw, _ = read_toml(read_file(own, UserError), str(own), _OwnFile, UserError)
    look = msgspec.convert(raw["signage"], dict[str, object])
    for key in ("logo", "theme"):
        if key in look and look[key] not in BUILT_IN:
            look[key] = str((own.parent / str(look[key])).absolute())
    return "\n".join(("[signage]", *(f"{key} = {_toml(value)}" for key, value in look.items())))


def _toml(value: object) -> str:
    match value:
        case str():
            return _quoted(value)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            inner = ", ".join(f"{key} = {_toml(each)}" for key, each in value.items())
            return f"{{ {inner} }}"
    return str(value)


def _write_games(directory: Path) -> None:
    """Copy the game files to the data directory, because the package can move."""
    try:
        directory.mkdir(exist_ok=True)
        for file in files("controllers.demo").joinpath("games").iterdir():
            (directory / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        raise UserError(f"the games cannot be written to {directory}: {error}") from None


def _shares(tables: int) -> tuple[int, int]:
    """Return how many tables have games of the chapters, and how many have games of the house."""
    house_tables = tables // LINKS
    return tables - house_tables, house_tables


class _Tables(NamedTuple):
    """The tables with bots, by asset number."""

    chapters: list[tuple[Link, Table]]
    liberty: list[tuple[Link, Table]]
    others: list[tuple[Link, Table]]


def _tables_of(floor: Floor) -> _Tables:
    every = [(link, table) for link in floor.link for table in link.table]
    found = _Tables([], [], [])
    for link, table in sorted(every, key=lambda each: int(each[1].asset)):
        if table.game not in table.games.digests:
            of = found.chapters
        else:
            of = found.liberty if link.id == _LIBERTY else found.others
        if table.id != PANEL_TABLE:
            of.append((link, table))
    return found


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in text
    )
    return f'"{escaped}"'
