"""A day's figures from the ledger's raw entries, without any code of the reports.

Time and local clock decide to which day an entry belongs, not the readings.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass
class NaiveDay:
    """Sums of one day's entries, in micros by account; and wagers, counted one by one."""

    moved: Counter[str] = field(default_factory=Counter)
    by_table: Counter[tuple[str, str]] = field(default_factory=Counter)
    wagers: Counter[tuple[str, str]] = field(default_factory=Counter)
    wins: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)


def naive_days(entries: list[dict[str, str]], zone: ZoneInfo, starts: time) -> dict[date, NaiveDay]:
    days: dict[date, NaiveDay] = {}
    for entry in entries:
        if entry["kind"] == "reading":
            continue
        day = days.setdefault(_day_of(entry["at"], zone, starts), NaiveDay())
        for source, target, micros, _ in json.loads(entry["transfers"]):
            day.moved[source] -= micros
            day.moved[target] += micros
            if entry["kind"] == "wagers":
                meter = target.partition(":")[2]
                day.by_table[entry["table"], meter] += micros
        if entry["kind"] == "wagers":
            for position in json.loads(entry["event"])["positions"]:
                for wager in position["wagers"]:
                    meter = wager.removesuffix("_dealer")
                    day.wagers[entry["table"], meter] += 1
        if entry["kind"] == "result":
            day.rounds[entry["table"]] += 1
            for line in json.loads(entry["reply"])["lines"]:
                day.wins[entry["table"]] += line["paid"]
    return days


def _day_of(at: str, zone: ZoneInfo, starts: time) -> date:
    wall = datetime.fromisoformat(at).astimezone(zone)
    return wall.date() - timedelta(days=wall.time() < starts)
