"""A small floor with keys: two links, two tables on one of them, parts over TLS."""

from pathlib import Path
from typing import Final

_FLOOR: Final = """\
[facility]
name = "Test House"
timezone = "America/New_York"

[service]
broker = "{broker}"
redis = "{redis}"
http = "127.0.0.1:{http}"
data = "{data}"
{keys}

[[link]]
id = "main"
name = "Main"
meter = [
  {{ kind = "progressive", wager = 100, paytable = "A" }},
  {{ kind = "five_card_progressive", wager = 100 }},
]

[[link.table]]
id = "A-1"
asset = "1"
game = "three_card_poker"
positions = 7
meters = ["progressive"]

[[link.table]]
id = "A-2"
asset = "2"
game = "three_card_poker"
positions = 7
meters = ["progressive", "five_card_progressive"]

[[link]]
id = "other"
name = "Other"
meter = [{{ kind = "progressive", wager = 500, paytable = "B" }}]

[[link.table]]
id = "B-1"
asset = "3"
game = "three_card_poker"
positions = 7
meters = ["progressive"]
"""

METERS: Final = 3

ANOTHER_TABLE: Final = """
[[link.table]]
id = "B-2"
asset = "4"
game = "three_card_poker"
positions = 7
meters = ["progressive"]
"""
"""Put at the end of the floor file, it is on the link `other`."""


def write_floor(
    path: Path,
    *,
    broker: str = "embedded",
    redis: str = "embedded",
    http: int = 8080,
    data: Path | None = None,
    keys: Path | None = None,
) -> Path:
    """Write the floor file at a path, and give the path."""
    text = _FLOOR.format(
        broker=broker,
        redis=redis,
        http=http,
        data=data or path.parent / "data",
        keys=f'keys = "{keys}"' if keys else "",
    )
    path.write_text(text)
    return path
