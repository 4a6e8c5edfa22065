"""Effects of the service's replies and hellos on a table, with the rules alone."""

import pytest
from msgspec import structs

from bonus.settling.settlement_lines import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.panel.settlement_view import held_views
from controllers.table.replies import SequenceComparison, compare, decide, reconcile
from controllers.table.state import ClaimDecision, Phase, SettledRound, TableState
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, HelloReply, Reply, Void
from tests.controllers.floors import HandTable, accepted

TO_SETTLE = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c"


def won(position: int, item: str, paid_from: PaidFrom, paid_cents: int = 5000) -> Line:
    return Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        wagered=100,
        paid=paid_cents,
        returned=0,
        paid_from=paid_from,
        rule="649a.12(e)(1)",
    )


def settled(lines: tuple[Line, ...], claims: tuple[ClaimOpened, ...]) -> HandTable:
    table = HandTable()
    table.say_all(TO_SETTLE)
    table.replies.append(accepted(2, lines, claims))
    assert table.say_short("settle").ok
    return table


@pytest.mark.section("649a.11(c)(5)(iv)")
def test_a_hand_pay_holds_the_table_until_every_document_is_done() -> None:
    lines = (
        won(3, "progressive", PaidFrom.HAND_PAY),
        won(3, "five_card_progressive", PaidFrom.TABLE_INVENTORY),
        won(2, "progressive", PaidFrom.TABLE_INVENTORY),
        won(1, "five_card_hand_bonus", PaidFrom.HAND_PAY),
    )
    claims = tuple(
        ClaimOpened(claim=f"C{number}", position=line.position, item=line.item, amount=line.paid)
        for number, line in enumerate(lines)
    )
    table = settled(lines, claims)
    assert (table.state.phase, table.state.held) == (Phase.HELD, ("C0", "C3"))
    state = decide(table.state, "C1", "paid")
    assert (state.phase, state.held) == (Phase.HELD, ("C0", "C3"))
    state = decide(state, "C3", "validated")
    assert (state.phase, state.held) == (Phase.HELD, ("C0", "C3"))
    state = decide(state, "C3", "paid")
    assert (state.phase, state.held) == (Phase.HELD, ("C0",))
    state = decide(state, "C0", "rejected")
    assert (state.phase, state.held) == (Phase.OPEN, ())


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("paid_from", [PaidFrom.TABLE_INVENTORY, PaidFrom.GAME_ACCOUNT])
def test_a_win_that_is_no_hand_pay_does_not_hold_the_table(paid_from: PaidFrom) -> None:
    line = won(3, "progressive", paid_from)
    claim = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)
    table = settled((line,), (claim,))
    assert table.state.phase is Phase.OPEN
    table.say_all("wager 1 progressive")


def held_by_the_books(table: HandTable, *claims: str) -> Reply:
    """Return the service's refusal of the next wagers, because wins hold the table."""
    opened = tuple(
        ClaimOpened(claim=claim, position=3, item="progressive", amount=5000) for claim in claims
    )
    error = ErrorDetail(code="held", message="the table is held")
    return Reply(seq=table.seq + 1, status="refused", claims=opened, error=error)


@pytest.mark.section("649a.11(c)(5)(iv)")
def test_a_table_that_lost_its_outbox_is_held_by_the_refusal_and_goes_on_by_itself() -> None:
    """No card is dealt, wagers are returned, winners are shown; the last decision frees it."""
    table = HandTable()
    table.say_all("wager 3 progressive; wager 5 five_card_hand_bonus")
    table.replies.append(held_by_the_books(table, "C1", "C2"))
    answer = table.say_short("lockout")
    assert isinstance(answer.error, ErrorDetail)
    assert (answer.ok, answer.error.code, answer.held) == (False, "held", ("C1", "C2"))
    assert (table.state.phase, table.state.round, table.state.wagers) == (Phase.HELD, None, ())
    assert table.state.returned is not None
    assert [placed.position for placed in table.state.returned.wagers] == [3, 5]
    state = decide(table.state, "C1", "validated")
    assert [
        (held.claim, held.position, held.validated) for held in held_views(table.layout, state)
    ] == [
        ("C1", 3, True),
        ("C2", 3, False),
    ]
    state = decide(state, "C1", "paid")
    assert (state.phase, state.held) == (Phase.HELD, ("C2",))
    table.state = decide(state, "C2", "rejected")
    assert (table.state.phase, table.state.held, table.state.hold) == (Phase.OPEN, (), None)
    table.say_all("repeat; lockout; chips 1")
    assert len(table.state.wagers) == 2


def test_a_held_table_takes_no_event() -> None:
    claim = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)
    table = settled((won(3, "progressive", PaidFrom.HAND_PAY),), (claim,))
    for event in ("wager 1 progressive", "lockout", "chips 0", "settle", "void"):
        assert not table.say_short(event).ok, event
    assert table.state.held == ("C1",)


