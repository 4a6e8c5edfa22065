"""A table with six decks: equal cards are entered, as often as the decks have them."""

from controllers.panel.table_view import view_table
from controllers.table.card_entry import declared_wins
from tests.controllers.test_results import sent_result, table_of


def test_equal_cards_of_several_decks_are_entered() -> None:
    table = table_of("T-2")
    table.play("""
        wager 2 twenty_one_progressive; wager 3 twenty_one_progressive
        wager 4 twenty_one_progressive; lockout; chips 3
        dealer As
        hand 2 As As; hand 3 As As
        retract hand 3; hand 3 As As
        hand 4 As As -> card_twice
    """)
    assert table.answer.error
    assert "As was entered more than 6 times" in table.answer.error.message
    view = view_table(table.layout, table.state, fault=None, values={})
    assert (view.decks, view.seen.count("As")) == (6, 5)
    table.play("hand 4 As Kh; settle")
    positions = sent_result(table)["positions"]
    assert isinstance(positions, list)
    assert [each["cards"] for each in positions] == [["As", "As"], ["As", "As"], ["As", "Kh"]]


def test_a_jackpot_that_is_taken_back_and_declared_to_win_nothing_is_named() -> None:
    """The dealer's ace decides the wager, too."""
    table = table_of("T-2")
    table.play("""
        wager 3 twenty_one_progressive; lockout; chips 1
        dealer As; hand 3 As As; retract hand 3; no_win
    """)
    (win,) = declared_wins(table.layout, table.state)
    assert (win.position, win.cards, win.line.hand) == (3, ("As", "As"), "suited_trips")
