"""What the panel shows of a table, from its state, its meters and its faults alone."""

import pytest

from controllers.events import Refusal
from controllers.panel.look import look
from controllers.panel.views import View
from meters.wire.messages import DrawMade, MeterValue, Reply
from tests.controllers.floors import HandTable

DOWN = Refusal("link_down", "the link is down: no beat for 7 seconds")
TO_DEAL = "wager 3 progressive; wager 5 five_of_six_progressive; lockout; chips 2"


def value(amount: int, state: str = "open") -> dict[str, MeterValue]:
    found = MeterValue(
        meter="progressive", amount=amount, version=1, cycle=1, state=state, at="",  # type: ignore[arg-type]
    )  # fmt: skip
    return {"progressive": found}


def view_of(table: HandTable, *, values: dict[str, MeterValue] | None = None) -> View:
    return look(table.layout, table.state, fault=table.fault, values=values or {})


def played(text: str, table_id: str = "T-1") -> HandTable:
    table = HandTable(table_id)
    if text:
        table.say_all(text)
    return table


def test_a_table_shows_its_positions_its_wagers_and_the_lights_that_are_lit() -> None:
    view = view_of(played("wager 3 progressive; wager 3 five_card_hand_bonus"))
    assert [place.position for place in view.positions] == [1, 2, 3, 4, 5, 6, 7]
    assert view.positions[2].lit == ["progressive", "five_card_hand_bonus"]
    assert [(wager.wager, wager.amount) for wager in view.wagers] == [
        ("progressive", 100),
        ("five_card_progressive", 100),
        ("five_of_six_progressive", 100),
        ("five_card_hand_bonus", 200),
        ("five_card_hand_bonus_dealer", 200),
    ]
    assert (view.shut, view.controller, view.can) == (None, "operable", ["lockout"])


@pytest.mark.parametrize("state", ["open", "pending"])
def test_duty_d1_a_meter_that_is_current_shows_its_amount(state: str) -> None:
    meter = view_of(played(""), values=value(112_233, state)).meters[0]
    assert (meter.amount, meter.pending, meter.wager) == (112_233, state == "pending", "$1 wager")


def test_duty_d1_a_meter_that_is_not_current_or_not_open_shows_none() -> None:
    assert view_of(played("")).meters[0].amount is None
    for state in ("closed", "inoperable"):
        assert view_of(played(""), values=value(112_233, state)).meters[0].amount is None
    table = played("")
    table.fault = DOWN
    assert view_of(table, values=value(112_233)).meters[0].amount is None


@pytest.mark.parametrize(
    ("code", "title", "controller"),
    [
        ("link_down", "Link down", "not reached"),
        ("inoperable", "Link inoperable", "inoperable"),
        ("closed", "Link closed", "closed"),
        ("events_lost", "Call a floorperson", "not reached"),
    ],
)
def test_duty_d14_a_fault_shuts_the_table_with_its_reason(
    code: str, title: str, controller: str
) -> None:
    table = played("wager 3 progressive")
    table.fault = Refusal(code, "the store is full")
    view = view_of(table)
    assert view.shut is not None
    assert (view.shut.title, view.controller) == (title, controller)
    assert view.shut.reason[0].isupper()
    assert "taken back" in view.shut.then


def test_what_shuts_the_table_does_not_change_with_every_second_of_silence() -> None:
    table = played("")
    table.fault = DOWN
    first = view_of(table)
    table.fault = Refusal("link_down", "the link is down: no beat for 8 seconds")
    assert view_of(table) == first


def test_a_round_under_way_can_be_entered_though_the_link_is_down() -> None:
    table = played(TO_DEAL)
    table.fault = DOWN
    view = view_of(table)
    assert view.shut is not None
    assert "enter it" in view.shut.then
    assert view.positions[2].can == ["hand", "fold"]
    waiting = look(table.layout, table.state, fault=DOWN, values={}, unanswered="settle")
    assert (waiting.can, waiting.waiting, waiting.positions[2].can) == ([], "settle", [])
    assert waiting.shut is not None
    assert "enter it" not in waiting.shut.then


