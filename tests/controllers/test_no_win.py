"""The dealer's declaration that a hand wins nothing: at the table, until the result is sent."""

import msgspec
import pytest

from controllers.table.declared_wins import declared_wins
from controllers.table.state import Layout
from meters.wire.messages import DrawMade, EnteredCards, Result, Void
from tests.controllers.floors import HandTable, link_and_table, refusal_code

DEALT = "wager 3 progressive; wager 4 progressive; lockout; chips 2"


def positions(table: HandTable) -> list[dict[str, object]]:
    sent = table.last(Result)
    told: list[dict[str, object]] = msgspec.to_builtins(sent)["positions"]
    return [{name: at[name] for name in at if name != "patron"} for at in told]


def test_one_event_declares_every_hand_that_is_not_entered() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 4 As Ks Qs")
    assert table.say("no_win").positions == (3,)
    table.say_all("dealer 5c 6c 7c; settle")
    assert positions(table) == [
        {"position": 3, "cards": None, "folded": False, "no_win": True},
        {"position": 4, "cards": ["As", "Ks", "Qs"], "folded": False},
    ]
    assert table.state.settled is not None
    assert table.state.settled.no_win == (3,)
    assert table.state.no_win == ()


def test_one_hand_is_declared_by_its_position_with_or_without_a_wager() -> None:
    table = HandTable()
    table.say_all(DEALT)
    assert table.say("no_win", position=6).positions == (6,)
    assert table.refusal("settle") == "hand_missing"


@pytest.mark.parametrize(
    ("before", "position", "expected"),
    [
        ("", 9, "unknown_position"),
        ("hand 3 As Ks Qs", 3, "hand_twice"),
        ("fold 3", 3, "hand_twice"),
        ("no_win", 3, "hand_twice"),
        ("no_win", None, "nothing_there"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(
    before: str, position: int | None, expected: str
) -> None:
    table = HandTable()
    table.say_all(DEALT)
    if before:
        table.say_all(before)
    state = table.state
    assert refusal_code(
        table.say("no_win", **({} if position is None else {"position": position}))
    ) == (expected)
    assert table.state == state


def test_cards_and_folds_come_after_the_declaration_is_taken_back() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; no_win")
    assert table.refusal("hand 3 As Ks Qs") == "declared_no_win"
    assert table.refusal("fold 3") == "declared_no_win"
    assert table.refusal("retract chips") == "cards_first"
    table.say_all("retract no_win 3; hand 3 As Ks Qs")
    assert table.state.no_win == (4,)


def test_nothing_is_declared_before_the_chips_are_counted() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; lockout")
    assert table.refusal("no_win") == "chips_first"


def test_a_declared_hand_that_is_then_entered_is_reported_with_the_result() -> None:
    """So a hand cannot become a win without a trace, and the correction can be confirmed."""
    table = HandTable()
    table.say_all(f"{DEALT}; no_win")
    assert table.say("retract", what="no_win", reason="Overlooked").ok
    table.say_all("hand 3 As Ks Qs; no_win; dealer 5c 6c 7c; settle")
    sent = table.last(Result)
    assert sent.entered_before == [
        EnteredCards(what="hand", position=3, taken_back=True, reason="Overlooked", no_win=True)
    ]


def test_a_hand_that_becomes_a_declaration_is_reported_with_its_cards() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; retract hand 3; no_win; dealer 5c 6c 7c; settle")
    sent = table.last(Result)
    assert sent.entered_before == [
        EnteredCards(what="hand", position=3, cards=["As", "Ks", "Qs"], taken_back=True)
    ]


def test_a_void_reports_the_declarations() -> None:
    """The dealer has seen these hands, so the wagers are not returned without a trace."""
    table = HandTable()
    table.say_all(f"{DEALT}; no_win; void")
    sent = table.last(Void)
    assert sent.entered == [
        EnteredCards(what="hand", position=position, no_win=True) for position in (3, 4)
    ]


def test_all_declarations_are_taken_back_again_and_again() -> None:
    table = HandTable()
    table.say_all("; ".join(f"wager {at} progressive" for at in range(1, 7)))
    table.say_all("lockout; chips 6")
    for _ in range(3):
        table.say_all("no_win; retract no_win")
    table.say_all("no_win; dealer 5c 6c 7c; settle")
    sent = table.last(Result)
    assert not sent.entered_before


@pytest.mark.parametrize(
    ("draw", "declared"),
    [
        (DrawMade(magic_card="Ts", lucky_position=None), (4,)),
        (DrawMade(magic_card=None, lucky_position=3), (4,)),
        (DrawMade(magic_card=None, lucky_position=4), (3, 4)),
        (DrawMade(magic_card=None, lucky_position="dealer"), (3, 4)),
    ],
)
def test_cards_that_decide_a_drawn_bonus_are_needed(
    draw: DrawMade, declared: tuple[int, ...]
) -> None:
    """Only position 3 has the Five Card Hand Bonus wager that the draw concerns."""
    table = HandTable()
    table.say_all(f"wager 3 five_card_hand_bonus; {DEALT}")
    table.state = msgspec.structs.replace(table.state, draw=draw)
    assert table.say("no_win").positions == declared
    if 3 not in declared:
        assert refusal_code(table.say("no_win", position=3)) == "cards_needed"
        assert table.refusal("no_win") == "cards_needed"


def test_a_house_that_requires_all_hands_refuses_a_declaration() -> None:
    table = HandTable()
    table.layout = Layout.of(*link_and_table(), require_all_hands=True)
    table.say_all(DEALT)
    assert table.refusal("no_win") == "all_hands"


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
def test_declaration_that_the_entered_cards_contradict_is_known(
    entries: str, warned: list[tuple[int, int, str]]
) -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; {entries}")
    found = [
        (win.position, win.entered_at, win.line.hand)
        for win in declared_wins(table.layout, table.state)
    ]
    assert found == warned
    ended = HandTable()
    ended.say_all(f"{DEALT}; {entries}; void misdeal")
    assert [*declared_wins(ended.layout, ended.state)] == []


def test_win_of_five_cards_is_known_once_the_community_cards_are_entered() -> None:
    table = HandTable()
    table.say_all("wager 3 five_card_progressive; lockout; chips 1")
    table.say_all("hand 3 As Ks Qs; retract hand 3; no_win 3")
    assert [*declared_wins(table.layout, table.state)] == []
    table.say_all("community Js Ts")
    (win,) = declared_wins(table.layout, table.state)
    assert (win.line.item, win.line.hand) == ("five_card_progressive", "royal_flush")
