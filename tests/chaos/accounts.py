"""Checks after a chaos run: nothing lost, nothing counted twice, nothing invented.

Three records are compared: what the devices received as answers, what the agents' outboxes hold,
and the ledger. `tests.sim.checker` then books the ledger again, entry by entry, and compares every
account, claim and count in Redis. Only the order of events comes from the ledger alone (duty D7).
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from bonus.settling.settlement_lines import Line
from meters.floor.floor_file import Link
from meters.wire.messages import REPLY, ClaimOpened
from tests.chaos.floor import LINKS, model_of
from tests.chaos.player import Player
from tests.servers import RedisServer
from tests.sim.checker import Checker
from tests.sim.world import World

_OF_TABLES: Final = frozenset({"wagers", "result", "void"})
_OF_CLAIMS: Final = frozenset({"validate", "reject", "pay"})

Entry = Mapping[str, str]


@dataclass
class Accounts:
    """Counts of a run, and the problems found, in words."""

    entries: int = 0
    wagers: int = 0
    events: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    percentages: Counter[str] = field(default_factory=Counter)
    decisions: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:  # noqa: FBT001
        if not holds:
            self.problems.append(what)

    def note(self, what: str) -> None:
        """Ignore the checker's trace."""

    def fail(self, what: str) -> None:
        self.problems.append(what)


def hold_together(
    link: Link, players: Sequence[Player], server: RedisServer, outboxes: Path, accounts: Accounts
) -> None:
    """Compare the three records of one link, and Redis with second books of the ledger."""
    played = model_of(link.id, len(players))
    checker = Checker(cast("World", accounts), link, server.socket_path, played)
    with closing(checker):
        checker.check(whole=True)
    accounts.entries += len(checker.entries)
    accounts.claims.update(checker.claims.values())
    waiting = checker.books.waiting()
    accounts.expect(not waiting, f"{link.id}: {waiting} wait for a decision")
    for entry in checker.entries:
        if entry["kind"] in _OF_CLAIMS:
            claim = json.loads(entry["event"])["claim"]
            accounts.decisions[claim, entry["kind"]] = entry["by"]
    tables = {table.id for table in link.table}
    for player in players:
        if player.name in tables:
            own = [
                entry
                for entry in checker.entries
                if entry["table"] == player.name and entry["kind"] in _OF_TABLES
            ]
            _hold_answers(player, own, LINKS[link.id].meter_of, accounts)
            _hold_outbox(outboxes / f"{player.name}.sqlite", player.name, own, accounts)


def _hold_answers(
    player: Player, entries: Sequence[Entry], meter_of: Mapping[str, str], accounts: Accounts
) -> None:
    """Check that the ledger has what the devices were answered, in the same order."""
    answered = [(one.kind, one.wagered, one.lines, one.claims) for one in player.reported]
    due = [_answer_of(entry) for entry in entries]
    accounts.expect(
        answered == due,
        f"{player.name}: the devices got {len(answered)} answers, the ledger has {len(due)}, or"
        " they differ",
    )
    for entry, (kind, _, lines, _) in zip(entries, due, strict=True):
        accounts.events[kind] += 1
        if kind == "wagers":
            accounts.wagers += sum(len(at["wagers"]) for at in _positions(entry))
        percents = {(line.position, line.item) for line in lines if line.percent}
        accounts.percentages.update(meter_of[item] for _, item in percents)


def _positions(entry: Entry) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(entry["event"])["positions"]
    return found


def _answer_of(
    entry: Entry,
) -> tuple[str, dict[str, int], tuple[Line, ...], tuple[ClaimOpened, ...]]:
    """Return the answer to the devices that follows from an entry, as in `Reported`."""
    reply, sums = REPLY.decode(entry["reply"]), Counter[str]()
    if entry["kind"] == "wagers":
        for at in _positions(entry):
            sums.update(at["wagers"])
    return entry["kind"], dict(sums), tuple(reply.lines or ()), tuple(reply.claims or ())


def _hold_outbox(path: Path, table: str, entries: Sequence[Entry], accounts: Accounts) -> None:
    """Check that each sent event has its reply, and each accepted one its entry, byte for byte."""
    with closing(sqlite3.connect(path)) as outbox:
        rows = outbox.execute("SELECT seq, payload, reply FROM event ORDER BY seq").fetchall()
    unanswered = [seq for seq, _, reply in rows if reply is None]
    accounts.expect(not unanswered, f"{table}: events {unanswered} have no reply")
    kept = [
        (seq, payload.decode(), reply.decode())
        for seq, payload, reply in rows
        if reply is not None and json.loads(reply)["status"] == "accepted"
    ]
    entered = [(int(entry["seq"]), entry["event"], entry["reply"]) for entry in entries]
    accounts.expect(
        kept == entered,
        f"{table}: its outbox has {len(kept)} accepted events, the ledger {len(entered)}, or they"
        " differ",
    )
