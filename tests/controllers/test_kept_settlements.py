"""Data that outlasts a round: settlements, their waiting wins, and returned wagers."""

import pytest

from bonus.settling.settlement_lines import Line
from bonus.wagers import PaidFrom
from controllers.table.line_states import due_lines, open_lines
from controllers.table.pending_claims import WAITING_MAX
from controllers.table.replies import decide, reconcile
from controllers.table.state import Phase, Returned, SettledRound, TableState
from meters.wire.messages import ClaimOpened, ErrorDetail, Reply
from tests.controllers.floors import HandTable, accepted, refusal_code
from tests.controllers.test_replies import won

LINE = won(3, "progressive", PaidFrom.TABLE_INVENTORY)
TO_SETTLE = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c"


def play(table: HandTable, claim: str = "", line: Line = LINE) -> None:
    """Play a round, with a win that waits for a floorperson if a claim is named."""
    claims = (ClaimOpened(claim=claim, position=3, item="progressive", amount=5000),)
    table.say_all(TO_SETTLE)
    table.replies.append(accepted(table.seq + 1, (line,), claims if claim else ()))
    assert table.say_short("settle").ok


def waiting(table: HandTable) -> list[tuple[str, int]]:
    return [(settled.round, len(settled.undecided)) for settled in table.state.waiting]


@pytest.mark.section("649a.11(c)(5)(iii)")
@pytest.mark.parametrize("go_on", ["next", "lockout"])
@pytest.mark.parametrize("decision", ["validated", "rejected"])
def test_a_win_that_waits_is_kept_through_later_rounds_until_it_is_decided_and_done(
    go_on: str, decision: str
) -> None:
    table = HandTable()
    play(table, "C1")
    table.say_all("next" if go_on == "next" else "lockout; void")
    play(table)
    table.say_all("next")
    assert waiting(table) == [("R1", 1)]
    assert table.refusal("done R1") == "claims_wait"
    table.say_all("wager 1 progressive; lockout; chips 1")
    table.state = decide(table.state, "C1", decision)  # type: ignore[arg-type]
    assert waiting(table) == [("R1", 0)]
    assert table.state.waiting[0].decision_on("C1") == decision
    assert not table.state.claims_wait
    table.say_all("fold 1; dealer 2c 3c 4c; settle; done R1")
    assert waiting(table) == []
    assert table.refusal("done R1") == "nothing_there"


@pytest.mark.section("649a.11(c)(5)(iv)")
def test_a_win_that_waits_is_kept_while_another_holds_the_table_and_while_it_is_locked_out() -> (
    None
):
    table = HandTable()
    play(table, "C1")
    table.say_all("next")
    play(table, "C2", won(3, "progressive", PaidFrom.HAND_PAY))
    assert (table.state.phase, waiting(table)) == (Phase.HELD, [("R1", 1)])
    table.state = decide(table.state, "C1", "validated")
    assert (table.state.phase, waiting(table)) == (Phase.HELD, [("R1", 0)])
    table.state = decide(table.state, "C2", "paid")
    table.state = reconcile(table.state, "R41")
    assert (table.state.phase, waiting(table)) == (Phase.LOCKED_OUT, [("R1", 0)])
    table.say_all("void")
    assert waiting(table) == [("R1", 0)]


def test_what_was_decided_before_the_dealer_went_on_does_not_wait() -> None:
    table = HandTable()
    play(table, "C1")
    table.state = decide(table.state, "C1", "validated")
    table.say_all("next")
    assert waiting(table) == []
    assert table.state.last_settled is not None
    assert table.state.last_settled.round == "R1"


TWO_LINES = (
    won(3, "progressive", PaidFrom.TABLE_INVENTORY),
    won(1, "five_card_progressive", PaidFrom.GAME_ACCOUNT),
    won(5, "five_card_hand_bonus", PaidFrom.GAME_ACCOUNT),
)


def play_two(table: HandTable) -> None:
    """Play a round with two wins that wait, and a line that needs nobody."""
    claims = (
        ClaimOpened(claim="C1", position=3, item="progressive", amount=5000),
        ClaimOpened(claim="C2", position=1, item="five_card_progressive", amount=5000),
    )
    table.say_all(TO_SETTLE)
    table.replies.append(accepted(table.seq + 1, TWO_LINES, claims))
    assert table.say_short("settle").ok


def open_of(table: HandTable) -> list[tuple[str, tuple[int, ...]]]:
    return [(each.round, open_lines(each)) for each in table.state.waiting]


