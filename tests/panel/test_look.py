"""The panel's view of a table, from its state, its meters and its faults alone."""

import pytest

from controllers.panel.table_view import view_table
from controllers.panel.views import View
from controllers.table.device_events import DeviceRefusal
from controllers.table.replies import decide
from controllers.table.state import Phase, TableState
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, MeterValue, Reply
from tests.controllers.floors import HandTable, accepted
from tests.controllers.test_kept_settlements import LINE, full

DOWN = DeviceRefusal("link_down", "the link is down: no heartbeat for 7 seconds")
ALL_PROGRESSIVE = "; ".join(f"wager {each} progressive" for each in range(1, 8))
TO_DEAL = "wager 3 progressive; wager 5 five_of_six_progressive; lockout; chips 2"


def value(amount: int, state: str = "open") -> dict[str, MeterValue]:
    found = MeterValue(
        meter="progressive", amount=amount, version=1, cycle=1, state=state, at="",  # type: ignore[arg-type]
    )  # fmt: skip
    return {"progressive": found}


def view_of(table: HandTable, *, values: dict[str, MeterValue] | None = None) -> View:
    return view_table(table.layout, table.state, fault=table.fault, values=values or {})


def played(text: str, table_id: str = "T-1") -> HandTable:
    table = HandTable(table_id)
    if text:
        table.say_all(text)
    return table


def acts(view: View, position: int) -> list[str]:
    return [act for act in view.positions[position - 1].can if act not in {"join", "part"}]


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


@pytest.mark.duty("D1")
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
    silent = view_of(table, values=value(112_233))
    assert silent.meters[0].amount is None
    # What shuts the table does not change with every second of silence.
    table.fault = DeviceRefusal("link_down", "the link is down: no heartbeat for 8 seconds")
    assert view_of(table, values=value(112_233)) == silent


@pytest.mark.parametrize(
    ("code", "title", "controller"),
    [
        ("link_down", "Link down", "not reached"),
        ("inoperable", "Link inoperable", "inoperable"),
        ("closed", "Link closed", "closed"),
        ("events_lost", "Call a floorperson", "not reached"),
        ("game_not_in_effect", "Game not in effect", "operable"),
    ],
)
def test_duty_d14_a_fault_shuts_the_table_with_its_reason(
    code: str, title: str, controller: str
) -> None:
    table = played("wager 3 progressive")
    table.fault = DeviceRefusal(code, "the store is full")
    view = view_of(table)
    assert view.shut is not None
    assert (view.shut.title, view.controller) == (title, controller)
    assert view.shut.reason[0].isupper()
    assert "may be withdrawn" in view.shut.then


def test_a_round_under_way_can_be_entered_though_the_link_is_down() -> None:
    table = played(TO_DEAL)
    table.fault = DOWN
    view = view_of(table)
    assert view.shut is not None
    assert "enter it" in view.shut.then
    assert view.positions[2].can == ["hand", "fold", "join"]
    waiting = view_table(table.layout, table.state, fault=DOWN, values={}, unanswered="settle")
    assert (waiting.can, waiting.unanswered, waiting.positions[2].can) == ([], "settle", [])
    assert waiting.shut is not None
    assert "enter it" not in waiting.shut.then


def test_a_game_that_has_expired_begins_no_round_and_its_open_round_is_settled_now() -> None:
    expired = DeviceRefusal("game_not_in_effect", "Stud (stud) cannot be played after 2026-11-23")
    lit = played("wager 3 progressive")
    assert "lockout" in view_of(lit).can
    lit.fault = expired
    assert "lockout" not in view_of(lit).can
    table = played(TO_DEAL)
    table.fault = expired
    view = view_of(table)
    assert view.shut is not None
    assert view.shut.then == "This round continues: enter it. It is settled now."
    assert view.positions[2].can == ["hand", "fold", "join"]


