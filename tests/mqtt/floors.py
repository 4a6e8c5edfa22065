"""The floor of the MQTT tests: many tables, so that each test has one that nobody else uses."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

TABLES: Final = 200

_DAY_STARTS: Final = datetime.now(ZoneInfo("America/New_York")) + timedelta(hours=12)
"""Far from now: the close of a gaming day is an entry more, which a test would not expect."""

_HEAD: Final = """
[facility]
name = "Test House"
timezone = "America/New_York"
day_starts = "{day_starts}"

[service]
broker = "{broker}"
redis = "{redis}"
http = "127.0.0.1:{port}"
data = "{data}"

[[link]]
id = "main"
name = "Main"
meter = [
  {{ kind = "progressive", wager = 100, paytable = "A" }},
  {{ kind = "five_card_progressive", wager = 100 }},
  {{ kind = "five_of_six_progressive", wager = 100 }},
  {{ kind = "five_card_hand_bonus", wager = 200{draws} }},
]
"""

_TABLE: Final = """
[[link.table]]
id = "{id}"
asset = "{id}"
game = "three_card_poker"
positions = 6
meters = [{meters}]
"""

_OTHER_LINK: Final = """
[[link]]
id = "other"
name = "Other"
meter = [{ kind = "progressive", wager = 500, paytable = "B" }]
"""

USUAL: Final = ("progressive", "five_card_progressive", "five_card_hand_bonus")
"""The meters of the tables T-1, T-2, …; the link's 5 of 6 Progressive is not among them."""


def floor_text(*, broker: str, redis: str, port: int, data: str, draws: str = "") -> str:
    """The floor file: link `main` with the tables T-1…, link `other` with the table X-1.

    Table S-1 of `main` has all four meters; `draws` are settings of its Five Card Hand Bonus.
    """
    every = (*USUAL, "five_of_six_progressive")
    return "".join(
        [
            _HEAD.format(
                day_starts=f"{_DAY_STARTS:%H}:00",
                broker=broker,
                redis=redis,
                port=port,
                data=data,
                draws=draws,
            ),
            *(_table(f"T-{number}", USUAL) for number in range(1, TABLES + 1)),
            _table("S-1", every),
            _OTHER_LINK,
            _table("X-1", ("progressive",)),
        ]
    )


def _table(name: str, meters: tuple[str, ...]) -> str:
    return _TABLE.format(id=name, meters=", ".join(f'"{meter}"' for meter in meters))
