"""Tables whose results are not cards: what the dealer enters, and what the service gets."""

from dataclasses import replace

import msgspec
import pytest

from controllers.panel.table_view import view_table
from controllers.table.state import Layout
from meters.floor.floor_file import parse_floor
from meters.wire.messages import Result
from tests.controllers.floors import HandTable
from tests.model.model_floor import RESULTS


def table_of(name: str, *, all_hands: bool = False) -> HandTable:
    """Return a table with dice (`T-1`), or with a result for each position (`T-3`)."""
    found = parse_floor(RESULTS.text).find_table(name)
    assert found is not None
    return HandTable(layout=replace(Layout.of(*found), require_all_hands=all_hands))


def sent_result(table: HandTable) -> dict[str, object]:
    (event,) = (each for each in table.sent if isinstance(each, Result))
    found: dict[str, object] = msgspec.to_builtins(event)
    return found


def test_one_result_is_for_all_positions_with_a_wager() -> None:
    table = table_of("T-1")
    table.play("""
        wager 2 dice_bet; wager 5 dice_bet; lockout
        dealer twelve -> chips_first
        chips 2
        settle -> dealer_missing
        hand 2 twelve -> wrong_cards
        no_win -> nothing_there
        no_win 2 -> wrong_cards
        dealer As -> bad_card
        dealer twelve eleven -> wrong_cards
        dealer twelve
        dealer eleven -> hand_twice
        settle
    """)
    sent = sent_result(table)
    assert sent["dealer"] == ["twelve"]
    assert sent["positions"] == [
        {"position": 2, "patron": None, "cards": None, "folded": False},
        {"position": 5, "patron": None, "cards": None, "folded": False},
    ]


def test_a_result_that_is_corrected_stays_on_record() -> None:
    table = table_of("T-1")
    table.play("""
        wager 2 dice_bet; lockout; chips 1
        dealer twelve; retract dealer; dealer eleven; settle
    """)
    assert sent_result(table)["entered_before"] == [
        {"what": "dealer", "cards": ["twelve"], "taken_back": True}
    ]


def test_two_positions_can_have_the_same_result() -> None:
    table = table_of("T-3")
    table.play("""
        wager 2 trips_progressive 500; wager 5 trips_progressive 500; wager 6 trips_progressive 500
        lockout; chips 3
        dealer trips -> wrong_cards
        hand 6 trips; hand 5 trips
        settle -> hand_missing
        no_win; settle
    """)
    positions = sent_result(table)["positions"]
    assert isinstance(positions, list)
    assert [(each["position"], each["cards"]) for each in positions] == [
        (2, None),
        (5, ["trips"]),
        (6, ["trips"]),
    ]


@pytest.mark.parametrize("table", ["T-1", "T-3"])
def test_the_view_names_the_results_and_what_is_missing(table: str) -> None:
    playing = table_of(table)
    wager = "dice_bet" if table == "T-1" else "trips_progressive 500"
    playing.play(f"wager 3 {wager}; lockout; chips 1")
    view = view_table(playing.layout, playing.state, fault=None, values={})
    assert view.results[0] == ("twelve" if table == "T-1" else "suited_trips")
    assert view.results[-1] == "other"
    assert view.next == ("dealer" if table == "T-1" else "3")
    assert [str(each) for each in view.missing] == [
        "the table's result" if table == "T-1" else "result of position 3"
    ]
    acts = {act for position in view.positions for act in position.can}
    assert acts == ({"join"} if table == "T-1" else {"hand", "join"})
