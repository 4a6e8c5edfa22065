"""`python -m tests age`: make houses of one year and of many years, and measure both."""

import asyncio
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from meters.store.link_store import LinkStore
from meters.users.user_store import UserStore
from tests.age.house import DAYS_A_YEAR, Age, a_day_later, empty_house, made_house
from tests.approving import approve_first
from tests.bench.command import run_command, step_reporter, write_report
from tests.bench.load import ReportStep
from tests.bench.machine import this_machine
from tests.bench.place import Place, Seconds
from tests.bench.sizing import all_of, bytes_of
from tests.servers import eventually_async

CHECKPOINTED: Final = 5_000
"""Number of entries of a ledger or a log from which a service writes a checkpoint."""

_WRITTEN_WITHIN_S: Final = 600.0
_OLD_DAY: Final = timedelta(days=30)


def age(
    *,
    years: Annotated[int, typer.Option(min=1, help="Age of the older house.")] = 10,
    tables: Annotated[int, typer.Option(min=2, help="Tables, on two links.")] = 40,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each table on each gaming day.")
    ] = 1,
    sign_ins: Annotated[
        int, typer.Option(min=0, help="Sign-ins on each day, each with a sign-out.")
    ] = 20,
) -> None:
    """Make a house of one year and a house of ten years, measure both, and print the figures.

    Every gaming day is played, closed and archived by the code of pitlink, on a Redis of its own.
    Only the number of rounds in a day is small. The command then measures on both houses the start
    of a service, the nightly commands, two reports, a whole audit and a restore. It prints one JSON
    object.
    """
    sizes = [Age(each * DAYS_A_YEAR, tables, rounds, sign_ins) for each in sorted({1, years})]
    houses = [asyncio.run(_measure_house(size, step_reporter())) for size in sizes]
    write_report({"machine": this_machine(), "houses": houses})


async def _measure_house(age: Age, report_step: ReportStep) -> dict[str, Any]:
    """Measure the starts and the commands on a house, and then its restore.

    Returns:
        The size of the house, and the times. The first start closes a gaming day. `archive_day`
        archives this day, and reads files as once in a night; `archive_nothing` has no new day.
        The old wins are those of a day soon after the opening of the house.
    """
    began = time.monotonic()
    report_step(f"{age.days} days, made one by one")
    async with made_house(age) as place:
        made_s = round(time.monotonic() - began, 1)
        stores = [LinkStore(place.redis, link) for link in place.floor.link]
        report_step("first start")
        place.forget_services()
        with place.service() as (_, first_start):
            await _checkpoints(place, stores)
        report_step("start")
        with place.service() as (_, start):
            pass
        a_day_later(place.archive)
        old_day = (age.first_day + min(_OLD_DAY, timedelta(days=age.days // 2))).isoformat()
        times = {"first_start": first_start, "start": start}
        for name, command in (
            ("archive_day", "archive"),
            ("archive_nothing", "archive"),
            ("whole_audit", "audit"),
            ("nightly_audit", "audit --since-last"),
            ("day_report", f"report day {age.last_day.isoformat()}"),
            ("old_wins", f"report jackpots --from {old_day} --to {old_day}"),
        ):
            report_step(command)
            times[name] = place.timed(*command.split())
        report_step("restore")
        times["restore"] = await _restore(place.archive, age)
        files, users = [*place.archive.glob("*/*.zst")], UserStore(place.redis).keys
        entries = sum([await store.last_entry() for store in stores])
        return {
            "age": age,
            "made_s": made_s,
            "ledger_entries": entries,
            "log_entries": int(await place.redis.hget(users.log_head, "entries") or 0),
            "payout_slips": sum([len((await one.snapshot(indexes=True)).slips) for one in stores]),
            "archive_files": len(files),
            "archive_bytes": sum(file.stat().st_size for file in files),
            "redis_bytes": await all_of(place.redis),
            "log_bytes": await bytes_of(place.redis, [users.log]),
            **{name: msgspec.structs.asdict(seconds) for name, seconds in times.items()},
            "audited_entries_per_s": round(entries / times["whole_audit"].elapsed_s),
            "restored_entries_per_s": round(entries / times["restore"].elapsed_s),
        }


async def _checkpoints(place: Place, stores: list[LinkStore]) -> None:
    links = sum([await store.last_entry() >= CHECKPOINTED for store in stores])
    marks = Path(place.parts.data) / "marks"

    def written() -> bool:
        audits = [*marks.glob("*.audit-checkpoint.json")]
        return len(audits) >= links and any(marks.glob("*.log-checkpoint.json"))

    await eventually_async(written, within_s=_WRITTEN_WITHIN_S, what=f"checkpoints in {marks}")


async def _restore(archive: Path, age: Age) -> Seconds:
    """Restore a house from its archive into an empty Redis, without outboxes."""
    async with empty_house(age) as empty:
        shutil.copytree(archive, empty.archive)
        await approve_first(empty.floor, empty.redis)
        tables = [table.id for link in empty.floor.link for table in link.table]
        without = [word for table in tables for word in ("--without", table)]
        return empty.timed("restore", "--yes", "--services-stopped", *without)


def main() -> None:
    run_command(age, "age")


if __name__ == "__main__":
    main()
