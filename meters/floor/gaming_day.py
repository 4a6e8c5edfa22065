"""Gaming days of a facility. They begin at the hour that the facility sets, in its time zone."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from meters.floor.facility import Facility

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class GamingDays:
    """Gaming days of a facility: the gaming day of a time, and the start and end of a gaming day.

    Attributes:
        zone: the facility's time zone.
        starts: the local time at which a gaming day begins. On a day when the clock skips this
            time, the gaming day begins as many hours after midnight as usual. On a day when the
            clock shows this time twice, the gaming day begins at the first of the two.
    """

    zone: ZoneInfo
    starts: time

    @classmethod
    def of_facility(cls, facility: Facility) -> Self:
        """Return the gaming days of a facility, from its floor file."""
        return cls(ZoneInfo(facility.timezone), time.fromisoformat(facility.day_starts))

    def of(self, moment: datetime) -> date:
        """Return the gaming day of a time.

        >>> days = GamingDays(ZoneInfo("America/New_York"), time(6))
        >>> days.of(datetime(2026, 11, 21, 10, 59, tzinfo=UTC)).isoformat()
        '2026-11-20'
        """
        day = moment.astimezone(self.zone).date()
        return day if moment >= self._start(day) else day - _DAY

    def bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the start of a gaming day and the start of the next one, in UTC.

        They are 23, 24 or 25 hours apart.
        """
        return self._start(day), self._start(day + _DAY)

    def _start(self, day: date) -> datetime:
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)
