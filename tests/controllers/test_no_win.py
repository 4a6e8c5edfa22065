"""The dealer's declaration that a hand wins nothing: at the table, until the result is sent."""

import msgspec
import pytest

from controllers.table.card_entry import declared_wins
from controllers.table.state import Layout
from meters.wire.messages import Result
from tests.controllers.floors import HandTable, link_and_table

DEALT = "wager 3 progressive; wager 4 progressive; lockout; chips 2"
SIX = "; ".join(f"wager {at} progressive" for at in range(1, 7))

STORIES = {
    "one event declares every hand that is not entered": f"""
        {DEALT}; hand 4 As Ks Qs; no_win; declared: 3; no win: 3; dealer 5c 6c 7c; settle
        positions: 3 no_win, 4 As Ks Qs; no win: none
    """,
    "one hand is declared by its position, with or without a wager": f"""
        {DEALT}; no_win 6; declared: 6; settle -> hand_missing
    """,
    "a declaration that cannot be is refused": f"""
        wager 3 progressive; lockout; no_win -> chips_first; void; {DEALT}
        no_win 9 -> unknown_position; hand 3 As Ks Qs; no_win 3 -> hand_twice
        fold 4; no_win 4 -> hand_twice; no_win -> nothing_there
        no_win 6; no_win 6 -> hand_twice
    """,
    "cards and folds come after the declaration is taken back": f"""
        {DEALT}; no_win; hand 3 As Ks Qs -> declared_no_win; fold 3 -> declared_no_win
        retract chips -> cards_first; retract no_win 3; hand 3 As Ks Qs; no win: 4
    """,
    "a declared hand that is then entered is reported, so that it can be confirmed": f"""
        {DEALT}; no_win; retract no_win reason=Overlooked; hand 3 As Ks Qs; no_win
        dealer 5c 6c 7c; settle; reported: hand 3 no_win taken back Overlooked
    """,
    "a hand that becomes a declaration is reported with its cards": f"""
        {DEALT}; hand 3 As Ks Qs; retract hand 3; no_win; dealer 5c 6c 7c; settle
        reported: hand 3 As Ks Qs taken back
    """,
    "a void reports the declarations, because the dealer has seen these hands": f"""
        {DEALT}; no_win; void; reported: hand 3 no_win, hand 4 no_win
    """,
    "all declarations are taken back again and again": f"""
        {SIX}; lockout; chips 6; no_win; retract no_win; no_win; retract no_win
        no_win; retract no_win; no_win; dealer 5c 6c 7c; settle; reported: none
    """,
    "the card that was drawn is needed": f"""
        wager 3 five_card_hand_bonus; service draws Ts none; {DEALT}; no_win; declared: 4
        no_win 3 -> cards_needed; no_win -> cards_needed
    """,
    "the hand of the position that was drawn is needed": f"""
        wager 3 five_card_hand_bonus; service draws none 3; {DEALT}; no_win; declared: 4
        no_win 3 -> cards_needed; no_win -> cards_needed
    """,
    "the hand of a position that was not drawn is not needed": f"""
        wager 3 five_card_hand_bonus; service draws none 4; {DEALT}; no_win; declared: 3, 4
    """,
    "no hand is needed where the dealer was drawn": f"""
        wager 3 five_card_hand_bonus; service draws none dealer; {DEALT}; no_win; declared: 3, 4
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_hand_is_declared_to_win_nothing(story: str) -> None:
    HandTable().play(story)


def test_a_result_has_no_cards_of_a_declared_hand() -> None:
    table = HandTable()
    table.play(f"{DEALT}; no_win 3; hand 4 As Ks Qs; dealer 5c 6c 7c; settle")
    first, second = msgspec.to_builtins(table.last(Result))["positions"]
    assert (first["cards"], first["folded"], first["no_win"]) == (None, False, True)
    assert "no_win" not in second
    assert table.state.settled is not None
    assert table.state.settled.no_win == (3,)


def test_a_house_that_requires_all_hands_refuses_a_declaration() -> None:
    layout = Layout.of(*link_and_table(), require_all_hands=True)
    HandTable(layout=layout).play(f"{DEALT}; no_win -> all_hands")


@pytest.mark.parametrize(
    ("entries", "warned"),
    [
        # The dealer entered a win, and then presses "No winners".
        ("hand 3 As Ks Qs; retract hand 3; no_win", [(3, 3, "mini_royal_spades")]),
        # The same cards at another position: the dealer typed them there by mistake, or there is
        # no hand any more that has them.
        ("hand 4 As Ks Qs; retract hand 4; hand 4 2c 8d 9h; no_win", [(3, 4, "mini_royal_spades")]),
        ("hand 3 As Ks Qs; retract hand 3; hand 4 As Ks Qs; no_win", []),
        ("hand 4 As Ks Qs; retract hand 4; hand 4 As 8d 9h; no_win", []),
        # The hand is still to be entered.
        ("hand 3 As Ks Qs; retract hand 3; no_win 4", []),
        # Cards that win nothing, and a declaration that was taken back.
        ("hand 3 2c 8d 9h; retract hand 3; no_win", []),
        ("hand 3 As Ks Qs; retract hand 3; no_win; retract no_win 3; hand 3 As Ks Qs", []),
        # The position has no wager on its own cards.
        ("hand 4 As Ks Qs; retract hand 4; no_win 6", []),
        ("no_win", []),
    ],
)
def test_declaration_that_the_entered_cards_contradict_is_known_until_the_round_ends(
    entries: str, warned: list[tuple[int, int, str]]
) -> None:
    table = HandTable()
    table.play(f"{DEALT}; {entries}")
    found = [
        (win.position, win.entered_at, win.line.hand)
        for win in declared_wins(table.layout, table.state)
    ]
    assert found == warned
    table.play("void")
    assert [*declared_wins(table.layout, table.state)] == []


def test_win_of_five_cards_is_known_once_the_community_cards_are_entered() -> None:
    table = HandTable()
    table.play("""
        wager 3 five_card_progressive; lockout; chips 1
        hand 3 As Ks Qs; retract hand 3; no_win 3
    """)
    assert [*declared_wins(table.layout, table.state)] == []
    table.play("community Js Ts")
    (win,) = declared_wins(table.layout, table.state)
    assert (win.line.item, win.line.hand) == ("five_card_progressive", "royal_flush")