@pytest.mark.parametrize("go_on", ["next", "lockout"])
def test_a_line_that_could_be_paid_when_the_dealer_went_on_is_done(go_on: str) -> None:
    table = HandTable()
    play_two(table)
    table.state = decide(table.state, "C1", "validated")
    table.say_all(go_on)
    assert open_of(table) == [("R1", (1,))]
    table.state = decide(table.state, "C2", "validated")
    assert table.refusal("done R1") is None
    assert open_of(table) == []


def test_a_line_that_was_decided_just_before_the_touch_is_still_to_be_paid() -> None:
    """The dealer handled only what the panel showed."""
    table = HandTable()
    play_two(table)
    shown = due_lines(table.state.settled)  # type: ignore[arg-type]
    assert shown == (2,)
    table.state = decide(table.state, "C1", "validated")
    table.state = decide(table.state, "C2", "rejected")
    assert table.say("next", done=shown).ok
    assert open_of(table) == [("R1", (0, 1))]


def test_a_line_that_changed_just_before_the_touch_is_still_to_be_paid() -> None:
    """The dealer confirmed that a floorperson decides, and meanwhile the floor decided to pay."""
    table = HandTable()
    play(table, "C1")
    table.state = decide(table.state, "C1", "validated")
    assert table.say("next", round="R1", done={"0": "ask"}).ok
    assert open_of(table) == [("R1", (0,))]
    for lines in ({"0": "ask"}, {"0": "rejected"}, {"0": ""}):
        assert refusal_code(table.say("done", round="R1", lines=lines)) == "changed"
        assert open_of(table) == [("R1", (0,))]
    assert table.say("done", round="R1", lines={"0": "pay"}).ok
    assert open_of(table) == []


def test_lines_that_are_done_together_are_done_as_they_were_seen_or_not_at_all() -> None:
    table = HandTable()
    play_two(table)
    table.say_all("next")
    table.state = decide(table.state, "C1", "validated")
    table.state = decide(table.state, "C2", "validated")
    for lines, code in (
        ({"0": "pay", "1": "wait"}, "changed"), ({"0": "pay", "2": "credit"}, "nothing_there"),
    ):  # fmt: skip
        assert refusal_code(table.say("done", round="R1", lines=lines)) == code
        assert open_of(table) == [("R1", (0, 1))]
    assert table.say("done", round="R1", lines={"0": "pay", "1": "credit"}).ok
    assert open_of(table) == []


def test_lines_are_done_one_by_one_while_another_win_waits() -> None:
    table = HandTable()
    play_two(table)
    table.say_all("next")
    assert open_of(table) == [("R1", (0, 1))]
    table.state = decide(table.state, "C1", "validated")
    assert refusal_code(table.say("done", round="R1", line=1)) == "claims_wait"
    assert table.say("done", round="R1", line=0).ok
    assert open_of(table) == [("R1", (1,))]
    for gone in (0, 2, -1, 99):
        assert refusal_code(table.say("done", round="R1", line=gone)) == "nothing_there"
    assert table.state.last_settled is not None
    assert table.state.last_settled.done == (0, 2)
    table.state = decide(table.state, "C2", "rejected")
    assert table.say("done", round="R1", line=1).ok
    assert open_of(table) == []


def full() -> HandTable:
    """Return a table with the maximum of waiting rounds, and one more shown to the dealer."""
    table = HandTable()
    for number in range(WAITING_MAX):
        play(table, f"C{number}")
        table.say_all("next")
    play(table, "C9")
    return table


def test_the_table_waits_where_the_wins_of_too_many_rounds_do() -> None:
    table = full()
    assert table.refusal("next") == "claims_wait"
    assert table.refusal("lockout") == "claims_wait"
    assert table.state.settled is not None
    table.state = decide(table.state, "C0", "validated")
    assert table.refusal("next") == "claims_wait", "it is not acknowledged"
    table.say_all("done R1; next")
    assert (len(waiting(table)), waiting(table)[-1]) == (WAITING_MAX, ("R9", 1))


def test_a_table_without_a_button_for_done_is_not_stopped_by_rounds_that_are_decided() -> None:
    table = full()
    table.state = decide(table.state, "C1", "rejected")
    table.say_all("lockout")
    assert [name for name, _ in waiting(table)] == [f"R{number}" for number in (1, *range(3, 10))]


