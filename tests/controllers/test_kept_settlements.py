"""Replies, hellos and decisions of the service at a table, and data that outlasts a round."""

import pytest

from controllers.table.open_settlements import WAITING_MAX
from controllers.table.replies import has_lost_events, reconcile
from controllers.table.state import Phase, TableState
from controllers.table.win_decisions import decide
from meters.wire.messages import HelloReply
from tests.controllers.floors import HandTable, paid_lines

TO_SETTLE = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c"
((LINE,), _) = paid_lines("3 progressive table_inventory")


def win(claim: str = "", paid_from: str = "table_inventory") -> str:
    """Return the story of a round with a win, which waits for a floorperson if it has a claim."""
    return f"{TO_SETTLE}; service pays 3 progressive {paid_from} {claim}; settle"


HELD = {
    "until every document of its hand pays is done": f"""
        {TO_SETTLE}; service pays 3 progressive hand_pay C0 + 3 five_card_progressive \
table_inventory C1 + 2 progressive table_inventory C2 + 1 five_card_hand_bonus hand_pay C3; settle
        phase: held; held: C0, C3; C1 paid; phase: held; held: C0, C3; C3 validated; held: C0, C3
        C3 paid; phase: held; held: C0; C0 rejected; phase: open; held: none
    """,
    "and takes no event": f"""
        {win("C1", "hand_pay")}; wager 1 progressive -> betting_locked; lockout -> betting_locked
        chips 0 -> round_over; settle -> round_over; void -> round_over; held: C1
    """,
    "but not for a win from the table inventory": f"{win('C1')}; phase: open; wager 1 progressive",
    "but not for a win from the game account": f"""
        {win("C1", "game_account")}; phase: open; wager 1 progressive
    """,
    "by the service's refusal, if its outbox was lost, and goes on by itself": """
        wager 3 progressive; wager 5 five_card_hand_bonus; service holds C1 C2; lockout -> held
        answer held: C1, C2; phase: held; round: none; lit: none
        returned: 3 progressive, 5 five_card_hand_bonus; C1 validated
        held view: C1 3 Progressive 5000 validated, C2 3 Progressive 5000
        C1 paid; phase: held; held: C2; C2 rejected; phase: open; held: none; held view: none
        repeat; lockout; chips 1; lit: 3 progressive, 5 five_card_hand_bonus
    """,
    "while another win waits, which stays even while the table is locked out": f"""
        {win("C1")}; next; {win("C2", "hand_pay")}; phase: held; waiting: R1 1; C1 validated
        phase: held; waiting: R1 0; C2 paid; service knows R41; phase: locked_out; waiting: R1 0
        void; waiting: R1 0
    """,
}


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("story", HELD.values(), ids=HELD)
def test_a_hand_pay_holds_the_table(story: str) -> None:
    HandTable().play(story)


def test_a_table_held_without_a_settlement_is_released() -> None:
    held = TableState(phase=Phase.HELD, held=("C1",))
    assert decide(held, "C1", "paid") == TableState()


@pytest.mark.parametrize(
    ("service", "last_seq", "pending", "lost"),
    [
        (0, 0, False, False),
        (41, 41, False, False),
        (40, 41, True, False),
        (41, 41, True, False),
        (40, 41, False, True),
        (39, 41, True, True),
        (0, 1, False, True),
        (41, 0, False, False),
        (42, 41, True, False),
    ],
)
def test_the_service_and_the_outbox_compared(
    service: int, last_seq: int, *, pending: bool, lost: bool
) -> None:
    hello = HelloReply(last_seq=service, open_round=None)
    assert has_lost_events(hello, last_seq=last_seq, pending=pending) is lost


@pytest.mark.parametrize(
    ("story", "known"), [(TO_SETTLE, "R1"), ("", None), ("lockout; chips 0; hand 1 As Ks Qs", None)]
)
def test_a_round_that_both_know_or_that_is_nothing_to_the_service_goes_on(
    story: str, known: str | None
) -> None:
    table = HandTable()
    table.play(story)
    assert reconcile(table.state, known) == table.state


