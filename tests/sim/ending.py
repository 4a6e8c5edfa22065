"""Check at the end of a run: each table's answered events against the ledger."""

import json
from collections.abc import Iterable

from controllers.agent.outbox import Sent
from tests.sim.checker import Checker
from tests.sim.world import World


def hold_history(
    world: World, checker: Checker, table: str, history: Iterable[Sent], *, lost: bool
) -> None:
    """Check that each accepted event is in the ledger once, byte for byte, and no other is."""
    known: set[int] = set()
    for sent in history:
        known.add(sent.seq)
        _hold_event(world, checker, table, sent, lost=lost)
    strange = [
        entry["seq"]
        for entry in checker.entries
        if entry["kind"] in {"wagers", "result", "void"}
        and entry["table"] == table
        and int(entry["seq"]) not in known
    ]
    if strange and not lost:
        world.fail(f"{table}: the ledger has events {strange} that the table does not have")


def _hold_event(world: World, checker: Checker, table: str, sent: Sent, *, lost: bool) -> None:
    entry = checker.of_event(table, sent.seq)
    if sent.reply is None:
        world.fail(f"{table}: event {sent.seq} is unanswered")
    elif json.loads(sent.reply)["status"] != "accepted":
        if entry is not None and entry["event"].encode() == sent.payload:
            world.fail(f"{table}: event {sent.seq} was refused, but is in the ledger")
    elif json.loads(sent.payload)["type"] == "withdrawal":
        if entry is not None:
            world.fail(f"{table}: event {sent.seq} is a withdrawal, but is in the ledger")
    elif entry is None:
        world.fail(f"{table}: event {sent.seq} was accepted, but is not in the ledger")
    elif entry["reply"].encode() != sent.reply or not (
        entry["event"].encode() == sent.payload
        or (lost and _without_time(entry["event"]) == _without_time(sent.payload))
    ):
        world.fail(f"{table}: event {sent.seq} differs from its ledger entry")


def _without_time(event: str | bytes) -> dict[str, object]:
    """Return an event without its time.

    A table whose disk lost an event that it had synced sends the event again, with a later time.
    The service can then accept a late copy of the first.
    """
    fields: dict[str, object] = json.loads(event)
    del fields["at"]
    return fields
