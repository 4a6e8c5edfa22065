"""A link whose gaming days the test controls: real scripts, intake and acts; a manual clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from redis.asyncio import Redis

import meters.process.clock
from meters.acts.meter_changes import Adjustment
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, parse_floor
from meters.ledger.entry_messages import Outage
from meters.reports.day_figures import LinkDay
from meters.reports.ledger_scan import Choose, LedgerScan, LinkScan, from_to, one_day, scan_ledgers
from meters.store.link_acts import CloseReadings, note_outage
from tests.floor_text import section_text
from tests.model.pit import BONUS, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit

NEW_YORK: Final = ZoneInfo("America/New_York")
ROYAL: Final = "As Ks Qs"
"""A hand that wins all of the progressive."""

SUITED: Final = "7c 6c 5c"
"""A straight flush, which wins 10% of the progressive at $1 under paytable A."""

STRAIGHT: Final = "9c 8s 7h"
"""A hand that wins at odds."""

__all__ = [
    "BONUS", "FIVE_CARD", "NEW_YORK", "PROGRESSIVE", "RAGS", "ROYAL", "STRAIGHT", "SUITED", "Shop",
]  # fmt: skip


class Clock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self, zone: tzinfo) -> datetime:
        return self.at.astimezone(zone)


@contextmanager
def clock_by_hand(at: datetime) -> Iterator[Clock]:
    clock = Clock(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meters.process.clock, "datetime", clock)
        yield clock


class Shop:
    """One link, day after day; `floor_text` comes without the section of a service."""

    def __init__(
        self, redis: Redis, url: str, clock: Clock, data: Path, *, day_starts: str = "06:00",
        floor_text: str = FLOOR,
    ) -> None:  # fmt: skip
        head, tail = floor_text.split("\n\n[[link]]", 1)
        self.text = "\n".join(
            [
                f'{head}\nday_starts = "{day_starts}"\n\n[[link]]{tail}',
                section_text("[service]", redis=url, data=data),
                section_text("[archive]", directory=data),
            ]
        )
        self.floor: Floor = parse_floor(self.text)
        self.pit = Pit(redis, self.text)
        self.days = GamingDays.of_facility(self.floor.facility)
        self.clock = clock
        self._rounds = 0
        self._readings = CloseReadings(self.pit.store, self.days, "service", self._now)
        self._promotions = self.pit.promotions[0]

    def _now(self) -> datetime:
        return self.clock.at

    async def open(self) -> None:
        await self.pit.open()
        await self.look()

    async def look(self) -> None:
        await self._readings.keep((await self.pit.store.state()).day)
        await self._promotions.add()

    async def at(self, moment_text: str) -> None:
        """Advance the facility's clock to a time, such as ``2026-11-20 05:59``."""
        moment = datetime.fromisoformat(moment_text).replace(tzinfo=NEW_YORK).astimezone(UTC)
        assert moment > self.clock.at, "clocks of this test go forward"
        self.clock.at = moment
        await self.look()

    async def after(self, **lasting: int) -> None:
        self.clock.at += timedelta(**lasting)
        await self.look()

    async def round(
        self, hand: str = RAGS, bets: str = PROGRESSIVE, *, table: str = "T-1", positions: int = 1,
        community: str = "4c 8d", dealer: str = "2c 7d 9h",
    ) -> list[str]:  # fmt: skip
        """Play a round in which the first position has the hand; return the opened claims."""
        rags = iter(("5s Th Qd", "2h 3d 9d", "4h 6d Jd"))
        hands = {1: hand} | {place: next(rags) for place in range(2, positions + 1)}
        reply = await self.pit.round(
            dict.fromkeys(range(1, positions + 1), bets), hands, table=table,
            round_id=self._round(), community=community, dealer=dealer,
        )  # fmt: skip
        return [claim.claim for claim in reply.claims or ()]

    async def void(self, bets: str = PROGRESSIVE, *, table: str = "T-1") -> None:
        round_id = self._round()
        assert (await self.pit.wagers({1: bets}, table=table, round_id=round_id)).status
        assert (await self.pit.void(table=table, round_id=round_id)).status == "accepted"

    def _round(self) -> str:
        self._rounds += 1
        return f"R{self._rounds}"

    async def adjust(self, meter: str, cents: int, reason: str = "malfunction") -> None:
        link_acts = self.pit.link_acts
        change = Adjustment(meter=meter, amount=cents, reason=reason)
        proposed = await link_acts.propose(self.pit.link.id, "Sue", change)
        await link_acts.confirm(self.pit.link.id, proposed.proposal, "Sam")

    def file(self, home: Path) -> Path:
        path = home / "floor.toml"
        path.write_text(self.text)
        return path

    async def was_out(self, since: str, reason: str) -> None:
        await note_outage(self.pit.store, "service", Outage(f"o-{since}", since, (reason,)))

    async def archive(self, live_days: int = 1) -> ArchiveFiles:
        archive = ArchiveFiles(Path(self.floor.archive.directory), self.pit.link.id)
        await Archiver(self.pit.store, archive, live_days).run(lambda _done, _of: None)
        return archive

    async def survey(self, choose: Choose) -> LedgerScan:
        stores = [self.pit.store.of_link(link) for link in self.floor.link]
        return await scan_ledgers(
            self.floor, stores, choose, self.clock.at, lambda _link, _done, _of: None
        )

    async def read(self, choose: Choose) -> LinkScan:
        (found,) = (await self.survey(choose)).links
        return found

    async def day(self, day_text: str) -> LinkDay:
        found = await self.read(one_day(date.fromisoformat(day_text)))
        assert found.problems == []
        (day,) = found.days.values()
        return day

    async def all_days(self) -> list[LinkDay]:
        found = await self.read(from_to(None, None))
        assert found.problems == []
        return list(found.days.values())
