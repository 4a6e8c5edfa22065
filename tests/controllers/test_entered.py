"""The report to the service of cards that were entered and are not in a round's result."""

import msgspec
import pytest

from controllers.table.card_entry import TAKEN_BACK_MAX
from meters.wire.messages import EVENT_BYTES_MAX, Result, Void
from tests.controllers.floors import HandTable

DEALT = "wager 3 progressive; wager 4 progressive; lockout; chips 2"

STORIES = {
    "a void lists every card that was entered, and those taken back": f"""
        {DEALT}; hand 3 As Ks Qs; retract hand 3 reason=Mistyped; hand 3 2h 3h 4h; hand 4 Td 9d 8d
        fold 4 cards=collected; dealer 5c 6c 7c; void
        reported: hand 3 As Ks Qs taken back Mistyped, hand 4 Td 9d 8d, hand 3 2h 3h 4h, \
dealer 5c 6c 7c
    """,
    "a result lists only cards that were first entered differently, of its own round": f"""
        {DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c
        retract hand 3 reason=Misread; retract dealer reason=Misread; retract hand 4
        hand 4 8d Td 9d; hand 3 2h 3h 4h; dealer 5c 6c 8c; settle
        reported: hand 3 As Ks Qs taken back Misread, dealer 5c 6c 7c taken back Misread
        {DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c; settle; reported: none
    """,
    "a hand does not disappear by way of a fold": f"""
        {DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; fold 3 cards=collected; retract fold 3
        hands: 4 Td 9d 8d, 3 As Ks Qs; hand 3 2h 3h 4h -> hand_twice
        retract hand 3; fold 3 cards=collected; dealer 5c 6c 7c; settle
        reported: hand 3 As Ks Qs taken back
    """,
    "a folded hand whose cards are elsewhere by now is not put back": f"""
        {DEALT}; hand 3 As Ks Qs; fold 3 cards=collected; hand 4 As 9d 8d
        retract fold 3 -> card_twice
    """,
    "a regular fold is no hand entered differently": f"""
        {DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c; fold 3 cards=collected
        settle; reported: none
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_was_entered_before_is_reported(story: str) -> None:
    HandTable().play(story)


def test_events_without_such_cards_are_those_of_the_contract() -> None:
    table = HandTable()
    table.play("wager 3 progressive; lockout; void")
    assert set(msgspec.to_builtins(table.last(Void))) == {"type", "seq", "at", "round", "reason"}
    table.play("wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 5c 6c 7c; settle")
    assert "entered_before" not in msgspec.to_builtins(table.last(Result))


@pytest.mark.parametrize("last", ["settle", "void"])
def test_the_report_fits_into_an_event_however_often_cards_are_taken_back(last: str) -> None:
    table, reason = HandTable(), "\N{EM DASH}" * 200
    table.play(f"{DEALT}; hand 4 Td 9d 8d; dealer 5c 6c 7c; hand 3 2h 3h 4h")
    for _ in range(TAKEN_BACK_MAX):
        table.play(f"retract hand 3 reason={reason}; hand 3 As Ks Qs")
    table.play(f"retract dealer reason={reason} -> taken_back_often; {last}")
    assert len(msgspec.json.encode(table.sent[-1])) < EVENT_BYTES_MAX
