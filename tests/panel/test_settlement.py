"""The settlement as the dealer pays it, line by line and claim by claim."""

from collections.abc import Sequence

import pytest

from bonus.settling.settlement_lines import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.panel.settlement_view import held_views, settled_view
from controllers.panel.views import LineView
from controllers.table.state import ClaimDecision, Layout, Phase, SettledRound, TableState
from meters.wire.messages import ClaimOpened
from tests.controllers.floors import link_and_table

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
