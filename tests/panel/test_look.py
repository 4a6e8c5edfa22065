"""The panel's view of a table, from its state, its meters and its faults alone."""

from collections.abc import Sequence

import pytest

from bonus.settling.settlement_lines import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.panel.settlement_view import held_views, settled_view
from controllers.panel.table_view import view_table
from controllers.panel.views import LineView, View
from controllers.table.device_events import DeviceRefusal
from controllers.table.replies import decide
from controllers.table.state import ClaimDecision, Layout, Phase, SettledRound, TableState
from meters.wire.messages import ClaimOpened, ErrorDetail, MeterValue, Reply
from tests.controllers.floors import HandTable, accepted, link_and_table
from tests.controllers.test_kept_settlements import LINE, full

DOWN = DeviceRefusal("link_down", "the link is down: no heartbeat for 7 seconds")
LIT = "wager 3 progressive"
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
    ("code", "text", "title", "controller", "then"),
    [
        ("link_down", LIT, "Link down", "not reached", "may be withdrawn."),
        ("inoperable", LIT, "Link inoperable", "inoperable", "may be withdrawn."),
        ("closed", LIT, "Link closed", "closed", "may be withdrawn."),
        ("events_lost", LIT, "Call a floorperson", "not reached", "may be withdrawn."),
        ("game_not_in_effect", LIT, "Game not in effect", "operable", "may be withdrawn."),
        ("link_down", TO_DEAL, "Link down", "not reached", "It is settled when the link is back."),
        ("closed", TO_DEAL, "Link closed", "closed", "It is settled now."),
        ("game_not_in_effect", TO_DEAL, "Game not in effect", "operable",
         "This round continues: enter it. It is settled now."),
    ],
)  # fmt: skip
def test_duty_d14_a_fault_shuts_the_table_with_its_reason_and_what_goes_on(
    code: str, text: str, title: str, controller: str, then: str
) -> None:
    table = played(text)
    table.fault = DeviceRefusal(code, "the store is full")
    view = view_of(table)
    assert view.shut is not None
    assert (view.shut.title, view.controller) == (title, controller)
    assert view.shut.reason[0].isupper()
    assert view.shut.then.endswith(then)
    assert ("enter it" in view.shut.then) == (text == TO_DEAL)
    if text == TO_DEAL:
        assert view.positions[2].can == ["hand", "fold", "join"]
    if code == "game_not_in_effect":
        assert "lockout" not in view.can, "a game that has expired begins no round"


def test_nothing_can_be_touched_while_an_event_waits_for_the_service() -> None:
    table = played(TO_DEAL)
    view = view_table(table.layout, table.state, fault=DOWN, values={}, unanswered="settle")
    assert (view.can, view.unanswered, view.positions[2].can) == ([], "settle", [])
    assert view.shut is not None
    assert "enter it" not in view.shut.then


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


def test_a_table_that_does_not_agree_with_the_service_may_only_be_voided() -> None:
    table = played(TO_DEAL)
    table.state = type(table.state)(
        phase=table.state.phase.LOCKED_OUT, round="R9", reason="the service holds round R9 open"
    )
    view = view_of(table)
    assert view.can == ["void"]
    assert view.shut is not None
    assert view.shut.title == "Table locked out"


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


LAYOUT = Layout.of(*link_and_table())


def line(
    position: int,
    item: str,
    paid: int,
    source: PaidFrom | None = PaidFrom.TABLE_INVENTORY,
    *,
    envy_of: int | None = None,
    percent: int | None = None,
    rule: str = "649a.12(e)(1)",
) -> Line:
    outcome = Outcome.PAID if paid else Outcome.COLLECTED
    return Line(
        position=position, item=item, outcome=outcome, hand="straight_flush", wagered=100,
        paid=paid, returned=0, paid_from=source if paid else None, percent=percent, rule=rule,
        envy_of=envy_of, on="dealer" if item == "magic_card" else None,
    )  # fmt: skip


LINES = (
    line(5, "progressive", 0),
    line(3, "progressive", 151_234, PaidFrom.HAND_PAY, percent=100),
    line(5, "progressive_envy", 10_000, envy_of=3),
    line(3, "five_card_progressive", 20_000),
    line(1, "five_card_hand_bonus", 50_000, PaidFrom.GAME_ACCOUNT),
    line(1, "magic_card", 2_000, PaidFrom.GAME_ACCOUNT),
    line(5, "five_of_six_envy", 500, envy_of=1),
)
WON = (
    (3, "progressive", 151_234), (3, "five_card_progressive", 20_000),
    (1, "five_card_hand_bonus", 50_000),
)  # fmt: skip
CLAIMS = tuple(
    ClaimOpened(claim=f"C{number}", position=position, item=item, amount=amount)
    for number, (position, item, amount) in enumerate(WON)
)


