import asyncio
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from meters.floor.facility import GamingDays
from meters.ledger.entry_messages import READING, CloseReading
from meters.store.link_acts import CloseReadings
from meters.store.link_store import LinkStore
from tests.model.pit import Pit

NEW_YORK = ZoneInfo("America/New_York")
A_DAY = timedelta(days=1)
SIX = GamingDays(NEW_YORK, time(6))


class Clock:
    """Clock that the test sets; it begins in the evening of 2126-11-20, facility time.

    Ledger entries have the real time. A restore opens the gaming day of the last entry if it is
    later than the day after the last closed one, so the days here are after every real day.
    """

    def __init__(self) -> None:
        self.now = datetime(2126, 11, 21, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Days:
    def __init__(self, pit: Pit) -> None:
        self.pit = pit
        self.clock = Clock()
        self.books = [
            CloseReadings(
                LinkStore(pit.redis, pit.link, pit.store.hidden_values), SIX, name, self.clock
            )
            for name in ("service", "other")
        ]

    async def open(self) -> None:
        for book in self.books:
            await book._store.open("service")
        await self.keep()

    async def keep(self, *after: timedelta) -> None:
        """Have both services look at the clock together, at each of the times."""
        for step in after or (timedelta(),):
            self.clock.now += step
            state = await self.pit.store.state()
            await asyncio.gather(*(book.keep(state.day) for book in self.books))

    async def readings(self) -> list[tuple[int, CloseReading]]:
        return [
            (number, READING.decode(fields["event"]))
            for number, fields in await self.pit.store.entries(0, 10_000)
            if fields["kind"] == b"reading"
        ]

    async def open_day(self) -> str:
        return (await self.pit.store.state()).day.open
