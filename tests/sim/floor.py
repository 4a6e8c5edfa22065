"""Floor of a run: three tables of one link, with terms under which every award is frequent."""

from pathlib import Path
from typing import Final

from meters.floor.floor_file import Floor, parse_floor
from tests.floor_text import section_text
from tests.model.model_floor import HIDDEN, MIXED, POKER, RESULTS, ModelFloor

_CLOSES: Final = 'day_starts = "19:02"'
"""The gaming day closes two minutes after the beginning of a run, in the zone of the floor."""

_FLOORS: Final = (POKER, HIDDEN, MIXED, RESULTS)


def model_floor_of(seed: int) -> ModelFloor:
    """Return the state machine's floor that a seed plays."""
    return _FLOORS[seed % len(_FLOORS)]


def simulated_floor(data: Path, played: ModelFloor = POKER) -> Floor:
    service = section_text("[service]", broker="mqtt://simulated:1883", data=data)
    text = played.text.replace("[facility]\n", f"[facility]\n{_CLOSES}\n", 1)
    return parse_floor(text + service)