def settled(**decided: str) -> SettledRound:
    return SettledRound(
        round="R1",
        lines=LINES,
        claims=CLAIMS,
        decided=tuple(ClaimDecision(claim, event) for claim, event in decided.items()),  # type: ignore[arg-type]
    )


def shown(found: SettledRound) -> Sequence[LineView]:
    return [each for turn in settled_view(LAYOUT, found).turns for each in turn.lines]


def states(found: SettledRound) -> list[str]:
    return [each.state for each in shown(found)]


@pytest.mark.section("649a.11(c)")
@pytest.mark.reading("G1")
def test_the_lines_are_turn_by_turn_in_paying_order_with_the_envy_that_a_hand_brings() -> None:
    view = settled_view(LAYOUT, settled())
    assert [turn.position for turn in view.turns] == [5, 3, 1]
    assert [[each.position for each in turn.lines] for turn in view.turns] == [
        [5], [3, 5, 3], [1, 1, 5],
    ]  # fmt: skip


@pytest.mark.section("649a.11(c)(5)(iii)")
@pytest.mark.section("649a.11(c)(7)(iii)")
@pytest.mark.section("649a.11(c)(8)(ii)")
@pytest.mark.section("649a.11(c)(9)(iii)")
def test_nothing_that_waits_for_a_floorperson_is_paid_before_the_decision() -> None:
    assert states(settled()) == ["nothing", "hand_pay", "wait", "wait", "wait", "credit", "wait"]
    validated = settled(C0="validated", C1="validated", C2="validated")
    assert states(validated) == ["nothing", "hand_pay", "pay", "pay", "credit", "credit", "pay"]


@pytest.mark.section("649a.11(c)(5)(iv)")
def test_a_hand_pay_is_never_paid_at_the_table() -> None:
    for decided in ({}, {"C0": "validated"}):
        hand_pay = shown(settled(**decided))[1]
        assert hand_pay.act == "Do not pay: hand pay, cards stay"
        assert "649a.11(c)(5)(iv)" in hand_pay.why[-1]
    assert shown(settled(C0="paid"))[1].act == "Paid by a floorperson"


def test_what_is_rejected_is_not_paid_and_the_envy_under_it_is_asked_about() -> None:
    found = shown(settled(C0="rejected", C1="rejected", C2="rejected"))
    assert [each.state for each in found] == [
        "nothing", "rejected", "ask", "rejected", "rejected", "credit", "ask",
    ]  # fmt: skip
    assert found[1].act == "Do not pay: rejected"


@pytest.mark.reading("T10")
def test_reading_t10_envy_waits_for_the_first_win_of_its_hand_or_for_none() -> None:
    """The holder did not wager on that meter: the service attaches it to the same win."""
    assert shown(settled())[6].state == "wait"
    assert shown(settled(C2="validated"))[6].state == "pay"
    assert shown(settled())[6].why[-1] == "The Envy Bonus is for the hand of position 1."
    alone = SettledRound(round="R1", lines=LINES, claims=CLAIMS[:2], decided=())
    assert shown(alone)[6].state == "pay", "no win of position 1 waits"


def test_each_position_shows_what_it_gets_now_and_what_waits() -> None:
    due = settled_view(LAYOUT, settled()).due
    assert [(each.position, each.pay, each.credit, each.wait, each.hand_pay) for each in due] == [
        (5, 0, 0, 10_500, 0),
        (3, 0, 0, 20_000, 151_234),
        (1, 0, 2_000, 50_000, 0),
    ]
    over = settled_view(LAYOUT, settled(C0="paid", C1="rejected", C2="validated")).due
    assert [(each.position, each.pay, each.credit, each.wait, each.hand_pay) for each in over] == [
        (5, 10_500, 0, 0, 0),
        (1, 0, 52_000, 0, 0),
    ]