def test_a_decision_on_the_last_settlement_is_shown_too() -> None:
    table = HandTable()
    play(table, "C1")
    table.say_all("next")
    table.state = decide(table.state, "C1", "validated")
    assert table.state.last_settled is not None
    assert table.state.last_settled.decision_on("C1") == "validated"


def test_next_and_done_are_refused_where_they_cannot_be() -> None:
    table = HandTable()
    assert table.refusal("done R1") == "nothing_there"
    table.say_all("wager 3 progressive; lockout")
    assert table.refusal("next") == "betting_locked"


def returned(state: TableState) -> list[tuple[int, str]]:
    assert state.returned is not None
    return [(placed.position, placed.wager) for placed in state.returned.wagers]


WAGERS = "wager 5 five_card_hand_bonus; wager 3 progressive"
BOTH = [(5, "five_card_hand_bonus"), (3, "progressive")]


@pytest.mark.section("649a.13")
def test_what_goes_back_to_whom_is_kept_until_the_next_wager_or_lock_out() -> None:
    for begin in ("wager 1 progressive", "lockout"):
        table = HandTable()
        table.say_all(f"{WAGERS}; lockout; chips 1; void; next")
        assert returned(table.state) == BOTH
        assert table.state.returned is not None
        assert (table.state.returned.void, table.state.returned.reason) == (
            True,
            "The round is void: misdeal",
        )
        table.say_all(begin)
        assert table.state.returned is None, begin


@pytest.mark.section("649a.13")
def test_returned_wagers_are_shown_through_a_round_without_them() -> None:
    table = HandTable()
    table.say_all(WAGERS)
    table.replies.append(Reply(seq=1, status="refused"))
    assert not table.say_short("lockout").ok
    table.say_all("chips 0; dealer 2c 3c 4c; settle; next")
    assert returned(table.state) == BOTH


@pytest.mark.section("649a.13")
def test_wagers_that_the_service_refused_are_returned_and_shown_after_a_void_too() -> None:
    table = HandTable()
    table.say_all(WAGERS)
    error = ErrorDetail(code="link_closed", message="closed for the night")
    table.replies.append(Reply(seq=1, status="refused", error=error))
    assert not table.say_short("lockout").ok
    assert returned(table.state) == BOTH
    assert table.state.returned is not None
    assert (table.state.returned.reason, table.state.returned.void) == (
        "The service refused the wagers: closed for the night",
        False,
    )
    table.say_all("chips 1; void")
    assert returned(table.state) == BOTH
    assert table.state.returned == Returned(
        "The round is void: misdeal. The service refused the wagers: closed for the night",
        table.state.last_wagers,
        void=True,
    )
    table.say_all("repeat")
    assert [(each.position, each.wager) for each in table.state.wagers] == BOTH


@pytest.mark.section("649a.13")
@pytest.mark.parametrize("known", [None, "R41"])
def test_a_table_that_is_locked_out_keeps_what_was_wagered_until_it_is_void(
    known: str | None,
) -> None:
    table = HandTable()
    table.say_all(f"{WAGERS}; lockout; chips 1")
    table.state = reconcile(table.state, known)
    assert (table.state.phase, returned(table.state)) == (Phase.LOCKED_OUT, BOTH)
    table.say_all("void")
    assert (table.state.phase, returned(table.state)) == (Phase.OPEN, BOTH)


@pytest.mark.parametrize("event", ["lockout", "settle", "void"])
def test_a_refusal_of_the_service_is_shown_until_the_next_event_is_accepted(event: str) -> None:
    table = HandTable()
    steps = ["wager 3 progressive", "lockout", "chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c"]
    table.say_all("; ".join(steps if event != "lockout" else steps[:1]))
    error = ErrorDetail(code="x", message="not like this")
    table.replies.append(Reply(seq=table.seq + 1, status="refused", error=error))
    assert not table.say_short(event).ok
    assert table.state.refusal is not None
    assert (table.state.refusal.event, table.state.refusal.message) == (event, "not like this")
    assert not table.say_short("withdraw 3 progressive").ok
    assert table.state.refusal is not None, "nothing was taken"
    table.say_all("chips 1" if event == "lockout" else "retract dealer")
    assert table.state.refusal is None


def test_a_state_of_an_older_version_goes_on() -> None:
    kept = SettledRound(round="R1", lines=(LINE,))
    state = TableState(phase=Phase.DEALT, settled=kept)
    table = HandTable()
    table.state = state
    table.say_all("dealer 2c 3c 4c; settle")
    assert (table.state.settled, table.state.last_settled) == (None, kept)
