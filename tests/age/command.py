"""`python -m tests age`: make houses of one year and of many years, and measure both."""

import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from bonus.errors import UserError
from meters.logs.options import LogLevel
from meters.logs.setup import log_to
from meters.terminal.console import PlainConsole
from meters.terminal.printing import print_json
from tests.age.house import DAYS_A_YEAR, Age, today
from tests.age.making import finish_house, make_house, opened_house
from tests.age.measuring import HouseFigures, measure_house
from tests.bench.command import run_command, run_until_stopped
from tests.bench.machine import Machine, this_machine

_MADE: Final = "made.json"


class Made(msgspec.Struct, frozen=True):
    """A made house: its size, and the seconds that its making took."""

    age: Age
    seconds: float


class AgeReport(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a house of one year and of a house of many years."""

    machine: Machine
    made_s: tuple[float, ...]
    houses: tuple[HouseFigures, ...]


def age(
    out: Annotated[
        Path,
        typer.Option(
            help="The directory of the houses. A house that is there already is not made again."
        ),
    ],
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
    days = [each * DAYS_A_YEAR for each in sorted({1, years})]
    sizes = [Age(today() - timedelta(each), each, tables, rounds, sign_ins) for each in days]
    report = run_until_stopped(_measure(out.absolute(), sizes))
    print_json(msgspec.json.format(msgspec.json.encode(report), indent=2))


async def _measure(out: Path, sizes: list[Age]) -> AgeReport:
    log_to(sys.stderr, level=LogLevel.WARNING)
    console, began_s = PlainConsole(stderr=True), time.monotonic()
    made_s, houses = list[float](), list[HouseFigures]()
    for size in sizes:
        home = out / f"days-{size.days}"

        def report_step(what: str, days: int = size.days) -> None:
            console.print(f"{time.monotonic() - began_s:5.0f} s  {days} days: {what}")

        report_step("made, day by day")
        made = await _made(home, size)
        made_s.append(made.seconds)
        async with opened_house(home, made.age) as place:
            houses.append(await measure_house(place, made.age, report_step))
    return AgeReport(machine=this_machine(), made_s=tuple(made_s), houses=tuple(houses))


async def _made(home: Path, age: Age) -> Made:
    """Make a house, or return how it was made earlier.

    Raises:
        UserError: the house there has another size.
    """
    note = home / _MADE
    if note.exists():
        made = msgspec.json.decode(note.read_bytes(), type=Made)
        if replace(made.age, first_day=age.first_day) != age:
            raise UserError(f"{home} is of another size: give another directory, or delete it")
        return made
    began_s = time.monotonic()
    async with opened_house(home, age) as place:
        await make_house(place, age)
        await finish_house(place)
    made = Made(age, round(time.monotonic() - began_s, 1))
    note.write_bytes(msgspec.json.encode(made))
    return made


def main() -> None:
    run_command(age, "age")


if __name__ == "__main__":
    main()
