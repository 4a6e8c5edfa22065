"""The floor of a chaos run: two links with all four meters each, and tables of both."""

import json
from pathlib import Path
from typing import Final

from tests.chaos.accounts import LinkTerms

TERMS: Final = {"one": LinkTerms(100, 1_400), "five": LinkTerms(500, 2_000)}
_PAYTABLES: Final = {"one": "A", "five": "B"}

_HEAD: Final = """
[facility]
name = "Test House"
timezone = "America/New_York"
"""
_LINK: Final = """
[[link]]
id = "{id}"
name = "{id}"
meter = [
  {{ kind = "progressive", wager = {wager}, paytable = "{paytable}" }},
  {{ kind = "five_card_progressive", wager = {wager} }},
  {{ kind = "five_of_six_progressive", wager = {wager} }},
  {{ kind = "five_card_hand_bonus", wager = {wager} }},
]
"""
_TABLE: Final = """
[[link.table]]
id = "{id}"
asset = "{id}"
game = "three_card_poker"
positions = 7
meters = ["progressive", "five_card_progressive", "five_of_six_progressive", "five_card_hand_bonus"]
"""


def tables_of(link: str, tables: int) -> tuple[str, ...]:
    """The tables of a link, where both links have so many together."""
    place = tuple(TERMS).index(link)
    return tuple(f"C-{number}" for number in range(1, tables + 1) if number % 2 == place)


def write_floor(path: Path, *, tables: int, broker: str, redis: str, port: int) -> Path:
    """The floor file, its data directory beside it."""
    service = {
        "broker": broker,
        "redis": redis,
        "http": f"127.0.0.1:{port}",
        "data": str(path.parent / "data"),
    }
    parts = [_HEAD, "\n[service]\n"]
    parts += [f"{key} = {json.dumps(value)}\n" for key, value in service.items()]
    for link, terms in TERMS.items():
        parts.append(_LINK.format(id=link, wager=terms.wager_cents, paytable=_PAYTABLES[link]))
        parts += [_TABLE.format(id=table) for table in tables_of(link, tables)]
    path.write_text("".join(parts))
    return path
