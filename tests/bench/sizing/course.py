"""Steps of the sizing run: measure everything in turn, and write one report."""

import sys
import time
from typing import Final

import msgspec

from meters.logs.options import LogLevel
from meters.logs.setup import log_to
from meters.terminal.console import PlainConsole
from meters.terminal.printing import print_json
from tests.bench.machine import this_machine
from tests.bench.sizing.books import by_tables, grow, opened_bytes
from tests.bench.sizing.ever import bytes_for_ever
from tests.bench.sizing.figures import Played, Sizes, SizingReport, mix_figures, slope
from tests.bench.sizing.play import MIXES, end_if_asked
from tests.bench.sizing.running import measure_running

WHOLE: Final = Sizes(
    mixes=tuple(mix.name for mix in MIXES),
    tables=(30, 60, 90),
    rounds_a_table=80,
    play_tables=100,
    play_rounds=(40, 80, 120),
    links=(20, 40, 60),
    service_tables=(100, 400, 700),
    outbox_rounds=(100, 200, 400),
    settle_s=15.0,
)
QUICK: Final = Sizes(
    mixes=(MIXES[0].name,),
    tables=(2, 4),
    rounds_a_table=20,
    play_tables=8,
    play_rounds=(4, 8),
    links=(2, 4),
    service_tables=(4, 8),
    outbox_rounds=(2, 40),
    settle_s=0.0,
)
"""Shows that it works, and measures little."""


async def measure_sizing(sizes: Sizes) -> SizingReport:
    """Measure everything and report the progress on standard error."""
    log_to(sys.stderr, level=LogLevel.WARNING)
    began, machine, console = time.monotonic(), this_machine(), PlainConsole(stderr=True)

    def report_step(what: str) -> None:
        end_if_asked()
        console.print(f"{time.monotonic() - began:5.0f} s  {what}")

    mixes = {}
    for mix in (mix for mix in MIXES if mix.name in sizes.mixes):
        tables = await by_tables(mix, sizes, report_step)
        steps, archived = await grow(mix, sizes, report_step)
        played = Played(steps=steps, archived=archived, tables=tables)
        mixes[mix.name] = mix_figures(mix, played)
    report_step("links, meters, and what stays for ever")
    links = [(count, await opened_bytes(links=count, meters=1)) for count in sizes.links]
    meters = [(count, await opened_bytes(links=1, meters=count)) for count in sizes.links]
    ever = await bytes_for_ever()
    service, outbox = await measure_running(sizes, report_step)
    return SizingReport(
        machine=machine,
        sizes=sizes,
        redis_bytes_per_link=round(slope(links)),
        redis_bytes_per_meter=round(slope(meters)),
        redis_bytes_for_ever=ever,
        mixes=mixes,
        service=service,
        outbox=outbox,
        duration_s=round(time.monotonic() - began, 1),
    )


def write_sizing(report: SizingReport) -> None:
    print_json(msgspec.json.format(msgspec.json.encode(report), indent=2))
