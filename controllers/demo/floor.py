"""The floor of the demonstration: three links, each with a third of the tables.

At one table, a person deals with a panel. Bots deal at all other tables.

The tables of two links play the games of the chapters. Each of these links has all four meters of
the chapters. Of every four of their tables with bots, two play Three Card Poker and feed the
meters. One plays Three Card Prime, and one plays Four Card Prime. These two games have no
progressive wagers.

The tables of the third link play two games of the house, which feed the same three meters. The
package contains the files of these games.

In later runs with the same data directory, every table stays on its link, because the ledger of the
link has entries of the table.
"""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.floor_file import Floor, Link, Table, read_own_floor

FLOOR_FILE: Final = "demo-floor.toml"
"""The floor file of the demonstration, in its data directory."""

PANEL_TABLE: Final = "TCP-00"
"""The table without a bot; a person deals at this table with a panel."""

GAMES: Final = "games"
"""The directory with the files of the games of the house, in the data directory."""

LINKS: Final = 3
"""The number of links."""

_HEAD: Final = """\
# The floor of `pitlink demo`, written again at each start.

[facility]
name = "Keystone Casino (simulated floor)"
timezone = "America/New_York"
tax_documents_above = 120_000
demonstration = true
games = "games"

[service]
http = "127.0.0.1:{port}"
data = {data}
"""

_LINK: Final = """
[[link]]
id = "{id}"
name = "{name}"

[[link.meter]]
kind = "progressive"
wager = {wager_cents}
paytable = "{paytable}"

[[link.meter]]
kind = "five_card_progressive"
wager = {wager_cents}

[[link.meter]]
kind = "five_of_six_progressive"
wager = {wager_cents}

[[link.meter]]
kind = "five_card_hand_bonus"
wager = {wager_cents}
magic_card_every = 100
lucky_every = 40
"""

_HOUSE_LINK: Final = """
[[link]]
id = "liberty"
name = "Liberty Jackpot"

[[link.meter]]
kind = "liberty_mega"
wager = 100

[[link.meter]]
kind = "liberty_major"
wager = 100

# Liberty Five wins it six times as often as Three Rivers: the house accepts this.
[[link.meter]]
kind = "liberty_minor"
wager = 100
chance_ratio_max = 6
"""

_POKER: Final = """
[[link.table]]
id = "TCP-{number:02d}"
asset = "{asset}"
game = "three_card_poker"
positions = 7
meters = ["progressive", "five_card_progressive", "five_of_six_progressive", "five_card_hand_bonus"]
paytables = {{ ante_bonus = "b-A", pair_plus = "D", six_card_bonus = "E" }}
"""

_THREE_CARD_PRIME: Final = """
[[link.table]]
id = "TPR-{number:02d}"
asset = "{asset}"
game = "three_card_prime"
positions = 6
paytables = {{ bad_beat = "B", pair_bonus = "A", all_six = "E", payout_limit = 5_000_000 }}
"""

_FOUR_CARD_PRIME: Final = """
[[link.table]]
id = "FPR-{number:02d}"
asset = "{asset}"
game = "four_card_prime"
positions = 6
paytables = {{ bad_beat = "A", prime = "A", aces_bonus = "A", all_six = "A" }}
"""

_THREE_RIVERS: Final = """
[[link.table]]
id = "RIV-{number:02d}"
asset = "{asset}"
game = "three_rivers"
positions = 6
meters = ["liberty_mega", "liberty_major", "liberty_minor"]
"""

_LIBERTY_FIVE: Final = """
[[link.table]]
id = "LIB-{number:02d}"
asset = "{asset}"
game = "liberty_five"
positions = 6
meters = ["liberty_mega", "liberty_major", "liberty_minor"]
"""

_CHAPTER_GAMES: Final = (_FOUR_CARD_PRIME, _POKER, _POKER, _THREE_CARD_PRIME)
"""Games of the chapters; the index is the number of the table modulo four."""

