"""The panel's view of a table, from its state, its meters and its faults alone."""

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from bonus.rounds import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.panel.settlement_view import held_views, settled_view
from controllers.panel.table_view import view_table
from controllers.panel.views import LineView, Said, View
from controllers.table.device_events import DeviceRefusal
from controllers.table.open_settlements import claim_under
from controllers.table.state import ClaimDecision, Layout, Phase, SettledRound, TableState
from controllers.table.win_decisions import decide
from meters.wire.messages import ClaimOpened, MeterValue
from tests.controllers.floors import HandTable, accepted, link_and_table
from tests.controllers.test_kept_settlements import FULL, LINE

DOWN = DeviceRefusal("link_down", "the link is down: no heartbeat for 7 seconds")
LIT = "wager 3 progressive"
ALL_PROGRESSIVE = "; ".join(f"wager {each} progressive" for each in range(1, 8))
TO_DEAL = "wager 3 progressive; wager 5 five_of_six_progressive; lockout; chips 2"


def value(amount: int, state: str = "open") -> dict[str, MeterValue]:
    found = MeterValue(
        meter="progressive", amount=amount, version=1, cycle=1, state=state, at="",  # type: ignore[arg-type]
    )  # fmt: skip
    return {"progressive": found}


def view_of(
    table: HandTable, *, values: dict[str, MeterValue] | None = None, unanswered: str | None = None
) -> View:
    return view_table(
        table.layout, table.state, fault=table.fault, values=values or {}, unanswered=unanswered
    )


def played(story: str) -> HandTable:
    table = HandTable()
    table.play(story)
    return table


def at(found: object, path: str) -> object:
    """Return a part of a view: names and numbers with dots between them, `*` for each of a list.

    Sentences are in English.
    """
    name, _, rest = path.partition(".")
    if isinstance(found, Said):
        return str(found)
    if not name:
        return found
    if name == "*":
        return [at(each, rest) for each in cast("Sequence[object]", found)]
    if name.isdigit():
        return at(cast("Sequence[object]", found)[int(name)], rest)
    return at(getattr(found, name), rest)


