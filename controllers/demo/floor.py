"""The floor of the demonstration: two links, each with all four meters and half of the tables.

At one table, a person deals with a panel. Bots deal at all other tables. Of every four tables with
bots, two play Three Card Poker and feed the meters. One plays Three Card Prime, and one plays Four
Card Prime. These two games have no progressive wagers.

In later runs with the same data directory, every table stays on its link, because the ledger of the
link has entries of the table.
"""

from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.floor_file import Floor, parse_floor, read_floor

FLOOR_FILE: Final = "demo-floor.toml"
"""The floor file of the demonstration, in its data directory."""

PANEL_TABLE: Final = "TCP-00"
"""The table without a bot; a person deals at this table with a panel."""

_HEAD: Final = """\
# The floor of `pitlink demo`, written again at each start.

[facility]
name = "Keystone Casino (simulated floor)"
timezone = "America/New_York"
tax_documents_above = 120_000
demonstration = true

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

_GAMES: Final = (_FOUR_CARD_PRIME, _POKER, _POKER, _THREE_CARD_PRIME)
"""Games of the tables; the index is the number of the table modulo four."""

_PANEL_ASSET: Final = 104_200


def write_demo_floor(data: Path, tables: int, port: int) -> tuple[Path, Floor]:
    """Write the floor file of a demonstration.

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
    if path.exists():
        before = [table for link in read_floor(path).link for table in link.table]
        tables = max(tables, sum(table.id != PANEL_TABLE for table in before))
    text = demo_floor_text(data, tables, port)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error}") from None
    return path, parse_floor(text, str(path))


def demo_floor_text(data: Path, tables: int, port: int) -> str:
    """Return the text of the floor file.

    Tables with odd numbers are on the one-dollar link, and tables with even numbers on the
    five-dollar link.
    """
    return "".join(
        (
            _HEAD.format(port=port, data=_quoted(str(data.absolute()))),
            _LINK.format(id="tcp-one", name="One Dollar Jackpot", wager_cents=100, paytable="A"),
            _POKER.format(number=0, asset=_PANEL_ASSET),
            *(_table(number) for number in range(1, tables + 1, 2)),
            _LINK.format(id="tcp-five", name="Five Dollar Jackpot", wager_cents=500, paytable="B"),
            *(_table(number) for number in range(2, tables + 1, 2)),
        )
    )


def _table(number: int) -> str:
    game = _GAMES[number % len(_GAMES)]
    return game.format(number=number, asset=_PANEL_ASSET + number)


def _quoted(text: str) -> str:
    """Return text as a TOML basic string."""
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in text
    )
    return f'"{escaped}"'