@pytest.mark.section("649a.11(c)")
def test_hands_are_asked_for_as_they_are_turned_up_the_dealers_first_then_from_his_right() -> None:
    table = played("wager 1 progressive; wager 6 five_card_progressive; lockout; chips 2")
    found = []
    for event in ("dealer 2c 3c 4c", "hand 6 As Ks Qs", "community Ah Kh", "fold 1", None):
        found.append(view_of(table).next)
        if event:
            table.say_all(event)
    assert found == ["dealer", "6", "community", "1", None]
    assert "settle" in view_of(table).can
    table.say_all("retract community")
    view = view_of(table)
    assert (view.missing, "settle" in view.can) == (["the community cards"], False)


@pytest.mark.section("649a.11(c)(7)")
@pytest.mark.section("649a.11(c)(8)")
@pytest.mark.reading("T13")
@pytest.mark.parametrize(
    ("wagers", "entered", "order"),
    [
        ("wager 1 five_card_hand_bonus; wager 6 progressive", "", ["6", "1", "community"]),
        ("wager 1 progressive; wager 6 five_card_hand_bonus", "", ["6", "community", "1"]),
        ("wager 1 progressive; wager 6 five_card_hand_bonus", "no_win", ["community"]),
        ("wager 1 progressive; wager 6 five_card_progressive", "fold 6", ["1", "community"]),
    ],
)
def test_the_community_cards_are_asked_for_at_the_turn_of_the_first_wager_that_needs_them(
    wagers: str, entered: str, order: list[str]
) -> None:
    chips = 2 - wagers.count("five_card_hand_bonus")
    table = played(f"{wagers}; lockout; chips {chips}; dealer 2c 3c 4c")
    if entered:
        table.say_all(entered)
    entries = {"1": "hand 1 As Ks Qs", "6": "hand 6 Ad Kd Qd", "community": "community Ah Kh"}
    found = []
    while (name := view_of(table).next) is not None:
        found.append(name)
        table.say_all(entries[name])
    assert found == order


@pytest.mark.reading("T10")
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("wager 3 progressive; lockout; chips 1", True),
        ("wager 3 progressive; lockout; chips 1; no_win", False),
        ("wager 3 five_card_hand_bonus; lockout; chips 0", False),
        (f"{ALL_PROGRESSIVE}; lockout; chips 7", False),
    ],
)
def test_hands_without_a_progressive_wager_are_asked_for_only_if_they_can_matter(
    text: str, *, asked: bool
) -> None:
    assert view_of(played(text)).envy_unread is asked


@pytest.mark.reading("T8")
def test_reading_t8_a_hand_that_stays_is_entered_before_it_is_folded() -> None:
    table = played(TO_DEAL)
    view = view_of(table)
    assert (acts(view, 3), acts(view, 5)) == (["hand", "fold"], ["hand"])
    assert view.positions[4].stays
    table.say_all("hand 5 As Ks Qs; hand 3 Ad Kd Qd")
    assert acts(view_of(table), 5) == ["fold stay", "retract hand"]
    assert acts(view_of(table), 3) == ["fold", "fold stay", "retract hand"]
    table.say_all("fold 5")
    assert acts(view_of(table), 5) == ["retract fold"]


@pytest.mark.reading("T10")
def test_reading_t10_a_hand_without_a_progressive_wager_can_be_entered() -> None:
    table = played(TO_DEAL)
    assert acts(view_of(table), 1) == ["hand"]
    table.say_all("hand 1 As Ks Qs")
    view = view_of(table)
    assert (view.positions[0].cards, view.seen) == (("As", "Ks", "Qs"), ["As", "Ks", "Qs"])


