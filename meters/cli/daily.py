"""Work that is done once a gaming day, by the facility's clock and not the machine's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from meters.floor.facility import Facility
from meters.floor.floor_file import Floor
from meters.floor.gaming_day import GamingDays
from meters.process.private_files import make_private_directory, write_private_file

DAILY_AUDIT_NOTE: Final = "last-daily-audit"
"""In the data directory: its time is that at which `pitlink audit --daily` last ended."""

_AHEAD: Final = timedelta(minutes=1)


def done_since_close(facility: Facility, done: datetime | None, now: datetime) -> bool:
    """Whether work was done since the last gaming day closed.

    What was done in the future was noted by a clock that was wrong, and counts for nothing.
    """
    days = GamingDays.of_facility(facility)
    closed, _ = days.bounds(days.of(now))
    return done is not None and closed <= done <= now + _AHEAD


def audited_since_close(floor: Floor) -> bool:
    """Whether a daily audit came to an end since the last gaming day closed."""
    try:
        modified_s = (Path(floor.service.data) / DAILY_AUDIT_NOTE).stat().st_mtime
    except OSError:
        return False
    return done_since_close(
        floor.facility, datetime.fromtimestamp(modified_s, UTC), datetime.now(UTC)
    )


def note_daily_audit(floor: Floor) -> None:
    """Note that a daily audit has come to an end, whatever it found.

    Raises:
        OSError: the note cannot be written.
    """
    data = Path(floor.service.data)
    make_private_directory(data)
    write_private_file(data / DAILY_AUDIT_NOTE).close()