LOCKED_OUT = {
    "a round that only the service knows": """
        service knows R41; phase: locked_out; wager 1 progressive -> locked_out
        lockout -> locked_out; chips 0 -> locked_out; settle -> locked_out
        service knows R41; phase: locked_out; round: R41; void; sent: Void R41 1; phase: open
        returned: none; returned by a void: yes
    """,
    "a round that the service no longer knows": f"""
        {TO_SETTLE}; service knows none; phase: locked_out; service knows none; phase: locked_out
        settle -> locked_out; void; sent: Wagers R1 1; phase: open; why: none; wager 1 progressive
    """,
    "a round that is then closed elsewhere, which opens the table": """
        service knows R41; service knows none; phase: open; round: none; why: none
    """,
    "another round that the service knows": "service knows R41; service knows R43; round: R43",
}


@pytest.mark.parametrize("story", LOCKED_OUT.values(), ids=LOCKED_OUT)
def test_a_table_and_a_service_that_do_not_agree_on_the_round(story: str) -> None:
    HandTable().play(story)


def test_a_void_of_a_round_that_the_table_does_not_know_says_so() -> None:
    table = HandTable()
    table.play("service knows R41")
    assert "R41" in table.state.reason
    table.play("void")
    assert table.state == TableState(returned=table.state.returned)
    assert table.state.returned is not None
    said = table.state.returned.reason
    assert said.startswith("The round is void: misdeal. The table does not know")


@pytest.mark.section("649a.12(i)(3)")
def test_the_answers_carry_the_draw_the_lines_and_the_claims() -> None:
    table = HandTable()
    table.play("service draws Ts dealer; wager 3 progressive; lockout")
    assert table.answer.draw == table.state.draw
    table.play("draw: Ts; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c")
    lines, claims = paid_lines("3 progressive table_inventory C1")
    table.play("service pays 3 progressive table_inventory C1; settle")
    assert (table.answer.lines, table.answer.claims) == (lines, claims)
    kept = table.state.settled
    assert kept is not None
    assert (kept.round, kept.hands[0].cards, kept.dealer) == (
        "R1", ("As", "Ks", "Qs"), ("2c", "3c", "4c"),
    )  # fmt: skip


@pytest.mark.parametrize("begin", ["lockout", "next"])
def test_the_settlement_stays_until_the_next_round_begins(begin: str) -> None:
    HandTable().play(f"""
        {win()}; settled: R1; last wagers: 3 progressive; wager 1 progressive; settled: R1
        lines: pay; {begin}; settled: none; last settled: R1; last lines: done
    """)


@pytest.mark.section("649a.11(c)(5)(iii)")
def test_a_decision_that_comes_late_or_twice_or_for_another_changes_nothing() -> None:
    HandTable().play(f"""
        C1 paid -> same; {win("C1", "hand_pay")}; C1 validated; C1 paid; decided: C1 paid
        C1 validated -> same; C1 rejected -> same; C2 paid -> same
    """)


@pytest.mark.section("649a.11(c)(5)(iii)")
@pytest.mark.parametrize("go_on", ["next", "lockout; void"])
@pytest.mark.parametrize("decision", ["validated", "rejected"])
def test_a_win_that_waits_is_kept_through_later_rounds_until_it_is_decided_and_done(
    go_on: str, decision: str
) -> None:
    HandTable().play(f"""
        {win("C1")}; {go_on}; {win()}; next; waiting: R1 1; done R1 -> claims_wait
        wager 1 progressive; lockout; chips 1; C1 {decision}; waiting: R1 0
        decided: C1 {decision}; claims wait: no; fold 1; dealer 2c 3c 4c; settle; done R1
        waiting: none; done R1 -> nothing_there
    """)