_HOUSE_GAMES: Final = (_LIBERTY_FIVE, _THREE_RIVERS)
"""Games of the house; the index is the number of the table modulo two."""

_CHAPTER_ASSET: Final = 104_200
_HOUSE_ASSET: Final = 104_300
"""The asset number of a table is one of these numbers plus the number of the table."""


def write_demo_floor(data: Path, tables: int, port: int) -> tuple[Path, Floor]:
    """Write the floor file of a demonstration, and the files of its games of the house.

    Args:
        data: the data directory.
        tables: minimum number of tables; tables of earlier runs are kept.
        port: the port of the service's pages.

    Returns:
        The file, and the floor that it describes.

    Raises:
        UserError: the data directory cannot be written to, or its floor file cannot be read.
    """
    path = data / FLOOR_FILE
    _write_games(data / GAMES)
    if path.exists():
        tables = max(tables, len(_bot_tables(read_own_floor(path).link)))
    text = _floor_text(data, *_shares(tables), port)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error}") from None
    return path, read_own_floor(path)


def playing_tables(floor: Floor, tables: int) -> list[tuple[Link, Table]]:
    """Return the tables at which bots play, with their links, if `tables` tables play.

    An earlier run with the same data directory can have had more tables.
    """
    chapter_tables, house_tables = _shares(tables)
    known = sorted(_bot_tables(floor.link), key=lambda each: int(each[1].asset))
    chapters = [each for each in known if not _is_house(each[1])]
    house = [each for each in known if _is_house(each[1])]
    return chapters[:chapter_tables] + house[:house_tables]


def _floor_text(data: Path, chapter_tables: int, house_tables: int, port: int) -> str:
    """Return the text of the floor file.

    Tables of the chapters' games with odd numbers are on the one-dollar link, and those with even
    numbers on the five-dollar link.
    """
    chapters = [
        _CHAPTER_GAMES[number % len(_CHAPTER_GAMES)].format(
            number=number, asset=_CHAPTER_ASSET + number
        )
        for number in range(1, chapter_tables + 1)
    ]
    house = [
        _HOUSE_GAMES[number % len(_HOUSE_GAMES)].format(number=number, asset=_HOUSE_ASSET + number)
        for number in range(1, house_tables + 1)
    ]
    return "".join(
        (
            _HEAD.format(port=port, data=_quoted(str(data.absolute()))),
            _LINK.format(id="tcp-one", name="One Dollar Jackpot", wager_cents=100, paytable="A"),
            _POKER.format(number=0, asset=_CHAPTER_ASSET),
            *chapters[::2],
            _LINK.format(id="tcp-five", name="Five Dollar Jackpot", wager_cents=500, paytable="B"),
            *chapters[1::2],
            _HOUSE_LINK,
            *house,
        )
    )


def _write_games(directory: Path) -> None:
    """Copy the game files of the package into a directory.

    The data directory has its own copy, because the package can move, and the floor file names the
    directory of the games.
    """
    try:
        directory.mkdir(exist_ok=True)
        for file in files("controllers.demo").joinpath("games").iterdir():
            (directory / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        raise UserError(f"the games cannot be written to {directory}: {error}") from None


def _shares(tables: int) -> tuple[int, int]:
    """Return how many of some tables play games of the chapters, and how many games of the house.

    Every third table plays a game of the house, so each link has a third of the tables.
    """
    house_tables = tables // LINKS
    return tables - house_tables, house_tables


def _bot_tables(links: Iterable[Link]) -> list[tuple[Link, Table]]:
    return [(link, table) for link in links for table in link.table if table.id != PANEL_TABLE]


def _is_house(table: Table) -> bool:
    """Return whether a table plays a game of the house."""
    return table.game in table.games.digests


def _quoted(text: str) -> str:
    """Return text as a TOML basic string."""
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in text
    )
    return f'"{escaped}"'