SEVEN = [1, 2, 3, 4, 5, 6, 7]
LOOKS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "its positions, its wagers and the lights that are lit": (
        "wager 3 progressive; wager 3 five_card_hand_bonus",
        {"positions.*.position": SEVEN, "positions.2.lit": ["progressive", "five_card_hand_bonus"],
         "wagers.*.wager": ["progressive", "five_card_progressive", "five_of_six_progressive",
                            "five_card_hand_bonus", "five_card_hand_bonus_dealer"],
         "positions.2.amounts": {"progressive": 100, "five_card_hand_bonus": 200},
         "wagers.*.amounts": [(100,), (100,), (100,), (200,), (200,)],
         "shut": None, "controller": "operable", "can": ["lockout"]},
    ),
    "no amount of a meter that is not known": ("", {"meters.0.amount": None}),
    "chip wagers by position, without the electronic ones (649a.8(b))": (
        "wager 3 progressive; wager 3 five_card_hand_bonus; wager 1 progressive; lockout",
        {"chips": 2, "can": ["chips", "correct_wager", "void"], "lit.*.position": [1, 3],
         "lit.*.wagers": [["Progressive"], ["Progressive"]]},
    ),
    "a hand that stays is entered before it is folded (reading T8)": (
        TO_DEAL,
        {"positions.2.can": ["hand", "fold", "join"], "positions.4.can": ["hand", "join"],
         "positions.4.stays": True, "positions.0.can": ["hand", "join"]},
    ),
    "hands that stay are folded then": (
        f"{TO_DEAL}; hand 5 As Ks Qs; hand 3 Ad Kd Qd",
        {"positions.4.can": ["fold stay", "retract hand", "join"],
         "positions.2.can": ["fold", "fold stay", "retract hand", "join"]},
    ),
    "a hand that was folded": (
        f"{TO_DEAL}; hand 5 As Ks Qs; fold 5", {"positions.4.can": ["retract fold", "join"]},
    ),
    "a hand without a progressive wager can be entered (reading T10)": (
        f"{TO_DEAL}; hand 1 As Ks Qs",
        {"positions.0.cards": ("As", "Ks", "Qs"), "seen": ["As", "Ks", "Qs"]},
    ),
    "wagers of the last round can be repeated": (
        f"{TO_DEAL}; void",
        {"can": ["lockout", "repeat"],
         "repeat": [(3, "progressive"), (5, "five_of_six_progressive")]},
    ),
    "not while one is lit": (f"{TO_DEAL}; void; wager 1 progressive", {"can": ["lockout"]}),
    "returned wagers by position in chips and credit (649a.13, 649a.7(d)(7))": (
        "wager 5 five_card_hand_bonus; wager 3 progressive; wager 5 progressive; lockout; void",
        {"returned.reason": "The round is void: misdeal",
         "returned.others": "Ante, Play and all other wagers too.",
         "returned.positions.*.position": [3, 5], "returned.positions.*.chips": [1, 1],
         "returned.positions.*.credit_cents": [0, 200],
         "returned.positions.*.items.*": [
             ["Progressive: 1 chip"],
             ["Five Card Hand Bonus: credit $2.00 to the game account", "Progressive: 1 chip"]]},
    ),
    "boxes can be joined, the last with none (reading T9)": (
        "", {"positions.2.can": ["join"], "positions.6.can": []},
    ),
    "envy can matter: hands without a progressive wager are asked for (reading T10)": (
        "wager 3 progressive; lockout; chips 1", {"envy_unread": True},
    ),
    "also after the hands with a wager are declared to win nothing": (
        "wager 3 progressive; lockout; chips 1; no_win", {"envy_unread": True},
    ),
    "a declared hand can bring the Envy Bonus of a wager that it does not have": (
        f"{ALL_PROGRESSIVE}; wager 3 five_card_progressive; lockout; chips 8; no_win",
        {"envy_unread": True},
    ),
    "declared hands that all have the wager cannot": (
        f"{ALL_PROGRESSIVE}; lockout; chips 7; no_win", {"envy_unread": False},
    ),
    "the last round's wagers cannot be repeated while the link is down": (
        f"{TO_DEAL}; void; fault link_down", {"can": ["lockout"]},
    ),
    "a table that does not agree with the service may only be voided": (
        f"{TO_DEAL}; service knows R41", {"can": ["void"], "shut.title": "Table locked out"},
    ),
    "wagers of a refused lock-out come back with the reason, and no others": (
        ("wager 6 five_card_hand_bonus; service refuses link_closed closed for the night;"
         " lockout -> link_closed"),
        {"returned.others": None, "returned.positions.*.credit_cents": [200],
         "refusal.event": "lockout", "refusal.message": "closed for the night"},
    ),
    "what is missing by its name": (
        ("wager 1 five_card_progressive; lockout; chips 1; dealer 2c 3c 4c; hand 1 As Ks Qs;"
         " community Ah Kh; retract community"),
        {"missing.*": ["the community cards"], "next": "community",
         "can": ["void", "retract dealer"]},
    ),
    "boxes of one player are joined (reading T9)": (
        "same_player 3",
        {"positions.*.joined_next": [at == 3 for at in SEVEN], "positions.2.can": ["part"]},
    ),
    "the dealer cannot go on while as many rounds wait as are kept": (
        FULL, {"can": ["lockout", "repeat"]},
    ),
    "and can when one is done": (
        f"{FULL}; C0 validated; done R1", {"can": ["lockout", "next", "repeat"]},
    ),
    "envy of no progressive wager cannot": (
        "wager 3 five_card_hand_bonus; lockout; chips 0", {"envy_unread": False},
    ),
    "envy among progressive wagers alone cannot": (
        f"{ALL_PROGRESSIVE}; lockout; chips 7", {"envy_unread": False},
    ),
}  # fmt: skip


@pytest.mark.section("649a.8(b)")
@pytest.mark.section("649a.13")
@pytest.mark.section("649a.7(d)(7)")
@pytest.mark.reading("T8")
@pytest.mark.reading("T9")
@pytest.mark.reading("T10")
@pytest.mark.parametrize(("text", "shown"), LOOKS.values(), ids=LOOKS)
def test_a_table_shows(text: str, shown: Mapping[str, object]) -> None:
    view = view_of(played(text))
    assert {path: at(view, path) for path in shown} == shown