TWO = f"""
    {TO_SETTLE}; service pays 3 progressive table_inventory C1 + 1 five_card_progressive \
game_account C2 + 5 five_card_hand_bonus game_account; settle
"""
FULL = "; next; ".join(win(f"C{number}") for number in range(WAITING_MAX)) + f"; next; {win('C9')}"
STORIES = {
    "what was decided before the dealer went on does not wait": f"""
        {win("C1")}; C1 validated; next; waiting: none; last settled: R1
    """,
    "a line that could be paid at the next touch is done": f"""
        {TWO}; C1 validated; next; open: R1 1; C2 validated; done R1; open: none
    """,
    "a line that could be paid at lock-out is done": f"""
        {TWO}; C1 validated; lockout; open: R1 1; C2 validated; done R1; open: none
    """,
    "a line that was decided just before the touch is still to be paid": f"""
        {TWO}; due: 2; C1 validated; C2 rejected; next done=[2]; open: R1 0 1
    """,
    "a line that changed just before the touch is still to be paid": f"""
        {win("C1")}; C1 validated; next round=R1 done={{"0":"ask"}}; open: R1 0
        done R1 lines={{"0":"ask"}} -> changed; done R1 lines={{"0":"rejected"}} -> changed
        done R1 lines={{"0":""}} -> changed; done R1 lines={{"0":"pay"}}; open: none
    """,
    "lines that are done together are done as they were seen or not at all": f"""
        {TWO}; next; C1 validated; C2 validated
        done R1 lines={{"0":"pay","1":"wait"}} -> changed
        done R1 lines={{"0":"pay","2":"credit"}} -> nothing_there
        open: R1 0 1; done R1 lines={{"0":"pay","1":"credit"}}; open: none
    """,
    "lines are done one by one while another win waits": f"""
        {TWO}; next; open: R1 0 1; C1 validated; done R1 line=1 -> claims_wait; done R1 line=0
        open: R1 1; done R1 line=0 -> nothing_there; done R1 line=2 -> nothing_there
        done R1 line=-1 -> nothing_there; done R1 line=99 -> nothing_there
        last lines: done, wait, done; C2 rejected; done R1 line=1; open: none
    """,
    "the table waits where the wins of too many rounds do, until one is acknowledged": f"""
        {FULL}; next -> claims_wait; lockout -> claims_wait; settled: R9; C0 validated
        next -> claims_wait; done R1; next
        waiting: R2 1, R3 1, R4 1, R5 1, R6 1, R7 1, R8 1, R9 1
    """,
    "a table without a button for done is not stopped by rounds that are decided": f"""
        {FULL}; C1 rejected; lockout; waiting: R1 1, R3 1, R4 1, R5 1, R6 1, R7 1, R8 1, R9 1
    """,
    "a decision on the last settlement is shown too": f"""
        {win("C1")}; next; C1 validated; last lines: pay
    """,
    "nothing is done of a round that is not there": "done R1 -> nothing_there",
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_lines_wait_until_they_are_done(story: str) -> None:
    HandTable().play(story)


WAGERS = "wager 5 five_card_hand_bonus; wager 3 progressive"
BOTH = "returned: 5 five_card_hand_bonus, 3 progressive"
VOID = f"{WAGERS}; lockout; chips 1; void; next; {BOTH}; returned by a void: yes; "
RETURNED = {
    "until the next wager": f"""
        {VOID}; returned because: The round is void: misdeal; wager 1 progressive; returned: none
    """,
    "until the next lock-out": f"{VOID}; lockout; returned: none",
    "through a round without them": f"""
        {WAGERS}; service refuses store_failed; lockout -> store_failed; chips 0; dealer 2c 3c 4c
        settle; next; {BOTH}
    """,
    "after a refusal, and after a void too": f"""
        {WAGERS}; service refuses link_closed closed for the night; lockout -> link_closed; {BOTH}
        returned because: The service refused the wagers: closed for the night
        returned by a void: no; chips 1; void; {BOTH}; returned by a void: yes
        returned because: The round is void: misdeal. \
The service refused the wagers: closed for the night
        repeat; lit: 5 five_card_hand_bonus, 3 progressive
    """,
    "of a table that is locked out, until it is void": f"""
        {WAGERS}; lockout; chips 1; service knows none; phase: locked_out; {BOTH}; void
        phase: open; {BOTH}
    """,
    "of a table that is locked out for another round, until it is void": f"""
        {WAGERS}; lockout; chips 1; service knows R41; phase: locked_out; {BOTH}; void
        phase: open; {BOTH}
    """,
}


@pytest.mark.section("649a.13")
@pytest.mark.parametrize("story", RETURNED.values(), ids=RETURNED)
def test_what_goes_back_to_whom_is_kept(story: str) -> None:
    HandTable().play(story)


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        ("wager 3 progressive", "lockout", "chips 1"),
        (TO_SETTLE, "settle", "retract dealer"),
        (TO_SETTLE, "void", "retract dealer"),
    ],
)
def test_a_refusal_of_the_service_is_shown_until_the_next_event_is_accepted(
    before: str, event: str, after: str
) -> None:
    HandTable().play(f"""
        {before}; service refuses x; {event} -> x; refusal: {event} not like this
        withdraw 3 progressive -> betting_locked; refusal: {event} not like this
        {after}; refusal: none
    """)