def test_lines_are_shown_in_words_and_the_bonuses_by_their_kind() -> None:
    found = shown(settled())
    assert [each.kind for each in found[2:]] == ["envy", "wager", "wager", "magic_card", "envy"]
    assert (found[1].hand, found[1].percent) == ("Straight flush", 100)
    assert found[1].why[0] == "649a.12(e)(1): this hand pays 100% of the meter."
    assert found[5].item == "Magic Card, dealer's hand"
    assert found[4].source == "to the player's game account"


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.section("649a.11(c)(7)(iv)")
@pytest.mark.section("649a.11(c)(8)(iii)")
@pytest.mark.section("649a.11(c)(9)(iv)")
@pytest.mark.parametrize(
    ("item", "rule"),
    [
        ("progressive", "649a.11(c)(5)(iv)"),
        ("five_card_progressive", "649a.11(c)(7)(iv)"),
        ("five_card_hand_bonus_dealer", "649a.11(c)(8)(iii)"),
        ("five_of_six_progressive", "649a.11(c)(9)(iv)"),
    ],
)
def test_what_holds_the_table_is_shown_with_its_subsection(item: str, rule: str) -> None:
    claim = ClaimOpened(claim="C0", position=3, item=item, amount=5000)
    kept = SettledRound(round="R1", lines=(), claims=(claim,))
    state = TableState(phase=Phase.HELD, held=("C0",), settled=kept)
    (held,) = held_views(LAYOUT, state)
    assert (held.rule, held.validated, held.position, held.amount) == (rule, False, 3, 5000)
    assert held.told.startswith("Do not pay. A floorperson must validate the win.")
    validated = SettledRound(
        round="R1", lines=(), claims=(claim,),
        decided=(ClaimDecision("C0", "validated"),),
    )  # fmt: skip
    (held,) = held_views(LAYOUT, TableState(phase=Phase.HELD, held=("C0",), settled=validated))
    assert held.validated
    assert held.told == (
        "Do not pay. The win is validated. Another floorperson pays it by hand and records the"
        " payment."
    )


def test_a_claim_that_only_an_older_version_knew_is_still_shown() -> None:
    (held,) = held_views(LAYOUT, TableState(phase=Phase.HELD, held=("C9",)))
    assert (held.claim, held.position) == ("C9", None)


@pytest.mark.section("649a.8(b)")
def test_a_wager_whose_chips_were_collected_at_lock_out_leaves_nothing_to_collect() -> None:
    lost = shown(settled())[0]
    assert (lost.act, lost.amount, lost.state) == ("Lost, nothing to collect", 0, "nothing")


@pytest.mark.section("649a.11(c)(5)(iii)")
def test_the_lines_that_a_floorperson_decides_about_are_distinguished() -> None:
    for decided in ({}, {"C0": "validated", "C1": "rejected", "C2": "paid"}):
        view = settled_view(LAYOUT, settled(**decided))
        assert [(each.position, each.item) for each in view.claimed] == [
            (3, "Progressive"),
            (5, "Envy Bonus"),
            (3, "Five-Card Progressive"),
            (1, "Five Card Hand Bonus"),
            (5, "5 of 6 Envy Bonus"),
        ]


REST = " Pay and credit the rest"


@pytest.mark.parametrize(
    ("decided", "message"),
    [
        ("paid validated", f"A win waits for a floorperson.{REST}."),
        ("rejected validated validated",
         f"A win was rejected: ask the floorperson about the Envy Bonus.{REST}."),
        ("paid rejected validated",
         f"A win was rejected: do not pay it.{REST}, then begin the next round."),
        ("paid validated validated", "Pay and credit, then begin the next round."),
    ],
)  # fmt: skip
def test_the_dealers_message_agrees_with_what_each_position_gets(
    decided: str, message: str
) -> None:
    events = {f"C{number}": event for number, event in enumerate(decided.split())}
    view = settled_view(LAYOUT, settled(**events))
    assert view.told == message
    asked = {each.position: each.ask for each in view.due if each.ask}
    assert asked == ({5: 10_000} if "ask the floorperson" in message else {})
    assert any(each.wait for each in view.due) == ("waits" in message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "Nothing is due. Begin the next round."),
        (LINES[:1], "Nothing is due. Begin the next round."),
        (LINES[3:4], "Pay, then begin the next round."),
        (LINES[5:6], "Credit, then begin the next round."),
    ],
)
def test_the_dealers_message_names_only_what_is_to_be_done(
    lines: tuple[Line, ...], message: str
) -> None:
    assert settled_view(LAYOUT, SettledRound(round="R1", lines=lines)).told == message
