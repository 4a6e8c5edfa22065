"""Floors of the tests: the shipped one, and one with the house games of `tests/games/house`."""

import shutil
from pathlib import Path
from typing import Final

from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE

SHIPPED: Final = Path(__file__).resolve().parents[2] / "deploy" / "floor.toml"

TIERS: Final = ("keystone_mega", "keystone_major", "keystone_minor")

HOUSE_FLOOR: Final = floor_text(
    link_text(
        "mixed",
        *(meter_text(kind, chance_ratio_max=34) for kind in TIERS),
        meter_text(
            "seven_jackpot",
            500,
            paytable="B",
            id="seven",
            name="Sevens",
            limit=900_000_000,
            contribution_max=4_000,
        ),
        meter_text("progressive", 500, paytable="B"),
        table_text("KS-1", *TIERS, asset="7001", game="keystone_stud", positions=7),
        table_text("LS-1", *TIERS, "seven", asset="7002", game="lucky_seven", positions=6),
        table_text("LS-2", *TIERS, asset="7003", game="lucky_seven", positions=5),
        table_text("RD-1", *TIERS, asset="7004", game="river_duel", positions=4),
        table_text(
            "TCP-1",
            "progressive",
            asset="7005",
            paytables={
                "ante_bonus": "b-C",
                "pair_plus": "D",
                "mini_royal": {"ante_bonus": 6, "pair_plus": 60},
            },
        ),
        section_text(
            "[[link.promotion]]",
            id="friday",
            name="Friday Boost",
            meter="seven",
            adds=50_000,
            days=["friday", "saturday"],
            last="2026-12-31",
            **{"from": "18:00", "to": "23:00"},
        ),
        name="Mixed Link",
    ),
    games="games",
    name="Keystone House",
    validate_from=5_000,
    two_people_reject_above=1_000_000,
)
"""Three house games feed the same three meters, and one of them feeds a fourth."""


def house_floor(home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    shutil.copytree(HOUSE, home / "games")
    path = home / "floor.toml"
    path.write_text(HOUSE_FLOOR)
    return path