W, ALONE = "pit.T-1-2-1", "pit.T-1-2-e2"
ENVY = f"""
    {TO_SETTLE}; service pays 3 progressive table_inventory {W} + 5 progressive_envy \
table_inventory of=3 + 1 progressive_envy table_inventory of=3 + 5 progressive_envy \
table_inventory of=2; settle
"""
"""A round with a win that brings two Envy Bonuses, and one for a hand without a win."""
FIFTH, FIRST = "5 progressive_envy", "1 progressive_envy"
SETTLED = {
    f"{event}: {name}": story.replace("EVENT", event).replace("SHOWN", shown)
    for event, shown in (("paid", "done"), ("rejected", "rejected"))
    for name, story in {
        "no longer to be paid": f"""
            {ENVY}; {W} validated; lines: pay, pay, pay, pay
            {W}-envy EVENT {FIFTH}; lines: pay, SHOWN, pay, pay
            {ALONE}-envy EVENT {FIFTH}; lines: pay, SHOWN, pay, SHOWN
            {W}-envy EVENT {FIFTH} -> same
        """,
        "not owed again by a message that comes late": f"""
            {ENVY}; {W} rejected; {W}-envy validated {FIFTH}; lines: rejected, pay, ask, pay
            {W}-envy EVENT {FIFTH}; lines: rejected, SHOWN, ask, pay
            {W}-envy validated {FIFTH} -> same
        """,
    }.items()
} | {
    "a rejected win whose Envy Bonuses stand": f"""
        {ENVY}; {W} rejected; lines: rejected, ask, ask, pay
        {W}-envy validated {FIFTH}; {W}-envy validated {FIRST}; lines: rejected, pay, pay, pay
    """,
    "a rejected win without Envy Bonuses": f"""
        {ENVY}; {W} rejected; {W}-envy rejected {FIFTH}; {W}-envy rejected {FIRST}
        lines: rejected, rejected, rejected, pay
    """,
    "an earlier round leaves the panel when the floor settled the last of it": f"""
        {ENVY}; {W} validated; next done=[0,2,3]; waiting: R1 0; {W}-envy paid {FIFTH}
        waiting: none; last lines: done, done, done, done
    """,
    "a decision on another result changes nothing": f"""
        {ENVY}; pit.T-1-9-1-envy paid {FIFTH} -> same; pit.T-1-12-e2-envy paid {FIFTH} -> same
        pit.T-1-2-e3-envy paid {FIFTH} -> same
    """,
    "a late touch of another tablet puts no other settlement away": f"""
        {ENVY}; next round=R0 done=[0,1,2,3] -> nothing_there
        says: the panel now shows the settlement of round R1: look at it first
        next round=R1 done=[3]; settled: none
    """,
}


@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.section("649a.12(e)(5)")
@pytest.mark.parametrize("story", SETTLED.values(), ids=SETTLED)
def test_decisions_on_envy_bonuses_reach_the_panel_so_that_none_is_paid_twice(story: str) -> None:
    HandTable().play(story)
