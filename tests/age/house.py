"""The data of a house of some age, made by the project's own code on a real Redis.

Every day of the house is played, closed and archived: a few rounds at each table, with their wins
validated and paid. So each file, checkpoint, chain and digest is a real one. Only the number of
rounds in a day is small.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

import msgspec

from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.books.link_changes import ChangeBook
from meters.books.store import LinkStore
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor, parse_floor
from meters.floor.gaming_day import GamingDays
from meters.floor_api.types import Adjustment
from meters.links.proposals import adjustment
from meters.redis_client.connect import open_redis
from meters.redis_client.shards import redis_of
from meters.selfcheck.approval_checks import Configuration
from meters.users.directory import UserDirectory
from meters.users.pins import PinHashing
from meters.users.roles import Role
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor
from tests.age.clock import PastTime, past_time
from tests.approving import approve
from tests.bench.floor import LINKS, FloorParts, bench_floor_text
from tests.bench.sizing.play import MIXES, PlayedFloor

DAYS_A_YEAR: Final = 365

_NOON: Final = time(17)
"""A time in UTC that is noon at the house: all year, it is in the gaming day of its date."""
_ARCHIVE_EVERY: Final = 28
"""Days that one run archives. A house archives each night; the files and the Redis are the same."""
_DAILY_AT_LAST: Final = 10
"""Last days of the house, which are archived one by one, as a house does."""
_PROPOSE_EVERY: Final = 30
_ZONE: Final = "America/New_York"
_USERS: Final = 20
_PIN: Final = "730482"
_CLIENT: Final = "10.20.30.40"
_LIVE_DAYS: Final = 7
_CHEAP: Final = PinHashing(time_cost=1, memory_kib=8)
_APPROVER: Final = "Ada Lane"


@dataclass(frozen=True, slots=True)
class Age:
    """The size of a house.

    Attributes:
        first_day: the first gaming day.
        days: number of gaming days. The last of them is over, and still open: the first service
            that starts closes it.
        tables: number of tables, on two links.
        rounds: number of rounds that each table plays on each day.
        sign_ins: number of sign-ins on each day, each with its sign-out.
    """

    first_day: date
    days: int
    tables: int
    rounds: int
    sign_ins: int

    @property
    def last_day(self) -> date:
        return self.first_day + timedelta(days=self.days - 1)


def today() -> date:
    facility = Facility(name="", timezone=_ZONE)
    return GamingDays.of_facility(facility).of(datetime.now(UTC))


def house_text(age: Age, year: int, parts: FloorParts) -> str:
    """Build the floor file of the house in one of its years, counted from 0.

    Each year, somebody approves a changed amount of the facility.
    """
    limit = f"[facility]\ntwo_people_reject_above = {10**9 + year}"
    text = bench_floor_text(parts, age.tables).replace("[facility]", limit, 1)
    keep_years = age.days // DAYS_A_YEAR + 1
    return f"{text}\n[archive]\nkeep_years = {keep_years}\n"


def last_year(age: Age) -> int:
    return (age.days - 1) // DAYS_A_YEAR


async def play_link(age: Age, parts: FloorParts, home: Path, link: str) -> None:
    """Play all days of one link, and archive those that are closed.

    Raises:
        UserError: an event was refused, or an archive file cannot be written.
    """
    floors = [_with_link(house_text(age, year, parts), link) for year in range(last_year(age) + 1)]
    begins = datetime.combine(age.first_day, _NOON, UTC)
    with past_time(begins):
        async with open_redis(floors[0]) as redis:
            played = PlayedFloor(floors[0], redis_of(redis, link), MIXES[0], _seed(link), begins)
            (store,) = played.stores
            await approve(Configuration(floors[0], store))
            # This closes the first day, without play.
            PastTime.moment += timedelta(days=1)
            await played.open()
            archiver = Archiver(store, ArchiveFiles(home / "pitlink-archive", link), _LIVE_DAYS)
            for day in range(1, age.days):
                if day % DAYS_A_YEAR == 0:
                    await _approve(floors[day // DAYS_A_YEAR], store)
                if day % _PROPOSE_EVERY == 0:
                    await _propose(store, f"proposal-{day:016d}")
                await played.play(age.rounds)
                left = age.days - 1 - day
                if left < _DAILY_AT_LAST or day % _ARCHIVE_EVERY == 0:
                    await archiver.run(lambda _done, _of: None)
                if left:
                    PastTime.moment += timedelta(days=1)
                    await played.close_day()


async def sign_in_daily(age: Age, parts: FloorParts) -> None:
    """Sign users in and out on every day.

    Raises:
        UsersError: a sign-in was refused.
    """
    floor = parse_floor(house_text(age, 0, parts))
    with past_time(datetime.combine(age.first_day, _NOON, UTC)):
        async with open_redis(floor) as redis:
            people = UserDirectory.of(redis, floor.service.idle_minutes, _CHEAP)
            names = [f"Floor {number}" for number in range(_USERS)]
            for name in (_APPROVER, *names):
                role = Role.ADMINISTRATOR if name == _APPROVER else Role.FLOORPERSON
                await people.users.add(name, role, _PIN, Actor("command line"), own=True)
            for day in range(age.days):
                for number in range(age.sign_ins):
                    name = names[(day + number) % _USERS]
                    opened = await people.sessions.sign_in(name, _PIN, Caller(_CLIENT), None)
                    await people.sessions.sign_out(opened.token, _CLIENT)
                PastTime.moment += timedelta(days=1)


def _seed(link: str) -> int:
    return LINKS.index(link)


def _with_link(text: str, link: str) -> Floor:
    floor = parse_floor(text)
    return msgspec.structs.replace(
        floor, link=tuple(each for each in floor.link if each.id == link)
    )


async def _approve(floor: Floor, store: LinkStore) -> None:
    await approve(Configuration(floor, store))


async def _propose(store: LinkStore, proposal: str) -> None:
    """Propose a correction of a meter, and withdraw it."""
    meter = store.link.meter[0]
    asked = Adjustment(meter=meter.meter_id, amount=100, reason="miscount")
    change = adjustment(proposal, _APPROVER, meter, (10**9, 1), asked)
    book = ChangeBook(store)
    await book.propose(proposal, change.kind, change.by, msgspec.json.encode(change))
    withdrawn = msgspec.json.encode({"proposal": proposal, "by": change.by, "meter": change.meter})
    await book.decide(proposal, "withdraw", change.by, withdrawn, meter=change.meter)