@pytest.mark.section("649a.11(c)")
def test_hands_are_asked_for_as_they_are_turned_up_the_dealers_first_then_from_his_right() -> None:
    table = played("wager 1 progressive; wager 6 five_card_progressive; lockout; chips 2")
    found = []
    for event in ("dealer 2c 3c 4c", "hand 6 As Ks Qs", "fold 1", "community Ah Kh", None):
        found.append(view_of(table).next)
        if event:
            table.say_all(event)
    assert found == ["dealer", "6", "1", "community", None]
    assert "settle" in view_of(table).can
    table.say_all("retract community")
    view = view_of(table)
    assert (view.missing, "settle" in view.can) == (["the community cards"], False)


@pytest.mark.reading("T8")
def test_reading_t8_a_hand_that_stays_is_entered_before_it_is_folded() -> None:
    table = played(TO_DEAL)
    view = view_of(table)
    assert (view.positions[2].can, view.positions[4].can) == (["hand", "fold"], ["hand"])
    assert view.positions[4].stays
    table.say_all("hand 5 As Ks Qs")
    assert view_of(table).positions[4].can == ["fold", "retract hand"]
    table.say_all("fold 5")
    assert view_of(table).positions[4].can == ["retract fold"]


@pytest.mark.reading("T10")
def test_reading_t10_a_hand_without_a_progressive_wager_can_be_entered() -> None:
    table = played(TO_DEAL)
    assert view_of(table).positions[0].can == ["hand"]
    table.say_all("hand 1 As Ks Qs")
    view = view_of(table)
    assert (view.positions[0].cards, view.seen) == (("As", "Ks", "Qs"), ["As", "Ks", "Qs"])


@pytest.mark.section("649a.8(b)")
def test_the_count_shows_the_chip_wagers_by_position_without_the_electronic_ones() -> None:
    view = view_of(
        played("wager 3 progressive; wager 3 five_card_hand_bonus; wager 1 progressive; lockout")
    )
    assert (view.chips, view.can) == (2, ["chips", "void"])
    assert [(place.position, place.wagers) for place in view.lit] == [
        (1, ["Progressive"]),
        (3, ["Progressive"]),
    ]


@pytest.mark.section("649a.12(i)(3)")
def test_the_draw_is_shown_and_the_lucky_position_is_marked() -> None:
    table = HandTable()
    draw = DrawMade(magic_card="Ts", lucky_position=2)
    table.replies.append(Reply(seq=1, status="accepted", draw=draw))
    table.say_all("wager 3 progressive; lockout")
    view = view_of(table)
    assert view.draw == draw
    assert [place.position for place in view.positions if place.lucky] == [2]


def test_the_last_rounds_wagers_can_be_repeated_while_none_is_lit() -> None:
    table = played(f"{TO_DEAL}; void")
    view = view_of(table)
    assert ("repeat" in view.can, view.last) == (
        True,
        [(3, "progressive"), (5, "five_of_six_progressive")],
    )
    table.fault = DOWN
    assert "repeat" not in view_of(table).can
    table.fault = None
    table.say_all("wager 1 progressive")
    assert "repeat" not in view_of(table).can


def test_a_table_without_linked_wagers_offers_nothing() -> None:
    table = played("", "T-3")
    table.fault = DOWN
    view = view_of(table)
    assert (view.linked, view.can, view.meters, view.wagers, view.shut) == (False, [], [], [], None)
    assert view.game == "Four Card Prime"


def test_a_table_that_does_not_agree_with_the_service_may_only_be_voided() -> None:
    table = played(TO_DEAL)
    table.state = type(table.state)(
        phase=table.state.phase.LOCKED_OUT, round="R9", reason="the service holds round R9 open"
    )
    view = view_of(table)
    assert view.can == ["void"]
    assert view.shut is not None
    assert view.shut.title == "Table locked out"
