"""One wager corrected at the table, after lock-out and before the first card."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from controllers.agent.agent import Agent
from controllers.agent.outbox import Outbox, SavedTable
from controllers.panel.table_view import view_table
from controllers.table.device_events import DeviceRefusal
from controllers.table.state import Layout, Phase
from meters.floor.floor_file import parse_floor
from meters.wire.messages import DrawMade, ErrorDetail, Reply, WagerCorrection
from tests.controllers.floors import HandTable, link_and_table, refusal_code
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, say, say_all
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import DRAWN
from tests.servers import Mosquitto, eventually_async

pytestmark = pytest.mark.duty("D17")

TWO = "wager 3 progressive; wager 5 progressive; wager 5 five_card_progressive; lockout"
BACK = "correct_wager take_back 3 progressive"


def lit(table: HandTable) -> set[tuple[int, str]]:
    return {(placed.position, placed.wager) for placed in table.state.wagers}


def test_the_light_without_a_chip_is_taken_back_and_the_round_goes_on() -> None:
    table = HandTable()
    draw = DrawMade(magic_card="Td", lucky_position=None)
    table.replies = [Reply(seq=1, status="accepted", draw=draw)]
    table.say_all(f"wager 4 five_card_hand_bonus; {TWO}")
    assert table.refusal("chips 2") == "chips_differ"
    answer = table.say_short(BACK)
    assert (answer.ok, answer.position, answer.wager) == (True, 3, "progressive")
    assert (answer.light, answer.chips) == (False, 2)
    sent = table.last(WagerCorrection)
    assert (sent.round, sent.action, sent.amount) == ("R1", "take_back", 100)
    assert [(at.position, at.wagers) for at in sent.positions] == [
        (4, {"five_card_hand_bonus": 200}),
        (5, {"progressive": 100, "five_card_progressive": 100}),
    ]
    state = table.state
    assert (state.phase, state.differs, state.draw, state.round) == (Phase.LOCKED, None, draw, "R1")
    table.say_all("chips 2; hand 4 2h 7d 9c; hand 5 As Ks Qs; dealer 2c 3c 4d; community Js Ts")
    assert table.say_short("settle").ok
    assert {placed.position for placed in table.state.last_wagers} == {4, 5}, "it is not repeated"


def test_the_wager_that_was_at_the_wrong_position_is_moved() -> None:
    """The count was right, and no card was entered: the chips are counted again."""
    table = HandTable()
    table.say_all("wager 3 progressive; lockout; chips 1; correct_wager add 4 progressive")
    assert table.state.phase is Phase.LOCKED
    table.say_all(f"{BACK}; chips 1")
    assert lit(table) == {(4, "progressive")}


def test_the_patron_of_a_position_is_the_one_that_the_service_has() -> None:
    table = HandTable()
    table.say("wager", position=3, wager="progressive", amount=100, patron="p3")
    table.say_all("lockout; correct_wager add 3 five_card_progressive")
    table.say("same_player", position=3, same=True)
    table.say_all("correct_wager add 4 progressive; correct_wager add 6 progressive")
    sent = table.last(WagerCorrection)
    assert [(at.position, at.patron) for at in sent.positions] == [(3, "p3"), (4, "p3"), (6, None)]
    fields = {"action": "add", "position": 4, "wager": "five_card_progressive", "reason": "chip"}
    assert refusal_code(table.say("correct_wager", **fields, patron="p9")) == "patron_differs"


def test_without_any_wager_the_round_goes_on_alone() -> None:
    table = HandTable()
    table.say_all(f"wager 3 progressive; lockout; {BACK}")
    assert (table.state.round, table.state.phase) == (None, Phase.LOCKED)
    sent = len(table.sent)
    assert table.refusal("correct_wager add 3 progressive") == "no_round"
    table.say_all("chips 0; dealer 2c 3c 4d; settle; wager 3 progressive; lockout")
    assert [type(one).__name__ for one in table.sent[sent:]] == ["Wagers"]
    assert table.state.round == "R2"


WRONG = {
    "betting is open": ("wager 3 progressive", BACK, "not_locked"),
    "it is not there": (TWO, "correct_wager take_back 4 progressive", "no_wager"),
    "it is there": (TWO, "correct_wager add 3 progressive", "wager_twice"),
    "no such position": (TWO, "correct_wager add 8 progressive", "unknown_position"),
    "no such wager": (TWO, "correct_wager add 3 ante", "unknown_wager"),
    "no chip": (TWO, "correct_wager add 3 five_card_hand_bonus", "electronic_wager"),
    "a card was entered": (f"{TWO}; chips 3; dealer 2c 3c 4d", BACK, "cards_entered"),
    "a fold was entered": (f"{TWO}; chips 3; fold 3", BACK, "cards_entered"),
    "a card was taken back": (
        f"{TWO}; chips 3; dealer 2c 3c 4d; retract dealer; retract chips", BACK, "cards_entered",
    ),
    "no win was declared": (f"{TWO}; chips 3; no_win 3", BACK, "cards_entered"),
    "no wagers at all": ("lockout", BACK, "no_round"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "line", "code"), WRONG.values(), ids=WRONG)
def test_a_wrong_correction_is_refused_at_the_table(before: str, line: str, code: str) -> None:
    table = HandTable()
    table.say_all(before)
    sent, state = len(table.sent), table.state
    assert table.refusal(line) == code
    assert (len(table.sent), table.state) == (sent, state)


def test_a_chip_that_the_draw_can_decide_is_not_corrected(tmp_path: Path) -> None:
    (tmp_path / "drawn.toml").write_text(DRAWN)
    bonus = "five_card_hand_bonus"
    text = link_text("one", meter_text(bonus), table_text("T-1", bonus, game="drawn", positions=6))
    found = parse_floor(floor_text(text, games=str(tmp_path))).find_table("T-1")
    assert found is not None
    table = HandTable(layout=Layout.of(*found))
    table.say_all("wager 3 own; lockout")
    for line in ("correct_wager add 4 own", "correct_wager take_back 3 own"):
        assert table.refusal(line) == "drawn_wager"
    (wager, _) = view_table(table.layout, table.state, fault=None, values={}).wagers
    assert (wager.wager, wager.correctable) == ("own", False)


def test_a_fault_stops_what_is_added_and_not_what_is_taken_back() -> None:
    table = HandTable()
    table.say_all(TWO)
    table.fault = DeviceRefusal("closed", "the link is closed")
    assert table.refusal("correct_wager add 4 progressive") == "closed"
    assert table.say_short(BACK).ok


def test_a_refused_correction_leaves_the_round_as_it_was() -> None:
    table = HandTable()
    table.say_all(TWO)
    state = table.state
    error = ErrorDetail(
        code="correction_refused", message="Ada refused this correction: chip there"
    )
    table.replies = [Reply(seq=2, status="refused", error=error)]
    assert table.refusal(BACK) == "correction_refused"
    assert table.state.refusal is not None
    assert msgspec.structs.replace(table.state, refusal=None) == state


@pytest.mark.parametrize("decided", ["confirmed", "refused"])
async def test_the_request_goes_on_after_a_restart(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, decided: str
) -> None:
    """Each try has a new number and the same content, and one of them counts."""
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, TWO)
        waiting = asyncio.create_task(say(agent, BACK))
        await eventually_async(lambda: agent.table_state.asking is not None)
        waiting.cancel()
    async with live_agent(mosquitto.url, outbox) as agent:
        tried = len(service.applied)
        await eventually_async(lambda: len(service.applied) > tried + 1)
        service.decided = decided
        await eventually_async(lambda: agent.table_state.asking is None)
        wagers = [placed.position for placed in agent.table_state.wagers]
        assert wagers == ([5, 5] if decided == "confirmed" else [3, 5, 5])
        answer = await say(agent, "chips 2" if decided == "confirmed" else "chips 3")
        assert answer.ok
        assert answer.error is UNSET
    sent = [one for one in service.applied if one["type"] == "correct_wager"]
    plain = [{**one, "seq": 0, "at": ""} for one in sent]
    assert plain == plain[:1] * len(plain)
    assert [one["seq"] for one in sent] == [*range(2, 2 + len(sent))]


async def _older_outbox(url: str, service: ScriptedService, outbox: Path) -> Path:
    """Return a copy of the outbox that lacks the correction of a wager in the open round."""
    older = outbox.with_name("older.sqlite")
    async with live_agent(url, outbox) as agent:
        await say_all(agent, TWO)
    shutil.copy(outbox, older)
    service.decided = "confirmed"
    async with live_agent(url, outbox) as agent:
        await say_all(agent, BACK)
    return older


async def test_an_older_outbox_does_not_know_the_wagers_of_the_open_round(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    """The round has the same name, and other wagers: the table is locked out until its void."""
    older = await _older_outbox(mosquitto.url, service, outbox)
    async with Agent(*link_and_table(), mosquitto.url, older, timing=SWIFT) as agent:
        await eventually_async(lambda: agent.state == "locked_out")
        assert "events of round R1" in agent.table_state.reason
        await say_all(agent, "void; wager 3 progressive; lockout; chips 1")
    assert [one["type"] for one in service.applied][-2:] == ["void", "wagers"]


async def test_no_failure_comes_between_the_services_number_and_the_lock_out(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that has the number already does not see any more that its outbox is older."""
    older = await _older_outbox(mosquitto.url, service, outbox)
    write = Outbox.write_place

    def write_unless_locked_out(box: Outbox, saved: SavedTable, *, synced: bool = False) -> None:
        if b"locked_out" in (saved.state or b""):
            raise sqlite3.OperationalError("database or disk is full")
        write(box, saved, synced=synced)

    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "write_place", write_unless_locked_out)
        async with Agent(*link_and_table(), mosquitto.url, older, timing=SWIFT) as agent:
            await eventually_async(lambda: agent._writer.last_seq == service.last_seq)
    async with live_agent(mosquitto.url, older) as agent:
        assert (agent.state, agent.table_state.wagers) == ("locked_out", ())


@pytest.mark.parametrize("event", ["void", BACK, "correct_wager add 4 progressive"])
@pytest.mark.parametrize("code", ["seq_reused", "seq_passed"])
def test_a_number_that_the_service_used_for_another_event_of_the_round_locks_the_table_out(
    event: str, code: str
) -> None:
    """The agent of an older outbox sends it before it hears the service's number."""
    table = HandTable()
    table.say_all(TWO)
    error = ErrorDetail(code=code, message="used for another event")
    table.replies = [Reply(seq=2, status="refused", error=error)]
    assert table.refusal(event) == code
    assert (table.state.phase, table.state.round, table.state.wagers) == (
        Phase.LOCKED_OUT, "R1", (),
    )  # fmt: skip
    assert table.state.returned is not None
    assert {placed.position for placed in table.state.returned.wagers} == {3, 5}
    table.say_all("void; wager 3 progressive; lockout; chips 1")
