"""Decisions on Envy Bonuses reach the panel, so that none is paid twice."""

import pytest

from bonus.settling.settlement_lines import Line
from bonus.wagers import PaidFrom
from controllers.table.device_events import DeviceRefusal
from controllers.table.line_states import line_state
from controllers.table.pending_claims import go_on, hear_envy
from controllers.table.replies import decide
from controllers.table.state import SettledRound, TableState
from meters.wire.messages import ClaimOpened, Jackpot
from tests.controllers.test_replies import settled, won

pytestmark = [pytest.mark.section("649a.11(c)(5)(v)"), pytest.mark.section("649a.12(e)(5)")]

CLAIM = "pit.T-1-2-1"
ALONE = "pit.T-1-2-e2"


def envy(position: int, item: str, holder: int) -> Line:
    line = won(position, item, PaidFrom.TABLE_INVENTORY, 10_000)
    return Line(
        **{name: getattr(line, name) for name in line.__struct_fields__} | {"envy_of": holder}
    )


LINES = (
    won(3, "progressive", PaidFrom.TABLE_INVENTORY),
    envy(5, "progressive_envy", 3),
    envy(1, "progressive_envy", 3),
    envy(5, "progressive_envy", 2),
)
CLAIMS = (ClaimOpened(claim=CLAIM, position=3, item="progressive", amount=5_000),)


@pytest.fixture
def state() -> TableState:
    """Return a table with a win that brings two Envy Bonuses, and one for a hand without a win."""
    return settled(LINES, CLAIMS).state


def decision(event: str, position: int, claim: str = CLAIM) -> Jackpot:
    return Jackpot(
        event=event, claim=f"{claim}-envy", meter="progressive", table="T-1",  # type: ignore[arg-type]
        position=position, item="progressive_envy", hand="mini_royal_spades", amount=10_000,
        meter_after=0, at="2026-11-20T02:14:07Z",
    )  # fmt: skip


def states(found: SettledRound | None) -> list[str]:
    assert found is not None
    return [line_state(found, number) for number in range(len(found.lines))]


@pytest.mark.parametrize(("event", "shown"), [("paid", "done"), ("rejected", "rejected")])
def test_each_envy_bonus_that_the_floor_settled_is_no_longer_to_be_paid(
    state: TableState, event: str, shown: str
) -> None:
    state = decide(state, CLAIM, "validated")
    assert states(state.settled) == ["pay"] * 4
    state = hear_envy(state, decision(event, 5), CLAIM)
    assert states(state.settled) == ["pay", shown, "pay", "pay"]
    state = hear_envy(state, decision(event, 5, ALONE), ALONE)
    assert states(state.settled) == ["pay", shown, "pay", shown]
    assert hear_envy(state, decision(event, 5), CLAIM) == state, "reported twice"


@pytest.mark.parametrize(("event", "shown"), [("validated", "pay"), ("rejected", "rejected")])
def test_a_rejected_win_says_whether_its_envy_stands(
    state: TableState, event: str, shown: str
) -> None:
    state = decide(state, CLAIM, "rejected")
    assert states(state.settled)[:3] == ["rejected", "ask", "ask"]
    state = hear_envy(hear_envy(state, decision(event, 5), CLAIM), decision(event, 1), CLAIM)
    assert states(state.settled)[:3] == ["rejected", shown, shown]


@pytest.mark.parametrize(("event", "shown"), [("paid", "done"), ("rejected", "rejected")])
def test_what_was_settled_is_not_owed_again_by_a_message_that_comes_late(
    state: TableState, event: str, shown: str
) -> None:
    state = hear_envy(decide(state, CLAIM, "rejected"), decision("validated", 5), CLAIM)
    assert states(state.settled)[1] == "pay"
    state = hear_envy(state, decision(event, 5), CLAIM)
    assert hear_envy(state, decision("validated", 5), CLAIM) == state
    assert states(state.settled)[1] == shown


def test_an_earlier_round_leaves_the_panel_when_the_floor_settled_the_last_of_it(
    state: TableState,
) -> None:
    state = go_on(decide(state, CLAIM, "validated"), (0, 2, 3))
    assert [one.round for one in state.waiting] == ["R1"]
    state = hear_envy(state, decision("paid", 5), CLAIM)
    assert state.waiting == ()
    assert states(state.last_settled) == ["done"] * 4


@pytest.mark.parametrize("claim", ["pit.T-1-9-1", "pit.T-1-12-e2", "pit.T-1-2-e3"])
def test_a_decision_on_another_result_changes_nothing(state: TableState, claim: str) -> None:
    assert hear_envy(state, decision("paid", 5, claim), claim) == state


def test_a_late_touch_of_next_puts_no_other_settlement_away(state: TableState) -> None:
    """Another tablet has moved on. The lines of the round shown now were not paid."""
    with pytest.raises(DeviceRefusal, match="shows the settlement of round R1") as refused:
        go_on(state, (0, 1, 2, 3), "R0")
    assert refused.value.code == "nothing_there"
    assert go_on(state, (3,), "R1").settled is None
