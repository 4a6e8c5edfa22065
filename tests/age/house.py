"""A house of some age, made by the project's own code on a real Redis.

Every day of the house is played, closed and archived: a few rounds at each table, with their wins
validated and paid. So each file, checkpoint, chain and digest is a real one. Only the number of
rounds in a day is small.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar, Final, Self
from unittest.mock import patch

import msgspec

import meters.process.clock
from bonus.errors import UserError
from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.audit.audit_files import ARCHIVE_NOTE, ArchiveNote, read_note, write_note
from meters.floor.facility import Facility, GamingDays
from meters.floor.floor_file import Floor, parse_floor
from meters.floor.roles import Role
from meters.process.clock import now, text_of
from meters.process.logs import LogLevel, log_to
from meters.store.floor_file_approval import Configuration
from meters.store.redis_clients import redis_of
from meters.store.redis_connect import open_redis
from meters.users.pins import PinHashing
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor, UserDirectory
from tests.approving import approve
from tests.bench.floor import LINKS, FloorParts, bench_floor_text
from tests.bench.place import Place, a_place
from tests.bench.play import MIXES, PlayedFloor, withdraw_a_proposal
from tests.bench.sizing import rewrite

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


def _today() -> date:
    facility = Facility(name="", timezone=_ZONE)
    return GamingDays.of_facility(facility).of(datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Age:
    """The size of a house: tables on two links; rounds of each table and sign-ins on each day.

    The last day is over, and still open: the first service that starts closes it.
    """

    days: int
    tables: int
    rounds: int
    sign_ins: int
    last_day: date = field(default_factory=lambda: _today() - timedelta(days=1))

    @property
    def first_day(self) -> date:
        return self.last_day - timedelta(days=self.days - 1)

    @property
    def last_year(self) -> int:
        return (self.days - 1) // DAYS_A_YEAR


class _PastTime(datetime):
    """The time of this process, as far as messages and ledger entries contain it."""

    moment: ClassVar[datetime]

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(cls.moment.timestamp(), tz)


@contextmanager
def _past_time(age: Age) -> Iterator[type[_PastTime]]:
    """Begin on the first day; set `moment` to let the time pass."""
    _PastTime.moment = datetime.combine(age.first_day, _NOON, UTC)
    with patch.object(meters.process.clock, "datetime", _PastTime):
        yield _PastTime


def house_text(parts: FloorParts, age: Age, year: int) -> str:
    """Build the floor file of the house in one of its years, counted from 0.

    Each year, somebody approves a changed amount of the facility.
    """
    limit = f"[facility]\ntwo_people_reject_above = {10**9 + year}"
    text = bench_floor_text(parts, age.tables).replace("[facility]", limit, 1)
    keep_years = age.days // DAYS_A_YEAR + 1
    return f"{text}\n[archive]\nkeep_years = {keep_years}\n"


async def _play_link(age: Age, parts: FloorParts, archive: Path, link: str) -> None:
    floors = [_with_link(house_text(parts, age, year), link) for year in range(age.last_year + 1)]
    with _past_time(age) as clock:
        async with open_redis(floors[0]) as redis:
            seed, begins = LINKS.index(link), clock.moment
            played = PlayedFloor(floors[0], redis_of(redis, link), MIXES[0], seed, begins)
            (store,) = played.stores
            await approve(Configuration(floors[0], store))
            # This closes the first day, without play.
            clock.moment += timedelta(days=1)
            await played.open()
            archiver = Archiver(store, ArchiveFiles(archive, link), _LIVE_DAYS)
            for day in range(1, age.days):
                if day % DAYS_A_YEAR == 0:
                    await approve(Configuration(floors[day // DAYS_A_YEAR], store))
                if day % _PROPOSE_EVERY == 0:
                    await withdraw_a_proposal(store, day)
                await played.play(age.rounds)
                left = age.days - 1 - day
                if left < _DAILY_AT_LAST or day % _ARCHIVE_EVERY == 0:
                    await archiver.run(lambda _done, _of: None)
                if left:
                    clock.moment += timedelta(days=1)
                    await played.close_day()


def _with_link(text: str, link: str) -> Floor:
    floor = parse_floor(text)
    return msgspec.structs.replace(
        floor, link=tuple(each for each in floor.link if each.id == link)
    )


async def _sign_in_daily(age: Age, parts: FloorParts) -> None:
    floor = parse_floor(house_text(parts, age, 0))
    with _past_time(age) as clock:
        async with open_redis(floor) as redis:
            people = UserDirectory(redis, floor.service.idle_minutes, _CHEAP)
            names = [f"Floor {number}" for number in range(_USERS)]
            for name in (_APPROVER, *names):
                role = Role.ADMINISTRATOR if name == _APPROVER else Role.FLOORPERSON
                await people.users.add(name, role, _PIN, Actor("command line"), own=True)
            for day in range(age.days):
                for number in range(age.sign_ins):
                    name = names[(day + number) % _USERS]
                    opened = await people.sessions.sign_in(name, _PIN, Caller(_CLIENT), None)
                    await people.sessions.sign_out(opened.token, _CLIENT)
                clock.moment += timedelta(days=1)


def empty_house(age: Age) -> AbstractAsyncContextManager[Place]:
    return a_place(partial(house_text, age=age, year=age.last_year))


@asynccontextmanager
async def made_house(age: Age) -> AsyncIterator[Place]:
    """Play all days of a house: each link, and the sign-ins, in a process of its own."""
    links = LINKS[: age.tables]
    async with empty_house(age) as place:
        # A sync of each write would take most of the time. The files are synced at the end.
        await place.redis.config_set("appendfsync", "no")
        spawn = get_context("spawn")
        with ProcessPoolExecutor(len(links) + 1, mp_context=spawn) as processes:
            loop = asyncio.get_running_loop()
            each = [partial(_play_link, age, place.parts, place.archive, link) for link in links]
            work = [*each, partial(_sign_in_daily, age, place.parts)]
            await asyncio.gather(*(loop.run_in_executor(processes, _run, one) for one in work))
        # The house has checked its whole archive until now.
        place.run("archive")
        await place.redis.config_set("appendfsync", "always")
        await rewrite(place.redis)
        yield place


def _run(work: "partial[Coroutine[None, None, None]]") -> None:
    log_to(sys.stderr, level=LogLevel.WARNING)
    asyncio.run(work())


def a_day_later(archive: Path) -> None:
    """Let the next `pitlink archive` read files completely, as it does once a night."""
    note = read_note(archive / ARCHIVE_NOTE, ArchiveNote)
    if note is None:
        raise UserError(f"{archive} was never checked")
    yesterday = text_of(now() - timedelta(days=1))
    write_note(archive / ARCHIVE_NOTE, msgspec.structs.replace(note, read_at=yesterday))
