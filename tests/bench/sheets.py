"""The figures as tables for people, one for each question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rich.box import SIMPLE
from rich.table import Table

from meters.process.console import PlainConsole

Row = Sequence[str]


class Sheet(NamedTuple):
    """A question, its table, and what must be known to read it."""

    question: str
    columns: Row
    rows: Sequence[Row]
    note: str = ""


def print_sheets(report: Mapping[str, Any]) -> None:
    """Print the tables of the measurements that a report has, on standard error."""
    console = PlainConsole(stderr=True, width=120)
    for make, part in _SHEETS.items():
        if part in report:
            sheet = make(report)
            table = Table(box=SIMPLE)
            for number, column in enumerate(sheet.columns):
                table.add_column(column, justify="right" if number else "left", no_wrap=True)
            for row in sheet.rows:
                table.add_row(*row)
            console.print(sheet.question, style="bold")
            console.print(table)
            if sheet.note:
                console.print(f"{sheet.note}\n")


def _cpu_sheet(question: str, rows: Mapping[str, Mapping[str, float]], note: str = "") -> Sheet:
    """Return a table of CPU times, with a column for each process that any row has."""
    names = list(dict.fromkeys(name for used in rows.values() for name in used))
    return Sheet(
        question,
        ("", *names, "all but load"),
        [
            (
                what,
                *(f"{used[name]:,.1f}" if name in used else "" for name in names),
                f"{sum(of for name, of in used.items() if name != 'load'):,.1f}",
            )
            for what, used in rows.items()
        ],
        note,
    )


def _speed(report: Mapping[str, Any]) -> Sheet:
    sustained, ratios, settings = report["sustained"], report["ratios"], report["settings"]
    lag, kept_up = sustained["audit_lag"], sustained["audit_kept_up"]
    unread = (
        f"at most {lag['unread_first_half']:,} entries unread in the first half of the run,"
        f" {lag['unread_second_half']:,} in the second ({lag['unread_s']:.1f} s of writing),"
        f" and {lag['unsealed']:,} not sealed by an audit."
    )
    behind = (
        f"NOT SUSTAINED as fast as tables are answered: at"
        f" {report['as_fast_as_answered']['events_per_s']:,} events a second the audit fell behind:"
        f" {unread} The sustained figure is the highest rate tried at which it kept up."
    )

    def beside(name: str) -> str:
        pipe, bare = ratios[f"{name}_to_c_pipe"], ratios[f"{name}_to_bare"]
        return f"{report[name]['events_per_s']:,} ({pipe:.2f}, {bare:.2f})"

    def mixed(name: str) -> Row:
        of = report[name]
        return (f"{of['wagers']['events_per_s']:,}", f"{of['wagers_and_voids']['events_per_s']:,}")

    return Sheet(
        "How many events a second? (ratios in brackets: to the C pipe, to bare aiomqtt)",
        ("", "wagers, in windows", "wagers and voids"),
        [
            ("C pipe", *mixed("c_pipe")),
            ("bare aiomqtt subscriber", *mixed("bare")),
            ("pitlink in windows", beside("wagers"), ""),
            (f"pitlink sustained for {settings['long']:g} s, audited", "", beside("sustained")),
            ("pitlink, whole rounds a second", f"{report['rounds']['rounds_per_s']:,}", ""),
        ],
        f"The audit kept up: {unread}" if kept_up else behind,
    )


def _cpu(report: Mapping[str, Any]) -> Sheet:
    return _cpu_sheet(
        "How much CPU time does an event or a round cost? (microseconds)",
        {
            "wagers, in windows": report["wagers"]["cpu_us_per_event"],
            "wagers and voids, unpaced": report["as_fast_as_answered"]["cpu_us_per_event"],
            "wagers and voids, sustained": report["sustained"]["cpu_us_per_event"],
            "a whole round": report["rounds"]["cpu_us_per_round"],
        },
        "Events in windows, and rounds, are audited later: the auditor is not in their figures.",
    )


def _baseline_cpu(report: Mapping[str, Any]) -> Sheet:
    return _cpu_sheet(
        "What do the others need for the same events? (microseconds)",
        {
            f"{label}: {what.replace('_', ' ')}": found["cpu_us_per_event"]
            for name, label in (("c_pipe", "C pipe"), ("bare", "bare aiomqtt"))
            for what, found in report[name].items()
        },
    )


def _replies(report: Mapping[str, Any]) -> Sheet:
    replies = report["replies"]

    def rows() -> Iterator[Row]:
        for name, found in replies.items():
            if not name.startswith("at_"):
                continue
            pace = f"{name.removeprefix('at_')} ({found['rounds_per_s']:,.0f})"
            for waited, label in (
                ("wagers_to_reply", "reply to wagers"),
                ("result_to_reply", "reply to a result"),
                ("wagers_to_meter_seen", "wagers shown on the meter"),
            ):
                of = found[waited]
                times = (f"{of[key]:,.1f} ms" for key in ("p50_ms", "p99_ms", "longest_ms"))
                yield (pace, label, *times, f"{of['samples']:,}")

    return Sheet(
        f"How long do tables wait? (audits included; the floor had played {replies['run_in_s']:g}"
        f" s, then {replies['measured_s']:g} s at each pace were measured)",
        ("rounds/s (reached)", "", "p50", "p99", "longest", "samples"),
        [*rows()],
    )


def _round_cpu(report: Mapping[str, Any]) -> Sheet:
    return _cpu_sheet(
        "How much CPU time does a round cost at a steady pace? (microseconds, audits included)",
        {
            f"{name.removeprefix('at_')} rounds/s": found["cpu_us_per_round"]
            for name, found in report["replies"].items()
            if name.startswith("at_")
        },
    )


def _arrangements(report: Mapping[str, Any]) -> Sheet:
    kinds = ("mosquitto", "service", "auditor", "redis")

    def row(name: str, found: Mapping[str, Any]) -> Row:
        used: Mapping[str, float] = found["cpu_us_per_event"]
        return (
            name.replace("_", " "),
            *(
                f"{sum(used[each] for each in used if each.startswith(kind)):,.1f}"
                for kind in kinds
            ),
            f"{found['cpu_us_per_event_without_load']:,.1f}",
            f"{used[found['busiest']]:,.1f} ({found['busiest']})",
            f"{found['events_per_s_with_a_core_each']:,}",
        )

    return Sheet(
        "How does it grow? (microseconds of CPU time for an event, audits included)",
        ("", *kinds, "all", "busiest process", "events/s"),
        [row(name, found) for name, found in report["arrangements"].items()],
        "All processes of a kind count together. The events/s are what the busiest process could do"
        " if each process had a core.",
    )


def _idle(report: Mapping[str, Any]) -> Sheet:
    idle = report["idle"]
    return Sheet(
        f"How much does a pit need? ({idle['tables']} tables, {idle['rounds_an_hour_a_table']}"
        f" rounds an hour each, for {idle['measured_s']:g} s)",
        ("process", "percent of a core"),
        [(name, f"{percent:.2f}") for name, percent in idle["percent_of_a_core"].items()],
    )


def _commands(report: Mapping[str, Any]) -> Sheet:
    found = report["commands"]
    return Sheet(
        "How much does one core do?",
        ("command", "a second"),
        [
            ("pitlink audit, entries in Redis", f"{found['audited_entries_per_s']:,} entries"),
            (
                "pitlink audit, entries in the archive",
                f"{found['audited_archived_entries_per_s']:,} entries",
            ),
            ("pitlink settle", f"{found['settled_rounds_per_s']:,} rounds"),
        ],
    )


_SHEETS: Final = {
    _speed: "sustained",
    _cpu: "sustained",
    _baseline_cpu: "sustained",
    _replies: "replies",
    _round_cpu: "replies",
    _arrangements: "arrangements",
    _idle: "idle",
    _commands: "commands",
}
"""The tables, with the part of the report that each needs."""