@pytest.mark.duty("D1", proof=True)
@pytest.mark.parametrize("state", ["open", "pending", "closed", "inoperable"])
def test_duty_d1_a_meter_that_is_current_shows_its_amount(state: str) -> None:
    meter = view_of(played(""), values=value(112_233, state)).meters[0]
    current = state in {"open", "pending"}
    assert (meter.amount, str(meter.wager)) == (112_233 if current else None, "$1 wager")
    assert meter.pending == (state == "pending")
    table = played("")
    table.fault = DOWN
    silent = view_of(table, values=value(112_233, state))
    assert silent.meters[0].amount is None
    # What shuts the table does not change with every second of silence.
    table.fault = DeviceRefusal("link_down", "the link is down: no heartbeat for 8 seconds")
    assert view_of(table, values=value(112_233, state)) == silent


@pytest.mark.parametrize(
    ("code", "text", "title", "controller", "then"),
    [
        ("link_down", LIT, "Link down", "not reached", "may be withdrawn."),
        ("inoperable", LIT, "Link inoperable", "inoperable", "may be withdrawn."),
        ("closed", LIT, "Link closed", "closed",
         "Return the lit wagers: they do not count while this lasts."),
        ("events_lost", LIT, "Call a floorperson", "not reached",
         "Return the lit wagers: they do not count while this lasts."),
        ("game_not_in_effect", LIT, "Game not in effect", "operable",
         "Return the lit wagers: they do not count while this lasts."),
        ("closed", "", "Link closed", "closed", "may be withdrawn."),
        ("link_down", TO_DEAL, "Link down", "not reached", "It is settled when the link is back."),
        ("closed", TO_DEAL, "Link closed", "closed", "It is settled as usual."),
        ("game_not_in_effect", TO_DEAL, "Game not in effect", "operable",
         "This round continues: enter it. It is settled as usual."),
    ],
)  # fmt: skip
def test_duty_d14_a_fault_shuts_the_table_with_its_reason_and_what_goes_on(
    code: str, text: str, title: str, controller: str, then: str
) -> None:
    table = played(text)
    table.fault = DeviceRefusal(code, "the store is full")
    view = view_of(table)
    assert view.shut is not None
    assert (str(view.shut.title), view.controller) == (title, controller)
    assert str(view.shut.reason)[0].isupper()
    assert str(view.shut.then).endswith(then)
    assert ("enter it" in str(view.shut.then)) == (text == TO_DEAL)
    if text == TO_DEAL:
        assert view.positions[2].can == ["hand", "fold", "join"]
    if code == "game_not_in_effect":
        assert "lockout" not in view.can, "a game that has expired begins no round"


@pytest.mark.parametrize(
    ("code", "then"),
    [
        ("link_down", "Your last step is completed when the link is back."),
        ("closed", "The service still completes your last step."),
    ],
)
def test_nothing_can_be_touched_while_an_event_waits_for_the_service(code: str, then: str) -> None:
    table = played(f"{TO_DEAL}; fault {code}")
    view = view_of(table, unanswered="settle")
    assert (view.can, view.unanswered, view.positions[2].can) == ([], "settle", [])
    assert view.shut is not None
    assert str(view.shut.then) == then


@pytest.mark.section("649a.11(c)")
@pytest.mark.section("649a.11(c)(7)")
@pytest.mark.section("649a.11(c)(8)")
@pytest.mark.reading("T13")
@pytest.mark.parametrize(
    ("wagers", "entered", "order"),
    [
        ("wager 1 progressive; wager 6 five_card_progressive", "", ["6", "community", "1"]),
        ("wager 1 five_card_hand_bonus; wager 6 progressive", "", ["6", "1", "community"]),
        ("wager 1 progressive; wager 6 five_card_hand_bonus", "", ["6", "community", "1"]),
        ("wager 1 progressive; wager 6 five_card_hand_bonus", "no_win", ["community"]),
        ("wager 1 progressive; wager 6 five_card_progressive", "fold 6", ["1", "community"]),
    ],
)
def test_hands_are_asked_for_as_they_are_turned_up_the_dealers_first_then_from_his_right(
    wagers: str, entered: str, order: list[str]
) -> None:
    """The community cards are asked for at the turn of the first wager that needs them."""
    chips = 2 - wagers.count("five_card_hand_bonus")
    table = played(f"{wagers}; lockout; chips {chips}; {entered}")
    entries = {"1": "hand 1 As Ks Qs", "6": "hand 6 Ad Kd Qd", "community": "community Ah Kh",
               "dealer": "dealer 2c 3c 4c"}  # fmt: skip
    found = []
    while (name := view_of(table).next) is not None:
        found.append(name)
        table.say_all(entries[name])
    assert found == ["dealer", *order]
    assert "settle" in view_of(table).can


