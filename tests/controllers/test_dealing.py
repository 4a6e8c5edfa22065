"""Entries that are taken back before a round is settled, with the table's rules alone."""

import pytest

from controllers.table.device_events import DeviceRefusal
from controllers.table.state import Phase
from meters.wire.messages import ErrorDetail, Result
from tests.controllers.floors import HandTable, refusal_code

DEALT = "wager 3 progressive; wager 4 five_of_six_progressive; lockout; chips 2"


def test_each_mistake_is_taken_back_and_what_is_right_is_settled() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; retract hand 3; hand 3 2h 3h 4h")
    table.say_all("fold 3; retract fold 3; dealer As Ks Qs; retract dealer; dealer 5c 6c 7c")
    table.say_all("community As Ks; retract community; hand 4 As Ks Qs; fold 4; retract fold 4")
    table.say_all("settle")
    result = table.last(Result)
    assert [(dealt.position, dealt.cards, dealt.folded) for dealt in result.positions] == [
        (3, ["2h", "3h", "4h"], False),
        (4, ["As", "Ks", "Qs"], False),
    ]
    assert (result.dealer, result.community) == (["5c", "6c", "7c"], None)


@pytest.mark.section("649a.8(b)")
def test_the_count_is_taken_back_until_the_first_card_is_in() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; retract chips")
    assert table.state.phase is Phase.LOCKED
    table.say_all("chips 2; fold 3")
    assert not table.say_short("retract chips").ok
    table.say_all("retract fold 3; retract chips")
    assert table.state.phase is Phase.LOCKED


REFUSED = [
    ("no hand", DEALT, "retract hand 3", "nothing_there"),
    ("no fold", DEALT, "retract fold 3", "nothing_there"),
    ("no dealer's hand", DEALT, "retract dealer", "nothing_there"),
    ("no community cards", DEALT, "retract community", "nothing_there"),
    ("nobody's hand", DEALT, "retract hand", "no_position"),
    ("the count after a card", f"{DEALT}; dealer As Ks Qs", "retract chips", "cards_first"),
    ("the count twice", f"{DEALT}; retract chips", "retract chips", "chips_first"),
    (
        "a hand that stays folded",
        f"{DEALT}; hand 4 As Ks Qs; fold 4",
        "retract hand 4",
        "fold_first",
    ),
    ("before lock-out", "wager 3 progressive", "retract hand 3", "not_locked"),
]


@pytest.mark.parametrize(
    ("before", "event", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_cannot_be_taken_back_is_refused_and_changes_nothing(
    before: str, event: str, code: str
) -> None:
    table = HandTable()
    table.say_all(before)
    state = table.state
    answer = table.say_short(event)
    assert isinstance(answer.error, ErrorDetail)
    assert (answer.error.code, table.state) == (code, state)


@pytest.mark.parametrize("what", ["wagers", "lockout", "settle"])
def test_what_went_to_the_service_is_not_taken_back(what: str) -> None:
    with pytest.raises(DeviceRefusal) as caught:
        HandTable().say_short(f"retract {what}")
    assert caught.value.code == "bad_event"


def test_a_collected_hand_can_be_taken_back_while_its_fold_stays() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 3 As Ks Qs; fold 3; retract hand 3")
    assert (table.state.cards_at(3), table.state.folded) == (None, (3,))


def folded(table: HandTable, position: int, cards: str) -> str | None:
    return refusal_code(table.say("fold", position=position, cards=cards))


def dealt_at(table: HandTable, position: int) -> tuple[list[str] | None, bool]:
    result = table.last(Result)
    found = next(each for each in result.positions if each.position == position)
    return (None if found.cards is None else list(found.cards)), found.folded


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
def test_reading_t8_a_collected_hand_is_in_the_rack_though_it_was_entered() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; wager 5 progressive; lockout; chips 2; hand 5 As Ks Qs")
    assert folded(table, 5, "collected") is None
    assert table.state.cards_at(5) is None
    assert table.refusal("hand 5 Ad Kd Qd") == "cards_collected"
    table.say_all("hand 3 As Kc Qd; dealer 2c 3c 4c; settle")
    assert dealt_at(table, 5) == (None, True)


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
def test_reading_t8_a_hand_that_a_six_card_bonus_keeps_stays_with_its_cards() -> None:
    table = HandTable()
    table.say_all("wager 3 progressive; wager 5 progressive; lockout; chips 2; fold 3")
    assert folded(table, 5, "stay") == "hand_missing"
    table.say_all("hand 5 As Ks Qs")
    assert folded(table, 5, "stay") is None
    table.say_all("dealer 2c 3c 4c; settle")
    assert dealt_at(table, 5) == (["As", "Ks", "Qs"], True)


@pytest.mark.reading("T8")
def test_reading_t8_cards_that_a_wager_of_this_table_keeps_are_not_collected() -> None:
    table = HandTable()
    table.say_all(f"{DEALT}; hand 4 As Ks Qs")
    state = table.state
    assert folded(table, 4, "collected") == "cards_stay"
    assert table.state == state
    assert folded(table, 4, "stay") is None


def test_a_fold_with_collected_cards_is_taken_back_and_the_hand_entered() -> None:
    table = HandTable()
    table.say_all(DEALT)
    assert folded(table, 3, "collected") is None
    table.say_all("retract fold 3; hand 3 As Ks Qs; retract hand 3")
    assert (table.state.folded, table.state.collected, table.state.hands) == ((), (), ())
