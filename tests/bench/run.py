"""Run of the benchmark: one measurement after another, each on servers of its own."""

import time
from collections.abc import Collection
from typing import Any, Final

import msgspec

from tests.bench.arrangements import measure_arrangements
from tests.bench.command_speed import measure_commands
from tests.bench.floor import POSITIONS, WAGERS_AN_EVENT
from tests.bench.load import Books, ReportStep, nothing_lost
from tests.bench.machine import this_machine
from tests.bench.plan import Plan
from tests.bench.speed import measure_speed
from tests.bench.steady import measure_idle, measure_replies

METHOD: Final = (
    "Windows: every table sends one wagers event at once, and the time runs from the first publish"
    " to the last reply; then the rounds are voided, which counts only where voids are named."
    " Whole rounds: every table plays wagers and result in turn, as fast as it is answered."
    " Sustained: every table sends wagers and voids in turn, as fast as it is answered; both count."
    " The lag of the audit is measured every second: entries that the auditor has not read (by the"
    " bytes that it has read), and entries that no ended audit has sealed. If the unread entries"
    " grow, runs at steady paces look for the highest rate at which they do not. The CPU"
    " time of auditor and Redis is measured until everything is read."
    " The C pipe is mosquitto_sub into redis-cli --pipe, one XADD an event; the bare subscriber is"
    " aiomqtt, and does nothing. Both get the same events from the same client, while the audit"
    " rests. Phases alternate; figures with passes are their medians, the lag is the largest."
    " Replies: rounds begin at a steady pace while audits go on, and each result is sent as soon as"
    " the wagers are answered; a meter is seen when the first retained value that covers the wagers"
    " arrives (values are published every 100 ms at most); only wins of a percentage wait for a"
    " floorperson. Arrangements: wagers and voids, as sustained; of two links on two Redis servers,"
    " each has a broker and a service of its own."
    " Commands: CPU time of the command only. Redis syncs every write; its append-only file is not"
    " rewritten meanwhile."
)
MEASUREMENTS: Final = {
    "speed": measure_speed,
    "replies": measure_replies,
    "arrangements": measure_arrangements,
    "idle": measure_idle,
}


async def run_bench(plan: Plan, wanted: Collection[str], report_step: ReportStep) -> dict[str, Any]:
    """Run the wanted measurements, or all.

    Raises:
        UserError: a part does not answer. The message has the end of the service's log.
    """
    began, books, found = time.monotonic(), list[Books](), dict[str, Any]()
    for name, measure in MEASUREMENTS.items():
        if not wanted or name in wanted:
            figures = await measure(plan, books, report_step)
            found |= figures if name == "speed" else {name: figures}
    if not wanted or "commands" in wanted:
        found["commands"] = await measure_commands(plan, report_step)
    return {
        "machine": this_machine(),
        "settings": {
            **msgspec.to_builtins(plan),
            "positions_a_table": POSITIONS,
            "wagers_an_event": WAGERS_AN_EVENT,
        },
        **found,
        "books": books,
        "nothing_lost": all(map(nothing_lost, books)),
        "duration_s": round(time.monotonic() - began, 1),
        "method": METHOD,
    }
