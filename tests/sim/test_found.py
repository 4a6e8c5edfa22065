"""What the simulation found, each as the shortest test that shows it."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

import meters.announcer
from meters.announcer import Announcer
from meters.board import Board
from meters.books.standing import LinkState, MeterState
from meters.books.store import LinkStore
from meters.metrics import Metrics
from tests.controllers.floors import HandTable
from tests.sim.floor import simulated_floor


def test_a_clock_set_back_leaves_no_meter_shown_as_inoperable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hours = iter(["12", "12", "11"])
    monkeypatch.setattr(meters.announcer, "now_text", lambda: f"2026-11-20T{next(hours)}:00:00Z")
    floor = simulated_floor(tmp_path)
    store, board, posted = LinkStore(Redis(), floor.link[0]), Board(), list[bytes]()
    announcer = Announcer(
        store, board, Metrics(floor), lambda _topic, payload, **_: posted.append(payload)
    )
    state = LinkState((MeterState("high", 500_000, 1, 1, pending=False),), None, 0, 0, 1)
    announcer.tell_meters(state)
    announcer.tell_inoperable()
    assert [row.state for row in board.rows()] == ["inoperable"]
    announcer.forget_told()
    announcer.tell_meters(state)
    assert [row.state for row in board.rows()] == ["open"]
    assert b'"at":"2026-11-20T12:00:00Z"' in posted[-1]


def test_the_answer_to_settle_says_which_round_it_is_about() -> None:
    table = HandTable()
    answer = table.say_all(
        "wager 3 progressive; lockout; chips 1; hand 3 2c 3d 5h; dealer 7s 8d Th; settle"
    )
    assert answer.round == "R1"