def test_a_closed_link_releases_a_held_table_when_its_documents_are_done() -> None:
    table = played("")
    table.state = TableState(phase=Phase.HELD, held=("C1",))
    table.fault = DeviceRefusal("closed", "closed for the night")
    shut = view_of(table).shut
    assert shut is not None
    assert str(shut.then) == "The table is released when the win is paid or rejected."


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
        assert [line.state for line in view.waiting[0].open] == ["wait"]
    table.state = decide(table.state, "C1", "validated")
    assert [str(line.act) for line in view_of(table).waiting[0].open] == ["Pay"]


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


@pytest.mark.section("649a.11(c)")
@pytest.mark.reading("G1")
def test_the_lines_are_turn_by_turn_in_paying_order_with_the_envy_that_a_hand_brings() -> None:
    view = settled_view(LAYOUT, settled())
    assert [turn.position for turn in view.turns] == [5, 3, 1]
    assert [[each.position for each in turn.lines] for turn in view.turns] == [
        [5], [3, 5, 3], [1, 1, 5],
    ]  # fmt: skip


NOTHING, HAND_PAY, WAIT, PAY, CREDIT = "nothing", "hand_pay", "wait", "pay", "credit"
REJECTED, ASK, DONE = "rejected", "ask", "paid"
REST = " Pay and credit the rest"
# The decisions; the states of the lines; what each position gets now (paid, credited), what waits,
# is a hand pay, and is asked about; and the message to the dealer.
DECISIONS: Mapping[str, tuple[list[str], list[tuple[int, ...]], str]] = {
    "": ([NOTHING, HAND_PAY, WAIT, WAIT, WAIT, CREDIT, WAIT],
         [(5, 0, 0, 10_500, 0, 0), (3, 0, 0, 20_000, 151_234, 0), (1, 0, 2_000, 50_000, 0, 0)],
         "A win waits for a floorperson. Credit the rest."),
    "validated validated validated": (
        [NOTHING, HAND_PAY, PAY, PAY, CREDIT, CREDIT, PAY],
        [(5, 10_500, 0, 0, 0, 0), (3, 20_000, 0, 0, 151_234, 0), (1, 0, 52_000, 0, 0, 0)],
        "Pay and credit, then begin the next round."),
    "rejected rejected rejected": (
        [NOTHING, REJECTED, ASK, REJECTED, REJECTED, CREDIT, ASK],
        [(5, 0, 0, 0, 0, 10_500), (1, 0, 2_000, 0, 0, 0)],
        "A win was rejected: ask the floorperson about the Envy Bonus. Credit the rest."),
    "paid validated": (
        [NOTHING, DONE, PAY, PAY, WAIT, CREDIT, WAIT],
        [(5, 10_000, 0, 500, 0, 0), (3, 20_000, 0, 0, 0, 0), (1, 0, 2_000, 50_000, 0, 0)],
        f"A win waits for a floorperson.{REST}."),
    "rejected validated validated": (
        [NOTHING, REJECTED, ASK, PAY, CREDIT, CREDIT, PAY],
        [(5, 500, 0, 0, 0, 10_000), (3, 20_000, 0, 0, 0, 0), (1, 0, 52_000, 0, 0, 0)],
        f"A win was rejected: ask the floorperson about the Envy Bonus.{REST}."),
    "paid rejected validated": (
        [NOTHING, DONE, PAY, REJECTED, CREDIT, CREDIT, PAY],
        [(5, 10_500, 0, 0, 0, 0), (1, 0, 52_000, 0, 0, 0)],
        f"A win was rejected: do not pay it.{REST}, then begin the next round."),
    "paid validated validated": (
        [NOTHING, DONE, PAY, PAY, CREDIT, CREDIT, PAY],
        [(5, 10_500, 0, 0, 0, 0), (3, 20_000, 0, 0, 0, 0), (1, 0, 52_000, 0, 0, 0)],
        "Pay and credit, then begin the next round."),
}  # fmt: skip


