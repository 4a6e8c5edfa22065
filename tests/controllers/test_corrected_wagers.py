"""One wager corrected at the table, after lock-out and before the first card."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from controllers.agent.outbox import Outbox, SavedTable
from controllers.panel.table_view import view_table
from controllers.table.state import Layout
from meters.floor.floor_file import parse_floor
from tests.controllers.floors import HandTable, link_and_table
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, say_all
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import DRAWN
from tests.servers import Mosquitto, eventually_async

pytestmark = pytest.mark.duty("D17")

TWO = "wager 3 progressive; wager 5 progressive; wager 5 five_card_progressive; lockout"
BACK = "correct_wager take_back 3 progressive"


STORIES = {
    "the light without a chip is taken back, and the round goes on": f"""
        service draws Td none; wager 4 five_card_hand_bonus; {TWO}; chips 2 -> chips_differ
        {BACK}; light: no; chips: 2; phase: locked; differs: none; round: R1
        positions: 4 five_card_hand_bonus 200, 5 progressive 100 five_card_progressive 100
        sent: Wagers R1 1, WagerCorrection R1 2; draw: Td
        chips 2; hand 4 2h 7d 9c; hand 5 As Ks Qs; dealer 2c 3c 4d; community Js Ts; settle
        last wagers: 4 five_card_hand_bonus, 5 progressive, 5 five_card_progressive
    """,
    "the wager at the wrong position is moved, and the chips are counted again": f"""
        wager 3 progressive; lockout; chips 1; correct_wager add 4 progressive; phase: locked
        {BACK}; chips 1; lit: 4 progressive
    """,
    "the patron of a position is the one that the service has": """
        wager 3 progressive patron=p3; lockout; correct_wager add 3 five_card_progressive
        same_player 3; correct_wager add 4 progressive; correct_wager add 6 progressive
        patrons: 3 p3, 4 p3, 6 None
        correct_wager add 4 five_card_progressive patron=p9 -> patron_differs
    """,
    "without any wager the round goes on alone": f"""
        wager 3 progressive; lockout; {BACK}; round: none; phase: locked
        correct_wager add 3 progressive -> no_round; chips 0; dealer 2c 3c 4d; settle
        wager 3 progressive; lockout; round: R2
        sent: Wagers R1 1, WagerCorrection R1 2, Wagers R2 3
    """,
    "a fault stops what is added, and not what is taken back": f"""
        {TWO}; fault closed; correct_wager add 4 progressive -> closed; {BACK}
    """,
    "a refused correction leaves the round as it was": f"""
        {TWO}; service refuses correction_refused Ada: chip there; {BACK} -> correction_refused
        refusal: correct_wager Ada: chip there; phase: locked
        lit: 3 progressive, 5 progressive, 5 five_card_progressive
    """,
    "no correction is possible while betting is open": f"wager 3 progressive; {BACK} -> not_locked",
    "a correction must be of a chip that is there, or that is not there": f"""
        {TWO}; correct_wager take_back 4 progressive -> no_wager
        correct_wager add 3 progressive -> wager_twice
        correct_wager add 8 progressive -> unknown_position
        correct_wager add 3 ante -> unknown_wager
        correct_wager add 3 five_card_hand_bonus -> electronic_wager
    """,
    "after a card": f"{TWO}; chips 3; dealer 2c 3c 4d; {BACK} -> cards_entered",
    "after a card that was taken back": f"""
        {TWO}; chips 3; dealer 2c 3c 4d; retract dealer; retract chips; {BACK} -> cards_entered
    """,
    "after a fold": f"{TWO}; chips 3; fold 3; {BACK} -> cards_entered",
    "after a declaration": f"{TWO}; chips 3; no_win 3; {BACK} -> cards_entered",
    "without wagers": f"lockout; {BACK} -> no_round",
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_wager_is_corrected_at_the_table(story: str) -> None:
    HandTable().play(story)


def test_a_chip_that_the_draw_can_decide_is_not_corrected(tmp_path: Path) -> None:
    (tmp_path / "drawn.toml").write_text(DRAWN)
    bonus = "five_card_hand_bonus"
    text = link_text("one", meter_text(bonus), table_text("T-1", bonus, game="drawn", positions=6))
    found = parse_floor(floor_text(text, games=str(tmp_path))).find_table("T-1")
    assert found is not None
    table = HandTable(layout=Layout.of(*found))
    table.play("""
        wager 3 own; lockout; correct_wager add 4 own -> drawn_wager
        correct_wager take_back 3 own -> drawn_wager
    """)
    (wager, _) = view_table(table.layout, table.state, fault=None, values={}).wagers
    assert (wager.wager, wager.correctable) == ("own", False)


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
    async with live_agent(mosquitto.url, older) as agent:
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
            await eventually_async(lambda: agent.writer.last_seq == service.last_seq)
    async with live_agent(mosquitto.url, older) as agent:
        assert (agent.state, agent.table_state.wagers) == ("locked_out", ())


@pytest.mark.parametrize("event", ["void", BACK, "correct_wager add 4 progressive"])
@pytest.mark.parametrize("code", ["seq_reused", "seq_passed"])
def test_a_number_that_the_service_used_for_another_event_of_the_round_locks_the_table_out(
    event: str, code: str
) -> None:
    """The agent of an older outbox sends it before it hears the service's number."""
    HandTable().play(f"""
        {TWO}; service refuses {code}; {event} -> {code}; phase: locked_out; round: R1; lit: none
        returned: 3 progressive, 5 progressive, 5 five_card_progressive
        void; wager 3 progressive; lockout; chips 1
    """)
