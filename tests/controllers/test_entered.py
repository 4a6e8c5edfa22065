"""The report to the service of cards that were entered and are not in a round's result."""

import msgspec
import pytest

from controllers.table.cards import TAKEN_BACK_MAX
from meters.wire.messages import EVENT_BYTES_MAX, EnteredCards, Result, Void
from tests.controllers.floors import HandTable, refusal_code

DEALT = "wager 3 progressive; wager 4 progressive; lockout; chips 2"


def before(table: HandTable) -> list[tuple[str, int | None, str, str | None]]:
    """Return the earlier entries that the last result reports."""
    entered = table.last(Result).entered_before or []
    assert all(each.taken_back for each in entered)
    return [(each.what, each.position, " ".join(each.cards), each.reason) for each in entered]


def test_a_void_after_cards_lists_every_entered_card_and_those_taken_back() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs")
    assert table.say("retract", what="hand", position=3, reason="Typed wrong").ok
    table.say_all("hand 3 2h 3h 4h; hand 4 Td 9d 8d")
    assert table.say("fold", position=4, cards="collected").ok
    table.say_all("dealer 5c 6c 7c; void")
    assert table.last(Void).entered == [
        EnteredCards(
            what="hand",
            position=3,
            cards=["As", "Ks", "Qs"],
            taken_back=True,
            reason="Typed wrong",
        ),
        EnteredCards(what="hand", position=4, cards=["Td", "9d", "8d"]),
        EnteredCards(what="hand", position=3, cards=["2h", "3h", "4h"]),
        EnteredCards(what="dealer", cards=["5c", "6c", "7c"]),
    ]


def test_events_without_such_cards_are_those_of_the_contract() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; lockout; void")
    assert set(msgspec.to_builtins(table.last(Void))) == {"type", "seq", "at", "round", "reason"}
    table.say_all("wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 5c 6c 7c; settle")
    assert "entered_before" not in msgspec.to_builtins(table.last(Result))


def test_a_result_lists_only_cards_that_were_first_entered_differently() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c")
    for event in ({"what": "hand", "position": 3}, {"what": "dealer"}):
        assert table.say("retract", reason="Card misread", **event).ok
    table.say_all("retract hand 4; hand 4 8d Td 9d; hand 3 2h 3h 4h; dealer 5c 6c 8c; settle")
    assert before(table) == [
        ("hand", 3, "As Ks Qs", "Card misread"),
        ("dealer", None, "5c 6c 7c", "Card misread"),
    ]
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c; settle")
    assert before(table) == [], "the next round begins without them"


def test_a_hand_does_not_disappear_by_way_of_a_fold() -> None:
    """The cards come back when the fold is taken back. They must be taken back before others."""
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d")
    assert table.say("fold", position=3, cards="collected").ok
    table.say_all("retract fold 3")
    assert table.state.cards_at(3) == ("As", "Ks", "Qs")
    assert not table.say_short("hand 3 2h 3h 4h").ok
    table.say_all("retract hand 3")
    assert table.say("fold", position=3, cards="collected").ok
    table.say_all("dealer 5c 6c 7c; settle")
    assert before(table) == [("hand", 3, "As Ks Qs", None)]


def test_a_folded_hand_whose_cards_are_elsewhere_by_now_is_not_put_back() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs")
    assert table.say("fold", position=3, cards="collected").ok
    table.say_all("hand 4 As 9d 8d")
    assert table.refusal("retract fold 3") == "card_twice"


def test_a_regular_fold_is_no_hand_entered_differently() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; hand 4 Td 9d 8d; dealer 5c 6c 7c")
    assert table.say("fold", position=3, cards="collected").ok
    table.say_all("settle")
    assert before(table) == []


@pytest.mark.parametrize("last", ["settle", "void"])
def test_the_report_fits_into_an_event_however_often_cards_are_taken_back(last: str) -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 4 Td 9d 8d; dealer 5c 6c 7c; hand 3 2h 3h 4h")
    reason = "\N{EM DASH}" * 200
    for _ in range(TAKEN_BACK_MAX):
        assert table.say("retract", what="hand", position=3, reason=reason).ok
        table.say_all("hand 3 As Ks Qs")
    assert refusal_code(table.say("retract", what="dealer", reason=reason)) == "taken_back_often"
    table.say_all(last)
    assert len(msgspec.json.encode(table.sent[-1])) < EVENT_BYTES_MAX