@pytest.mark.section("649a.11(c)(5)(iii)")
@pytest.mark.section("649a.11(c)(7)(iii)")
@pytest.mark.section("649a.11(c)(8)(ii)")
@pytest.mark.section("649a.11(c)(9)(iii)")
@pytest.mark.parametrize("decided", DECISIONS)
def test_nothing_that_waits_for_a_floorperson_is_paid_before_the_decision(decided: str) -> None:
    found = settled(**{f"C{number}": event for number, event in enumerate(decided.split())})
    shown_states, due, told = DECISIONS[decided]
    view = settled_view(LAYOUT, found)
    assert [each.state for each in shown(found)] == shown_states
    gets = [(one.position, one.pay, one.credit, one.wait, one.hand_pay, one.ask)
            for one in view.due]  # fmt: skip
    assert gets == due
    assert " ".join(map(str, view.told)) == told
    waits = [line for line in found.lines if claim_under(found, line) and line.outcome == "paid"]
    assert [(line.position, LAYOUT.words(line.item)) for line in waits] == [
        (3, "Progressive"), (5, "Envy Bonus"), (3, "Five-Card Progressive"),
        (1, "Five Card Hand Bonus"), (5, "5 of 6 Envy Bonus"),
    ]  # fmt: skip


@pytest.mark.section("649a.11(c)(5)(iv)")
def test_a_hand_pay_is_never_paid_at_the_table() -> None:
    for decided in ({}, {"C0": "validated"}):
        hand_pay = shown(settled(**decided))[1]
        assert str(hand_pay.act) == "Do not pay: hand pay, cards stay"
        assert "649a.11(c)(5)(iv)" in str(hand_pay.why[-1])
    assert str(shown(settled(C0="paid"))[1].act) == "Paid by a floorperson"
    assert str(shown(settled(C0="rejected"))[1].act) == "Do not pay: rejected"


@pytest.mark.reading("T10")
def test_reading_t10_envy_waits_for_the_first_win_of_its_hand_or_for_none() -> None:
    """The holder did not wager on that meter: the service attaches it to the same win."""
    assert str(shown(settled())[6].why[-1]) == "The Envy Bonus is for the hand of position 1."
    alone = SettledRound(round="R1", lines=LINES, claims=CLAIMS[:2], decided=())
    assert shown(alone)[6].state == "pay", "no win of position 1 waits"


def test_lines_are_shown_in_words_and_the_bonuses_by_their_kind() -> None:
    found = shown(settled())
    assert [each.kind for each in found[2:]] == ["envy", "wager", "wager", "magic_card", "envy"]
    assert (found[1].hand, found[1].percent) == ("Straight flush", 100)
    assert str(found[1].why[0]) == "649a.12(e)(1): this hand pays 100% of the meter."
    assert str(found[5].item) == "Magic Card, dealer's hand"
    assert str(found[4].source) == "to the player's game account"


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
    assert str(held.told).startswith("Do not pay. A floorperson must validate the win.")
    (held,) = held_views(LAYOUT, decide(state, "C0", "validated"))
    assert held.validated
    assert str(held.told) == (
        "Do not pay. The win is validated. Another floorperson pays it by hand and records the"
        " payment."
    )


def test_a_claim_without_a_settlement_is_still_shown() -> None:
    (held,) = held_views(LAYOUT, TableState(phase=Phase.HELD, held=("C9",)))
    assert (held.claim, held.position) == ("C9", None)


@pytest.mark.section("649a.8(b)")
def test_a_wager_whose_chips_were_collected_at_lock_out_leaves_nothing_to_collect() -> None:
    lost = shown(settled())[0]
    assert (str(lost.act), lost.amount, lost.state) == ("Lost, nothing to collect", 0, "nothing")


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
    told = settled_view(LAYOUT, SettledRound(round="R1", lines=lines)).told
    assert " ".join(map(str, told)) == message
