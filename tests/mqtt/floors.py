"""Floor of the MQTT tests: many tables, so each test has one that nobody else uses."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from tests.floor_text import METERS, ONE_REJECTS, floor_text, link_text, meter_text, table_text

TABLES: Final = 200

_DAY_STARTS: Final = datetime.now(ZoneInfo("America/New_York")) + timedelta(hours=12)
"""Hours far from now: the close of a gaming day adds an entry, which a test would not expect."""

USUAL: Final = ("progressive", "five_card_progressive", "five_card_hand_bonus")
"""Meters of the tables T-1, T-2, …. The link's 5 of 6 Progressive is not among them."""


def many_tables_text(
    *, broker: str, redis: str, port: int, data: Path | str, draws: Mapping[str, int] | None = None
) -> str:
    """Build the floor file: link `main` with the tables T-1…, link `other` with the table X-1.

    Table S-1 of `main` has all four meters. `draws` are settings of its Five Card Hand Bonus.
    """
    main = link_text(
        "main",
        *(meter_text(kind) for kind in METERS[:-1]),
        meter_text("five_card_hand_bonus", 200, **draws or {}),
        *(table_text(f"T-{number}", *USUAL, positions=6) for number in range(1, TABLES + 1)),
        table_text("S-1", *USUAL, "five_of_six_progressive", positions=6),
        name="Main",
    )
    other = link_text(
        "other",
        meter_text("progressive", 500, paytable="B"),
        table_text("X-1", "progressive", positions=6),
        name="Other",
    )
    http = f"127.0.0.1:{port}"
    return floor_text(
        main,
        other,
        service={"broker": broker, "redis": redis, "http": http, "data": data},
        day_starts=f"{_DAY_STARTS:%H}:00",
        two_people_reject_above=ONE_REJECTS,
    )
