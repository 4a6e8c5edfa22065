"""The text of the floor files that tests run on, built from their sections.

The tests of the reading itself, `tests/floor`, keep a literal text, whose line numbers they name.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

Value = str | int | Path | None | Sequence["Value"] | Mapping[str, "Value"]
"""A setting's value; a setting that is None is left out."""

METERS: Final = (
    "progressive",
    "five_card_progressive",
    "five_of_six_progressive",
    "five_card_hand_bonus",
)
"""The four kinds, each of which is also the id of a meter that is given no other."""


def floor_text(
    *sections: str, service: Mapping[str, Value] | None = None, **facility: Value
) -> str:
    """Build the floor file of a facility.

    Args:
        sections: its links, each as `link_text` builds it, and further sections.
        service: the settings of the section `service`; None for no such section.
        facility: its settings beside name and time zone, or in their place.
    """
    named: dict[str, Value] = {"name": "Test House", "timezone": "America/New_York"}
    parts = [section_text("[facility]", **named | facility)]
    if service is not None:
        parts.append(section_text("[service]", **service))
    return "\n".join([*parts, *sections])


def link_text(link: str, *parts: str, name: str = "") -> str:
    """Build a link, its meters and its tables following; its name is its id unless given."""
    return "\n".join([section_text("[[link]]", id=link, name=name or link), *parts])


def meter_text(kind: str, wager: int = 100, **settings: Value) -> str:
    """Build a meter; a progressive has paytable A unless another is given."""
    usual: dict[str, Value] = {"kind": kind, "wager": wager}
    if kind == "progressive":
        usual["paytable"] = "A"
    return section_text("[[link.meter]]", **usual | settings)


def table_text(table: str, *meters: str, **settings: Value) -> str:
    """Build a table of Three Card Poker with seven positions, or what the settings say instead."""
    usual: dict[str, Value] = {
        "id": table,
        "asset": table,
        "game": "three_card_poker",
        "positions": 7,
        "meters": meters or None,
    }
    return section_text("[[link.table]]", **usual | settings)


def section_text(head: str, **settings: Value) -> str:
    """Build a section, a setting a line."""
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