@pytest.mark.section("649a.8(b)")
def test_the_count_shows_the_chip_wagers_by_position_without_the_electronic_ones() -> None:
    view = view_of(
        played("wager 3 progressive; wager 3 five_card_hand_bonus; wager 1 progressive; lockout")
    )
    assert (view.chips, view.can) == (2, ["chips", "correct_wager", "void"])
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
    assert ("repeat" in view.can, view.repeat) == (
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


@pytest.mark.parametrize(
    ("text", "closed", "down"),
    [
        (TO_DEAL, "It is settled now.", "It is settled when the link is back."),
        ("wager 3 progressive", "may be withdrawn.", "may be withdrawn."),
    ],
)
def test_a_closed_link_goes_on_with_the_round_and_only_one_that_is_down_waits(
    text: str, closed: str, down: str
) -> None:
    table = played(text)
    for fault, then in ((DeviceRefusal("closed", "closed for the night"), closed), (DOWN, down)):
        table.fault = fault
        shut = view_of(table).shut
        assert shut is not None
        assert shut.then.endswith(then)


def test_a_closed_link_releases_a_held_table_when_its_documents_are_done() -> None:
    table = played("")
    table.state = TableState(phase=Phase.HELD, held=("C1",))
    table.fault = DeviceRefusal("closed", "closed for the night")
    shut = view_of(table).shut
    assert shut is not None
    assert shut.then == "The table is released when the payment is recorded."
    waiting = view_table(
        table.layout, table.state, fault=table.fault, values={}, unanswered="settle"
    )
    assert waiting.shut is not None
    assert waiting.shut.then == "The event that was sent is completed."


@pytest.mark.section("649a.13")
@pytest.mark.section("649a.7(d)(7)")
def test_returned_wagers_are_shown_by_position_in_chips_and_credit() -> None:
    lit = "wager 5 five_card_hand_bonus; wager 3 progressive; wager 5 progressive"
    view = view_of(played(f"{lit}; lockout; void"))
    assert view.returned is not None
    assert (view.returned.reason, view.returned.others) == (
        "The round is void: misdeal",
        "Ante, Play and all other wagers too.",
    )
    assert [
        (each.position, each.chips, each.credit_cents, each.items)
        for each in view.returned.positions
    ] == [
        (3, 1, 0, ["Progressive: 1 chip"]),
        (5, 1, 200, ["Five Card Hand Bonus: credit $2.00 to the game account",
                     "Progressive: 1 chip"]),
    ]  # fmt: skip


def test_a_refused_lock_out_shows_returned_wagers_with_the_reason_and_no_others() -> None:
    table = played("wager 6 five_card_hand_bonus")
    error = ErrorDetail(code="link_closed", message="closed for the night")
    table.replies.append(Reply(seq=1, status="refused", error=error))
    assert not table.say_short("lockout").ok
    view = view_of(table)
    assert view.returned is not None
    assert view.refusal is not None
    assert (view.returned.others, view.returned.positions[0].credit_cents) == ("", 200)
    assert (view.refusal.event, view.refusal.message) == ("lockout", "closed for the night")


@pytest.mark.section("649a.8(b)")
def test_every_tablet_shows_a_wrong_count() -> None:
    table = played("wager 3 progressive; lockout")
    assert view_of(table).differs is None
    assert not table.say_short("chips 4").ok
    differs = view_of(table).differs
    assert differs is not None
    assert differs.counted == 4


@pytest.mark.section("649a.11(c)(5)(iii)")
def test_rounds_with_a_win_that_waits_are_shown_in_every_phase_and_the_last_settlement() -> None:
    table = played("wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c")
    claim = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)
    table.replies.append(accepted(2, (LINE,), (claim,)))
    table.say_all("settle")
    view = view_of(table)
    assert (view.waiting, view.last, "next" in view.can) == ([], None, True)
    table.say_all("next")
    assert view_of(table).last == view.settled
    for event in ("wager 1 progressive", "lockout", "chips 1", "fold 1; dealer 2c 3c 4c; settle"):
        table.say_all(event)
        view = view_of(table)
        assert [each.round for each in view.waiting] == ["R1"]
        assert [line.state for line in view.waiting[0].claimed] == ["wait"]
    table.state = decide(table.state, "C1", "validated")
    assert [line.act for line in view_of(table).waiting[0].claimed] == ["Pay"]


@pytest.mark.reading("T9")
def test_boxes_of_one_player_are_shown_joined() -> None:
    table = played("")
    assert view_of(table).positions[2].can == ["join"]
    assert view_of(table).positions[6].can == [], "there is no next one"
    table.say("same_player", position=3, same=True)
    view = view_of(table)
    assert [place.position for place in view.positions if place.joined_next] == [3]
    assert view.positions[2].can == ["part"]


def test_the_dealer_cannot_go_on_while_as_many_rounds_wait_as_are_kept() -> None:
    table = full()
    assert "next" not in view_of(table).can
    table.state = decide(table.state, "C0", "validated")
    table.say_all("done R1")
    assert "next" in view_of(table).can