@pytest.mark.parametrize(
    ("service", "last_seq", "pending", "standing"),
    [
        (0, 0, False, SequenceComparison.AGREED),
        (41, 41, False, SequenceComparison.AGREED),
        (40, 41, True, SequenceComparison.AGREED),
        (41, 41, True, SequenceComparison.AGREED),
        (40, 41, False, SequenceComparison.BEHIND),
        (39, 41, True, SequenceComparison.BEHIND),
        (0, 1, False, SequenceComparison.BEHIND),
        (41, 0, False, SequenceComparison.AHEAD),
        (42, 41, True, SequenceComparison.AHEAD),
    ],
)
def test_the_service_and_the_outbox_compared(
    service: int, last_seq: int, standing: SequenceComparison, *, pending: bool
) -> None:
    hello = HelloReply(last_seq=service, open_round=None)
    assert compare(hello, last_seq=last_seq, pending=pending) is standing


def test_a_round_that_both_know_goes_on() -> None:
    table = HandTable()
    table.say_all(TO_SETTLE)
    assert reconcile(table.state, "R1") == table.state
    assert reconcile(TableState(), None) == TableState()


def test_a_round_that_only_the_service_knows_is_locked_out_until_it_is_void() -> None:
    table = HandTable()
    table.state = reconcile(TableState(), "R41")
    assert table.state.phase is Phase.LOCKED_OUT
    assert "R41" in table.state.reason
    for event in ("wager 1 progressive", "lockout", "chips 0", "settle"):
        answer = table.say_short(event)
        assert not answer.ok
    assert reconcile(table.state, "R41") == table.state
    assert table.say_short("void").ok
    assert [(type(event), event.round) for event in table.sent] == [(Void, "R41")]
    returned = table.state.returned
    assert table.state == TableState(returned=returned)
    assert returned is not None
    assert (returned.wagers, returned.void) == ((), True)
    assert returned.reason.startswith("The round is void: misdeal. The table does not know")


def test_a_round_that_the_service_no_longer_knows_is_locked_out_until_it_is_void() -> None:
    table = HandTable()
    table.say_all(TO_SETTLE)
    table.state = reconcile(table.state, None)
    assert table.state.phase is Phase.LOCKED_OUT
    assert reconcile(table.state, None) == table.state
    assert not table.say_short("settle").ok
    assert table.say_short("void").ok
    assert len(table.sent) == 1, "there is nothing to void at the service"
    assert (table.state.phase, table.state.reason) == (Phase.OPEN, "")
    assert table.say_short("wager 1 progressive").ok


def test_a_round_without_progressives_is_nothing_to_the_service() -> None:
    table = HandTable()
    table.say_all("lockout; chips 0; hand 1 As Ks Qs")
    assert reconcile(table.state, None) == table.state


def test_a_round_that_was_closed_elsewhere_opens_the_table() -> None:
    locked = reconcile(TableState(), "R41")
    assert reconcile(locked, None) == TableState()
    assert reconcile(locked, "R43").round == "R43"


@pytest.mark.section("649a.12(i)(3)")
def test_the_answers_carry_the_draw_the_lines_and_the_claims() -> None:
    table = HandTable()
    draw = DrawMade(magic_card="Ts", lucky_position="dealer")
    table.replies.append(Reply(seq=1, status="accepted", draw=draw))
    assert table.say_all("wager 3 progressive; lockout").draw == draw
    line = won(3, "progressive", PaidFrom.TABLE_INVENTORY)
    claim = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)
    table.replies.append(accepted(2, (line,), (claim,)))
    answer = table.say_all("chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c; settle")
    assert (answer.lines, answer.claims) == ((line,), (claim,))


CLAIM = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)


def test_the_settlement_stays_until_the_next_round_begins() -> None:
    table = settled((won(3, "progressive", PaidFrom.TABLE_INVENTORY),), ())
    kept = table.state.settled
    assert kept is not None
    assert (kept.round, kept.hands[0].cards, kept.dealer) == (
        "R1",
        ("As", "Ks", "Qs"),
        ("2c", "3c", "4c"),
    )
    assert [placed.position for placed in table.state.last_wagers] == [3]
    table.say_all("wager 1 progressive")
    assert table.state.settled == kept, "a wager puts away no settlement"
    paid = structs.replace(kept, done=(0,))
    for begin in ("lockout", "next"):
        other = HandTable()
        other.state = table.state
        other.say_all(begin)
        assert (other.state.settled, other.state.last_settled) == (None, paid), begin


@pytest.mark.section("649a.11(c)(5)(iii)")
def test_a_decision_that_comes_late_or_twice_or_for_another_changes_nothing() -> None:
    table = settled((won(3, "progressive", PaidFrom.HAND_PAY),), (CLAIM,))
    paid = decide(decide(table.state, "C1", "validated"), "C1", "paid")
    assert isinstance(paid.settled, SettledRound)
    assert paid.settled.decided == (ClaimDecision("C1", "paid"),)
    assert decide(paid, "C1", "validated") == paid
    assert decide(paid, "C1", "rejected") == paid
    assert decide(paid, "C2", "paid") == paid
    assert decide(TableState(), "C1", "paid") == TableState()


def test_a_table_held_by_an_older_version_is_released_without_its_settlement() -> None:
    held = TableState(phase=Phase.HELD, held=("C1",))
    assert decide(held, "C1", "paid") == TableState()
