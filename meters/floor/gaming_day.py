"""The facility's gaming day: it begins at an hour of its own, in the facility's time zone."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from meters.floor.facility import Facility

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class GamingDays:
    """Which gaming day a moment belongs to, and when each begins and ends.

    Attributes:
        zone: the facility's time zone.
        starts: the time of the clock on the wall at which a gaming day begins. Where the clock is
            put forward over it that day, it begins as long after midnight all the same; where the
            clock shows it twice, at the first.
    """

    zone: ZoneInfo
    starts: time

    @classmethod
    def of_facility(cls, facility: Facility) -> Self:
        """A facility's, as its floor file says."""
        return cls(ZoneInfo(facility.timezone), time.fromisoformat(facility.day_starts))

    def of(self, moment: datetime) -> date:
        """The gaming day of a moment.

        >>> days = GamingDays(ZoneInfo("America/New_York"), time(6))
        >>> days.of(datetime(2026, 11, 21, 10, 59, tzinfo=UTC)).isoformat()
        '2026-11-20'
        """
        day = moment.astimezone(self.zone).date()
        return day if moment >= self._start(day) else day - _DAY

    def bounds(self, day: date) -> tuple[datetime, datetime]:
        """When a gaming day begins, and when the next does, in UTC: 23, 24 or 25 hours later."""
        return self._start(day), self._start(day + _DAY)

    def _start(self, day: date) -> datetime:
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)
