"""Floor of a run: three tables of one link, with terms under which every award is frequent."""

from pathlib import Path
from typing import Final

from meters.floor.floor_file import Floor, parse_floor
from tests.floor_text import section_text
from tests.model.model_floor import FLOOR

_CLOSES: Final = 'day_starts = "19:02"'
"""The gaming day closes two minutes after the beginning of a run, in the zone of the floor."""


def simulated_floor(data: Path) -> Floor:
    """Return the state machine's floor, for several services that share the tables' events.

    Args:
        data: data directory of one service.
    """
    service = section_text("[service]", broker="mqtt://simulated:1883", data=data)
    return parse_floor(FLOOR.replace("[facility]\n", f"[facility]\n{_CLOSES}\n", 1) + service)
