"""A must-hit-by win at the table: it waits beside the round, which goes on."""

from datetime import UTC, datetime
from typing import Final

import pytest

from bonus.wagers import MUST_HIT_BY
from controllers.panel.settlement_view import settled_view
from controllers.table.open_settlements import acknowledge, line_state
from controllers.table.replies import absorb
from controllers.table.state import Phase, TableState
from controllers.table.win_decisions import hear_win, must_hit_by_won
from meters.wire.messages import ClaimOpened, Jackpot, Reply, Wagers
from tests.controllers.floors import HandTable, jackpot

WON: Final = ClaimOpened(claim="main.T-1-7-1", position=3, item="mystery_jackpot", amount=81_234)


def _hit(event: str = "hit") -> TableState:
    return hear_win(LOCKED.layout, LOCKED.state, _message(event))


def _message(event: str) -> Jackpot:
    return jackpot(
        WON.claim, event, meter="mystery", item=WON.item, hand=MUST_HIT_BY, amount=WON.amount
    )


LOCKED: Final = HandTable()
LOCKED.play("wager 3 progressive; lockout")


def test_the_round_goes_on_and_the_win_waits_for_a_floorperson() -> None:
    state = must_hit_by_won(LOCKED.state, [WON])
    assert (state.phase, state.held, state.wagers) == (Phase.LOCKED, (), LOCKED.state.wagers)
    (won,) = state.waiting
    assert line_state(won, 0) == "hand_pay"
    view = settled_view(LOCKED.layout, won)
    (line,) = view.turns[0].lines
    assert (line.position, line.amount, line.item) == (3, 81_234, "Mystery Jackpot")
    assert line.act.text == "Do not pay: hand pay. Go on with the round."


@pytest.mark.parametrize("first", ["message", "reply"])
def test_the_message_and_the_reply_show_one_win(first: str) -> None:
    state = _hit() if first == "message" else must_hit_by_won(LOCKED.state, [WON])
    state = must_hit_by_won(hear_win(LOCKED.layout, state, _message("hit")), [WON])
    assert [one.claims for one in state.waiting] == [(WON,)]


def test_the_reply_to_wagers_shows_it() -> None:
    layout, state = LOCKED.layout, LOCKED.state
    sent = Wagers(seq=7, at=datetime.now(UTC), round=state.round or "", positions=[])
    step = absorb(layout, state, sent, Reply(seq=7, status="accepted", claims=(WON,)))
    assert [one.claims for one in step.state.waiting] == [(WON,)]


def test_it_goes_when_it_is_paid_and_when_its_rejection_was_seen() -> None:
    layout, state = LOCKED.layout, must_hit_by_won(LOCKED.state, [WON])
    paid = hear_win(layout, state, _message("validated"))
    assert line_state(paid.waiting[0], 0) == "hand_pay"
    assert hear_win(layout, paid, _message("paid")).waiting == ()
    rejected = hear_win(layout, state, _message("rejected"))
    assert line_state(rejected.waiting[0], 0) == "rejected"
    assert acknowledge(rejected, rejected.waiting[0].round).waiting == ()
    reopened = hear_win(layout, rejected, _message("hit"))
    assert line_state(reopened.waiting[0], 0) == "hand_pay"
    assert reopened.held == ()
