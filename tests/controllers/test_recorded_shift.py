"""The recorded shift's device events, played by the table's rules alone."""

import gzip
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from controllers.table.device_events import parse_event
from controllers.table.replies import absorb
from controllers.table.state import Layout, Phase, TableState
from controllers.table.transitions import Stamp, play
from meters.floor.floor_file import read_floor
from meters.wire.messages import MoneyEvent, Result, Void, Wagers
from tests.controllers.floors import accepted

SHIFT = Path(__file__).parent.parent / "shift"


def play_table(layout: Layout, lines: list[bytes]) -> list[MoneyEvent]:
    """Play a table's lines, each of which must be accepted; return what went to the service."""
    state, sent = TableState(), list[MoneyEvent]()
    for number, line in enumerate(lines):
        stamp = Stamp(len(sent) + 1, datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC))
        step = play(layout, state, parse_event(line), stamp)
        state = step.state
        if step.send is not None:
            sent.append(step.send)
            step = absorb(layout, state, step.send, accepted(step.send.seq))
            state = step.state
        assert step.answer is not None, number
        assert step.answer.ok, (number, line, step.answer)
    assert state.phase is Phase.OPEN
    return sent


@pytest.mark.slow
def test_every_event_is_taken_and_the_wagers_are_those_expected() -> None:
    expected = json.loads((SHIFT / "expected.json").read_text())
    floor = read_floor(SHIFT / "floor.toml")
    counts: Counter[str] = Counter()
    for link in floor.link:
        for table in link.table:
            lines = gzip.decompress(
                (SHIFT / "tables" / f"{table.id}.jsonl.gz").read_bytes()
            ).splitlines()
            sent = play_table(Layout.of(link, table), lines)
            assert [event.seq for event in sent] == list(range(1, len(sent) + 1))
            counts["rounds"] += sum(b'"lockout"' in line for line in lines)
            counts["sent"] += sum(isinstance(event, Wagers) for event in sent)
            counts["results"] += sum(isinstance(event, Result) for event in sent)
            counts["voids"] += sum(isinstance(event, Void) for event in sent)
            voided = {event.round for event in sent if isinstance(event, Void)}
            standing = [
                at
                for event in sent
                if isinstance(event, Wagers) and event.round not in voided
                for at in event.positions
            ]
            counts["wagers"] += sum(len(at.wagers) for at in standing)
            counts["wagered_cents"] += sum(sum(at.wagers.values()) for at in standing)
    names = ("rounds", "voids", "wagers", "wagered_cents")
    assert {name: counts[name] for name in names} == {name: expected[name] for name in names}
    assert counts["sent"] == counts["results"] + counts["voids"]
