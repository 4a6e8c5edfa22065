"""When a run is over: what each outbox says was answered, held against the ledger."""

import json

from controllers.outbox import Outbox
from tests.sim.checker import Checker
from tests.sim.table import SimulatedTable
from tests.sim.world import World


def hold_outbox(world: World, checker: Checker, link: str, table: SimulatedTable) -> None:
    """Every event that was accepted stands in the ledger once, word for word, and no other does."""
    name = table.name
    outbox = Outbox.open(table.outbox, link, name)
    known: set[int] = set()
    try:
        for sent in outbox.history():
            known.add(sent.seq)
            entry = checker.of_event(name, sent.seq)
            if sent.reply is None:
                world.fail(f"{name}: event {sent.seq} is unanswered")
                return
            reply = json.loads(sent.reply)
            if reply["status"] != "accepted":
                if entry is not None and entry["event"].encode() == sent.payload:
                    world.fail(f"{name}: event {sent.seq} was refused, and is in the ledger")
            elif entry is None:
                world.fail(f"{name}: event {sent.seq} was accepted, and is not in the ledger")
            elif (entry["event"].encode(), entry["reply"].encode()) != (sent.payload, sent.reply):
                world.fail(f"{name}: event {sent.seq} is another in the ledger")
    finally:
        outbox.close()
    strange = [
        entry["seq"]
        for entry in checker.entries
        if entry["kind"] in {"wagers", "result", "void"}
        and entry["table"] == name
        and int(entry["seq"]) not in known
    ]
    if strange and not table.disk.lost:
        world.fail(f"{name}: the ledger has events {strange} that the outbox has not")
