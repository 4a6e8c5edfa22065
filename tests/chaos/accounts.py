"""Report of a chaos run: what was counted after it, and whether nothing was lost or invented.

`tests.sim` has the checks: its checker books the ledger again, entry by entry, and compares every
account, claim and count in Redis; then each answer to the devices and each outbox are compared with
the ledger. Only the order of events comes from the ledger alone (duty D7).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from controllers.agent.outbox import Outbox
from meters.floor.floor_file import Link
from tests.chaos.floor import model_of
from tests.chaos.player import Player
from tests.servers import RedisServer
from tests.sim.agent_reports import AgentReports, hold_history
from tests.sim.checker import Checker
from tests.sim.world import World

_OF_TABLES: Final = frozenset({"wagers", "result", "void"})
_OF_CLAIMS: Final = frozenset({"validate", "reject", "pay"})
_GROWN_MAX: Final = 3
_GROWN_ALLOWED_BYTES: Final = 60_000_000
_BYTES_PER_ENTRY: Final = 16_000
"""Bytes by which the store may grow for each entry, because it keeps the ledger."""


@dataclass
class Report:
    """Counts of a run, and the problems found, in words.

    `percentages` counts how often each item won a percentage of a meter; `memory_bytes` has each
    part's resident memory, at first sight and at most.
    """

    seed: int
    tables: int
    seconds: float = 0.0
    rounds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    wagers: int = 0
    events: Counter[str] = field(default_factory=Counter)
    events_answered_again: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    percentages: Counter[str] = field(default_factory=Counter)
    memory_bytes: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:  # noqa: FBT001
        if not holds:
            self.problems.append(what)

    def note(self, what: str) -> None:
        """Ignore the checker's trace."""

    def fail(self, what: str) -> None:
        self.problems.append(what)


def hold_together(
    link: Link, players: Sequence[Player], server: RedisServer, outboxes: Path, report: Report
) -> Mapping[tuple[str, str], str]:
    """Compare what the devices heard, the outboxes, the ledger and Redis of one link.

    Return who decided each claim, by the claim and the act.
    """
    played, world = model_of(link.id, len(players)), cast("World", report)
    with closing(Checker(world, link, server.socket_path, played)) as checker:
        checker.check(whole=True)
        reports, tables = AgentReports(world, checker), {table.id for table in link.table}
        for player in players:
            if player.name in tables:
                for event, answer in player.answers:
                    reports.answered(player.name, event, answer, lost=False, shaken=False)
                path = outboxes / f"{player.name}.sqlite"
                with closing(Outbox.open(path, link.id, player.name)) as outbox:
                    hold_history(world, checker, player.name, outbox.history(), lost=False)
    waiting = checker.books.waiting()
    report.expect(not waiting, f"{link.id}: {waiting} wait for a decision")
    report.entries += len(checker.entries)
    report.claims.update(checker.claims.values())
    decisions: dict[tuple[str, str], str] = {}
    for entry in checker.entries:
        kind, event, reply = entry["kind"], json.loads(entry["event"]), entry["reply"]
        if kind in _OF_CLAIMS:
            decisions[event["claim"], kind] = entry["by"]
        elif kind in _OF_TABLES:
            report.events[kind] += 1
            _count(report, kind, event, json.loads(reply))
    return decisions


def _count(report: Report, kind: str, event: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
    if kind == "wagers":
        report.wagers += sum(len(at["wagers"]) for at in event["positions"])
    won = {(line["position"], line["item"]) for line in reply.get("lines", ()) if "percent" in line}
    report.percentages.update(item for _, item in won)


def grown(name: str, first: int, most: int, entries: int) -> str | None:
    bound = first * _GROWN_MAX + _GROWN_ALLOWED_BYTES
    if name == "redis":
        bound += entries * _BYTES_PER_ENTRY
    if most > bound:
        return f"{name} grew from {first} to {most} bytes; the bound is {bound}"
    return None
