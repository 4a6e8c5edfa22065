"""Rejected wins that were reopened, at the table: the rules alone, then with an agent."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from bonus.settling.settlement_lines import Line
from bonus.wagers import PaidFrom
from controllers.agent.agent import Agent
from controllers.panel.settlement_view import held_views
from controllers.table.line_states import due_lines, line_state
from controllers.table.pending_claims import hear_envy
from controllers.table.reopening import hear_win
from controllers.table.state import Layout, Phase, SettledRound
from meters.floor.floor_file import parse_floor
from meters.wire.messages import ClaimOpened, Jackpot
from tests.controllers.floors import HandTable, accepted
from tests.controllers.scripted import ScriptedService, live_agent, say, say_all
from tests.controllers.test_agent import HAND_PAY as HELD_ROUND
from tests.controllers.test_agent import ROUND
from tests.controllers.test_replies import TO_SETTLE, won
from tests.model.test_house_games import FLOOR as HOUSE_FLOOR
from tests.servers import Mosquitto, eventually_async

HAND_PAY = won(3, "progressive", PaidFrom.HAND_PAY)
AT_TABLE = won(3, "progressive", PaidFrom.TABLE_INVENTORY)
ENVY = structs.replace(won(5, "progressive_envy", PaidFrom.TABLE_INVENTORY, 2500), envy_of=3)


def message(event: str, hand: str = "mini_royal_spades", claim: str = "C1") -> Jackpot:
    return Jackpot(
        event=event, claim=claim, meter="progressive", table="T-1", position=3,  # type: ignore[arg-type]
        item="progressive", hand=hand, amount=5000, meter_after=0, at="2026-11-20T02:14:07Z",
    )  # fmt: skip


def hear(table: HandTable, *events: str, hand: str = "mini_royal_spades") -> None:
    for event in events:
        table.state = hear_win(table.layout, table.state, message(event, hand))


def rejected(*lines: Line, rounds_after: int = 0) -> HandTable:
    """Play a round with a win that is rejected, then other rounds."""
    table = HandTable()
    table.say_all(TO_SETTLE)
    claim = ClaimOpened(claim="C1", position=3, item="progressive", amount=5000)
    table.replies.append(accepted(2, lines, (claim,)))
    assert table.say_short("settle").ok
    hear(table, "rejected")
    for _ in range(rounds_after):
        table.say_all("next; lockout; void")
        table.say_all(f"{TO_SETTLE}; settle")
        if table.state.waiting:
            table.say_all("done R1")
    return table


def shown(table: HandTable) -> SettledRound:
    """Return the only settlement on the panel that has the win."""
    here = (table.state.settled, *table.state.waiting)
    (found,) = (each for each in here if each and each.opened("C1"))
    return found


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("rounds_after", [0, 1, 3])
def test_a_reopened_hand_pay_holds_the_table_until_it_is_paid(rounds_after: int) -> None:
    """It does so too if the table has forgotten its round."""
    table = rejected(HAND_PAY, rounds_after=rounds_after)
    assert (table.state.phase, table.state.held) == (Phase.OPEN, ())
    hear(table, "hit")
    assert (table.state.phase, table.state.held) == (Phase.HELD, ("C1",))
    assert not table.say_short("wager 1 progressive").ok
    assert line_state(shown(table), 0) == "hand_pay"
    (view,) = held_views(table.layout, table.state)
    assert (view.position, view.item, view.amount, view.validated) == (
        3,
        "Progressive",
        5000,
        False,
    )
    before = table.state
    hear(table, "hit")
    assert table.state == before, "reported twice"
    hear(table, "validated", "hit")
    assert held_views(table.layout, table.state)[0].validated
    assert table.state.phase is Phase.HELD
    hear(table, "paid")
    if rounds_after < 3:  # the table still has the round
        hear(table, "hit", "validated")
    assert (table.state.phase, table.state.held) == (Phase.OPEN, ())
    table.say_all("wager 1 progressive")


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("rounds_after", [0, 3])
def test_a_reopened_hand_pay_can_be_rejected_and_reopened_again(rounds_after: int) -> None:
    table = rejected(HAND_PAY, rounds_after=rounds_after)
    for event, phase in (("hit", Phase.HELD), ("rejected", Phase.OPEN)) * 2:
        hear(table, event)
        assert table.state.phase is phase
    assert line_state(shown(table), 0) == "rejected"


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("rounds_after", [0, 1, 3])
def test_a_validation_of_a_hand_pay_after_a_missed_reopening_holds_the_table(
    rounds_after: int,
) -> None:
    table = rejected(HAND_PAY, rounds_after=rounds_after)
    hear(table, "validated")
    assert (table.state.phase, held_views(table.layout, table.state)[0].validated) == (
        Phase.HELD,
        True,
    )
    hear(table, "paid")
    assert table.state.phase is Phase.OPEN


def test_lit_wagers_stay_accepted_while_the_table_is_held() -> None:
    table = rejected(HAND_PAY, rounds_after=1)
    table.say_all("wager 1 progressive; wager 2 progressive")
    hear(table, "hit")
    assert table.state.phase is Phase.HELD
    assert not table.say_short("lockout").ok
    table.say_all("withdraw 2 progressive")
    hear(table, "validated", "paid")
    table.say_all("lockout; chips 1")
    assert [placed.position for placed in table.state.wagers] == [1]


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("end", ["void", "settle"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("wager 1 progressive; lockout", "chips 1; fold 1; dealer 2c 3c 4c"),
        ("wager 1 progressive; lockout; chips 1; fold 1", "dealer 2c 3c 4c"),
        ("lockout; chips 0", "dealer 2c 3c 4c"),
    ],
)
def test_a_round_in_progress_ends_before_the_table_is_held(
    before: str, after: str, end: str
) -> None:
    table = rejected(HAND_PAY, rounds_after=1)
    table.say_all(f"next; {before}")
    hear(table, "hit")
    assert table.state.phase is not Phase.HELD
    assert line_state(shown(table), 0) == "hand_pay"
    answer = table.say_all(f"{after}; {end}")
    assert (table.state.phase, table.state.held) == (Phase.HELD, ("C1",))
    if end == "settle":
        assert answer.held == ("C1",)
    hear(table, "validated", "paid")
    assert table.state.phase is Phase.OPEN


def test_a_hand_pay_that_is_paid_during_the_round_does_not_hold_the_table() -> None:
    table = rejected(HAND_PAY, rounds_after=1)
    table.say_all("next; wager 1 progressive; lockout")
    hear(table, "hit", "validated", "paid")
    assert table.state.phase is Phase.LOCKED
    table.say_all("chips 1; void")
    assert (table.state.phase, table.state.held) == (Phase.OPEN, ())


@pytest.mark.parametrize("rounds_after", [0, 1, 3])
def test_a_reopened_win_that_the_table_pays_waits_and_is_to_be_paid(rounds_after: int) -> None:
    """The dealer had acknowledged the rejection, so the line counted as completed."""
    table = rejected(AT_TABLE, rounds_after=rounds_after)
    hear(table, "hit", hand="mini_royal")
    assert table.state.phase is Phase.OPEN
    assert table.state.claims_wait
    assert line_state(shown(table), 0) == "wait"
    hear(table, "validated", hand="mini_royal")
    assert line_state(shown(table), 0) == "pay"
    assert due_lines(shown(table)) == (0,)


def test_an_old_validated_win_that_the_table_has_forgotten_is_not_shown_again() -> None:
    table = HandTable()
    hear(table, "validated", hand="mini_royal")
    hear(table, "paid", "rejected")
    assert table.state == HandTable().state


@pytest.mark.parametrize(
    ("item", "amount", "held"),
    [("keystone_bonus", 100_000, ()), ("keystone_mega_jackpot", 2_000_000, ("C1",))],
)
def test_only_the_percentage_of_a_forgotten_hand_holds_the_table(
    item: str, amount: int, held: tuple[str, ...]
) -> None:
    """A royal flush of spades wins a meter, which holds the table, and a sum, which does not."""
    link = parse_floor(HOUSE_FLOOR).link[0]
    (table,) = (each for each in link.table if each.game == "keystone_stud")
    stud = HandTable(layout=Layout.of(link, table))
    told = structs.replace(
        message("validated", hand="royal_flush_spades"),
        meter="keystone_mega",
        item=item,
        amount=amount,
    )
    stud.state = hear_win(stud.layout, stud.state, told)
    assert stud.state.held == held


@pytest.mark.parametrize("envy", ["rejected", "validated", "paid"])
def test_envy_bonuses_of_a_reopened_win_wait_again_and_none_is_paid_twice(envy: str) -> None:
    table = rejected(AT_TABLE, ENVY)
    told = structs.replace(
        message(envy), claim="C1-envy", position=5, item="progressive_envy", amount=2500
    )
    table.state = hear_envy(table.state, told, "C1")
    table.say_all("next; lockout; void")
    if table.state.waiting:
        table.say_all("done R1")
    hear(table, "hit", hand="mini_royal")
    assert line_state(shown(table), 1) == ("done" if envy == "paid" else "wait")
    hear(table, "validated", hand="mini_royal")
    assert line_state(shown(table), 1) == ("pay" if envy == "rejected" else "done")


async def _decided(agent: Agent, service: ScriptedService, event: str, phase: Phase) -> None:
    await service.jackpot("C1", event)
    await eventually_async(lambda: agent.table_state.phase is phase, what=f"{phase} after {event}")


@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_an_agent_holds_its_table_when_a_win_is_reopened(
    agent: Agent, service: ScriptedService
) -> None:
    service.settlement = HELD_ROUND
    await say_all(agent, ROUND)
    await _decided(agent, service, "rejected", Phase.OPEN)
    await _decided(agent, service, "hit", Phase.HELD)
    await eventually_async(lambda: service.status.get("state") == "held")
    waiting = asyncio.create_task(say(agent, "wager 1 progressive"))
    await service.jackpot("C1", "validated")
    before = service.hellos
    await eventually_async(lambda: service.hellos > before + 1, what="hellos of a held table")
    assert not waiting.done()
    await service.jackpot("C1", "paid")
    assert (await waiting).ok


@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_a_reopening_while_the_agent_was_away_comes_with_the_hello(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> None:
    service.settlement = HELD_ROUND
    async with live_agent(mosquitto.url, outbox) as agent:
        await say_all(agent, ROUND)
        await _decided(agent, service, "rejected", Phase.OPEN)
    service.finals = [service.final("C1", "hit")]
    for _ in range(2):
        async with live_agent(mosquitto.url, outbox) as agent:
            await eventually_async(lambda: agent.table_state.phase is Phase.HELD)


async def test_the_first_message_about_a_win_does_not_reopen_it_after_its_rejection(
    agent: Agent, service: ScriptedService
) -> None:
    """This message comes before the reply to the result, which is lost and repeated."""
    await say_all(agent, ROUND.removesuffix("; settle"))
    service.settlement = HELD_ROUND
    service.answering = False
    settling = asyncio.create_task(say(agent, "settle"))
    await eventually_async(lambda: service.numbers == [1, 2], what="the result")
    await service.jackpot("C1", "hit")
    service.answering = True
    assert (await settling).held == ("C1",)
    await _decided(agent, service, "rejected", Phase.OPEN)
    assert (await say(agent, "wager 1 progressive")).ok
    assert (await say(agent, "withdraw 1 progressive")).ok
    assert agent.table_state.phase is Phase.OPEN
