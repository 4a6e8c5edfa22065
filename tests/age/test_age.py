"""An old house reads no more on a day than a young house.

The test counts, and measures no time: opened archive files, Redis commands, and bytes from Redis.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

import meters.service.ledger_auditing
import meters.service.log_auditing
from tests.age.counting import Reads, run_command, run_service
from tests.age.house import Age, today
from tests.age.making import finish_house, make_house, opened_house
from tests.age.measuring import a_day_later

YOUNG_DAYS: Final = 30
OLD_DAYS: Final = 120
MORE_MAX: Final = 1.2
"""Largest ratio of what the old house and the young one read from Redis. Some numbers of the old
house have one digit more, and a service asks Redis every second."""
WINS_BYTES: Final = 10_000
"""Bytes of the last 25 wins of each meter. The young house does not have so many yet."""
_OLD_DAY: Final = timedelta(days=10)


async def _daily_reads(home: Path, days: int) -> dict[str, Reads]:
    """Make a house, let a day close, and return what each start and command then reads."""
    age = Age(today() - timedelta(days), days, tables=2, rounds=1, sign_ins=20)
    old_day = (age.first_day + _OLD_DAY).isoformat()
    async with opened_house(home, age) as place:
        await make_house(place, age)
        await finish_house(place)
        # This service closes the last day, and writes the checkpoints of its audits.
        await run_service(place)
        start = await run_service(place)
        a_day_later(place.home / "pitlink-archive")
        night = await run_command(place, "archive")
        half_hour = await run_command(place, "archive")
        await run_command(place, "audit")
        return {
            "start": start,
            "archive of a new day": night,
            "archive without a new day": half_hour,
            "nightly audit": await run_command(place, "audit", "--since-last"),
            "day report": await run_command(place, "report", "day", age.last_day.isoformat()),
            "old wins": await run_command(
                place, "report", "jackpots", "--from", old_day, "--to", old_day
            ),
        }


@pytest.mark.slow
@pytest.mark.duty("D19")
def test_a_day_of_an_old_house_reads_as_much_as_one_of_a_young_house(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ledgers and logs of that many entries, a service writes checkpoints."""
    monkeypatch.setattr(meters.service.ledger_auditing, "CHECKPOINT_EVERY", 10)
    monkeypatch.setattr(meters.service.log_auditing, "CHECKPOINT_EVERY", 10)
    young = asyncio.run(_daily_reads(short_path / "young", YOUNG_DAYS))
    old = asyncio.run(_daily_reads(short_path / "old", OLD_DAYS))
    assert {what: reads.files for what, reads in old.items()} == {
        what: reads.files for what, reads in young.items()
    }
    for what, reads in old.items():
        assert reads.commands <= young[what].commands * MORE_MAX, (what, reads, young[what])
        most = young[what].bytes * MORE_MAX + WINS_BYTES
        assert reads.bytes <= most, (what, reads, young[what])
