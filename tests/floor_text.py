"""Texts of floor files for tests, built section by section.

The tests of the parser in `tests/floor` use a literal text, because they name its line numbers.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

Value = str | int | Path | None | Sequence["Value"] | Mapping[str, "Value"]
"""Value of a setting. A setting that is None is left out."""

METERS: Final = (
    "progressive",
    "five_card_progressive",
    "five_of_six_progressive",
    "five_card_hand_bonus",
)
"""The four kinds of meter. Each kind is also the default id of its meter."""

ONE_REJECTS: Final = 10**9
"""A `two_people_reject_above` with which one person rejects every win."""


def floor_text(
    *sections: str, service: Mapping[str, Value] | None = None, **facility: Value
) -> str:
    """Build the floor file of a facility, whose settings add to name and time zone."""
    named: dict[str, Value] = {"name": "Test House", "timezone": "America/New_York"}
    parts = [section_text("[facility]", **named | facility)]
    if service is not None:
        parts.append(section_text("[service]", **service))
    return "\n".join([*parts, *sections])


def link_text(link: str, *parts: str, name: str = "") -> str:
    """Build a link followed by its meters and tables. Its name is its id unless set."""
    return "\n".join([section_text("[[link]]", id=link, name=name or link), *parts])


def meter_text(kind: str, wager: int = 100, **settings: Value) -> str:
    """Build a meter. A progressive has paytable A unless set."""
    usual: dict[str, Value] = {"kind": kind, "wager": wager}
    if kind == "progressive":
        usual["paytable"] = "A"
    return section_text("[[link.meter]]", **usual | settings)


def table_text(table: str, *meters: str, **settings: Value) -> str:
    """Build a table; by default Three Card Poker with seven positions."""
    usual: dict[str, Value] = {
        "id": table,
        "asset": table,
        "game": "three_card_poker",
        "positions": 7,
        "meters": meters or None,
    }
    return section_text("[[link.table]]", **usual | settings)


def promotion_text(promotion: str, meter: str, adds: int | None, **settings: Value) -> str:
    """Build a promotion; by default, each day and all day. `begins` and `ends` are its hours."""
    usual: dict[str, Value] = {"id": promotion, "name": f"The {promotion}"}
    hours = {"from": settings.pop("begins", "00:00"), "to": settings.pop("ends", "00:00")}
    given = usual | {"meter": meter, "adds": adds} | hours | settings
    return section_text("[[link.promotion]]", **given)


def section_text(head: str, **settings: Value) -> str:
    lines = (f"{key} = {_toml(value)}\n" for key, value in settings.items() if value is not None)
    return f"{head}\n{''.join(lines)}"


def _toml(value: Value) -> str:
    match value:
        case str() | Path():
            return json.dumps(str(value), ensure_ascii=False)
        case Mapping():
            return f"{{ {', '.join(f'{key} = {_toml(part)}' for key, part in value.items())} }}"
        case Sequence():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value)
