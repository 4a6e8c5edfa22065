"""Floors with a game that has dates.

The time zone of the facility decides the date of today. So a floor file with another time zone has
another date: a day later in the east than in the west, at every moment.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from tests.floor_text import ONE_REJECTS, Value, floor_text, link_text, meter_text, table_text
from tests.games.texts import game_text, wager_text

WEST: Final = "Etc/GMT+12"
EAST: Final = "Pacific/Kiritimati"


def dated_floor(
    directory: Path, timezone: str, *, service: Mapping[str, Value] | None = None, **dates: str
) -> str:
    """Return a floor of two links and games: `dated`, whose file has the dates, and `other`.

    The tables T-1 and T-2 of the first link play the dated game, and T-3 the other game. So does
    X-1 of the second link.
    """
    dated = game_text("dated", ["m"], wager_text("own", "m"))
    lines = "".join(f'{name} = "{day}"\n' for name, day in dates.items())
    (directory / "dated.toml").write_text(dated.replace("title = ", f"{lines}title = ", 1))
    other = game_text("other", ["n"], wager_text("theirs", "n"))
    (directory / "other.toml").write_text(other)
    return floor_text(
        link_text(
            "pit",
            meter_text("m"),
            meter_text("n"),
            table_text("T-1", "m", asset="1", game="dated", positions=6),
            table_text("T-2", "m", asset="2", game="dated", positions=6),
            table_text("T-3", "n", asset="3", game="other", positions=6),
        ),
        link_text(
            "others", meter_text("n"), table_text("X-1", "n", asset="4", game="other", positions=6)
        ),
        service=service,
        games=str(directory),
        timezone=timezone,
        two_people_reject_above=ONE_REJECTS,
    )


def today_in_the_west() -> str:
    return datetime.now(ZoneInfo(WEST)).date().isoformat()
