"""Gaming days of a facility: the gaming day of a time, and its start and end."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from meters.floor.facility import Facility

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class GamingDays:
    """Gaming days of a facility, which begin at a local time that its floor file sets.

    If the clock skips the time `starts` when summer time begins, the gaming day begins when the
    usual number of hours has passed since midnight. If it shows this time twice when summer time
    ends, the gaming day begins the first time.
    """

    zone: ZoneInfo
    starts: time

    @classmethod
    def of_facility(cls, facility: Facility) -> Self:
        return cls(ZoneInfo(facility.timezone), time.fromisoformat(facility.day_starts))

    def of(self, moment: datetime) -> date:
        """Return the gaming day to which a time belongs.

        >>> days = GamingDays(ZoneInfo("America/New_York"), time(6))
        >>> days.of(datetime(2026, 11, 21, 10, 59, tzinfo=UTC)).isoformat()
        '2026-11-20'
        """
        day = moment.astimezone(self.zone).date()
        return day if moment >= self._start(day) else day - _DAY

    def bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the starts of a gaming day and the next in UTC, 23, 24 or 25 hours apart."""
        return self._start(day), self._start(day + _DAY)

    def _start(self, day: date) -> datetime:
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)
