"""Rejected wins that were reopened, at the table: the rules alone, then with an agent."""

import pytest

from controllers.table.state import Layout
from controllers.table.win_decisions import hear_win
from meters.floor.floor_file import parse_floor
from tests.controllers.floors import HandTable, jackpot
from tests.controllers.scripted import LiveTable
from tests.controllers.test_agent import ROUND
from tests.controllers.test_kept_settlements import TO_SETTLE
from tests.model.test_house_games import FLOOR as HOUSE_FLOOR

HAND_PAY = "3 progressive hand_pay C1"
AT_TABLE = "3 progressive table_inventory C1"
ENVY = "5 progressive_envy table_inventory of=3"
PAIR = "3 progressive mini_royal"
"""The rest of a message about a win that the table pays."""
VIEW = "held view: C1 3 Progressive 5000"


def rejected(lines: str, rounds_after: int = 0) -> HandTable:
    table = HandTable()
    table.play(f"{TO_SETTLE}; service pays {lines}; settle; C1 rejected")
    for _ in range(rounds_after):
        table.play(f"next; lockout; void; {TO_SETTLE}; settle")
        assert not table.state.waiting
    return table


HELD = {
    "until it is paid": f"""
        phase: open; held: none; C1 hit; phase: held; held: C1; lines: hand_pay; {VIEW}
        wager 1 progressive -> betting_locked; C1 hit -> same; C1 validated; C1 hit -> same
        {VIEW} validated; phase: held; C1 paid; phase: open; held: none; wager 1 progressive
    """,
    "until it is rejected, and again when it is reopened again": """
        C1 hit; phase: held; C1 rejected; phase: open; C1 hit; phase: held; C1 rejected
        phase: open; lines: rejected
    """,
    "once it is validated, if the reopening was missed": f"""
        C1 validated; phase: held; {VIEW} validated; C1 paid; phase: open
    """,
    "not after a round during which it is paid": """
        next; wager 1 progressive; lockout; C1 hit; C1 validated; C1 paid; phase: locked
        chips 1; void; phase: open; held: none
    """,
    "with its lit wagers, which stay accepted": """
        next; wager 1 progressive; wager 2 progressive; C1 hit; phase: held
        lockout -> betting_locked; withdraw 2 progressive; C1 validated; C1 paid
        lockout; chips 1; lit: 1 progressive
    """,
}


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("rounds_after", [0, 1, 3])
@pytest.mark.parametrize("story", HELD.values(), ids=HELD)
def test_a_reopened_hand_pay_holds_the_table(story: str, rounds_after: int) -> None:
    """It does so too if the table has forgotten its round."""
    rejected(HAND_PAY, rounds_after).play(story)


@pytest.mark.parametrize("rounds_after", [0, 1])
def test_a_reopened_hand_pay_that_was_paid_does_not_hold_the_table_again(rounds_after: int) -> None:
    """The table still has the round."""
    table = rejected(HAND_PAY, rounds_after)
    table.play("C1 hit; C1 validated; C1 paid; C1 hit; C1 validated; phase: open; held: none")


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("end", ["void; ", "settle; answer held: C1; "])
@pytest.mark.parametrize(
    ("before", "phase", "after"),
    [
        ("wager 1 progressive; lockout", "locked", "chips 1; fold 1; dealer 2c 3c 4c"),
        ("wager 1 progressive; lockout; chips 1; fold 1", "dealt", "dealer 2c 3c 4c"),
        ("lockout; chips 0", "dealt", "dealer 2c 3c 4c"),
    ],
)
def test_a_round_in_progress_ends_before_the_table_is_held(
    before: str, phase: str, after: str, end: str
) -> None:
    rejected(HAND_PAY, 1).play(f"""
        next; {before}; C1 hit; phase: {phase}; lines: hand_pay; {after}; {end}
        phase: held; held: C1; C1 validated; C1 paid; phase: open
    """)


@pytest.mark.parametrize("rounds_after", [0, 1, 3])
def test_a_reopened_win_that_the_table_pays_waits_and_is_to_be_paid(rounds_after: int) -> None:
    """The dealer had acknowledged the rejection, so the line counted as completed."""
    rejected(AT_TABLE, rounds_after).play(f"""
        C1 hit {PAIR}; phase: open; claims wait: yes; lines: wait; C1 validated {PAIR}; lines: pay
        due: 0
    """)


def test_an_old_validated_win_that_the_table_has_forgotten_is_not_shown_again() -> None:
    HandTable().play(f"C1 validated {PAIR} -> same; C1 paid -> same; C1 rejected -> same")


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
    told = jackpot(
        "C1", "validated", hand="royal_flush_spades", meter="keystone_mega", item=item,
        amount=amount,
    )  # fmt: skip
    assert hear_win(stud.layout, stud.state, told).held == held


@pytest.mark.parametrize("envy", ["rejected", "validated", "paid"])
def test_envy_bonuses_of_a_reopened_win_wait_again_and_none_is_paid_twice(envy: str) -> None:
    table = rejected(f"{AT_TABLE} + {ENVY}")
    table.play(f"C1-envy {envy} 5 progressive_envy; next; lockout; void")
    if table.state.waiting:
        table.play("done R1")
    table.play(f"""
        C1 hit {PAIR}; lines: wait, {"done" if envy == "paid" else "wait"}
        C1 validated {PAIR}; lines: pay, {"pay" if envy == "rejected" else "done"}
    """)


PAID = f"service pays {HAND_PAY}; start; {ROUND}"
AGENTS = {
    f"until its own win{' is reopened and' * bool(reopened)} {final}, its table is held": f"""
        {PAID}; answer held: C1; {reopened} status: held; begin wager 1 progressive; C1 validated
        C2 {final}; C1 {final} table=T-9; hellos 2; waits: 1; C1 {final}; answered
    """
    for final in ("paid", "rejected")
    for reopened in ("", "C1 rejected; phase: open; C1 hit; phase: held;")
} | {
    "a reopening while the agent was away comes with the hello, and stays": f"""
        {PAID}; C1 rejected; phase: open; stop; service tells C1 hit; start; phase: held
        start; phase: held
    """,
    "the first message about a win, which came before a late reply, does not reopen it": f"""
        start; {ROUND.removesuffix("; settle")}; service pays {HAND_PAY}
        service is answering false; begin settle; numbers: 1, 2; C1 hit; service is answering true
        answered; answer held: C1; C1 rejected; phase: open; wager 1 progressive
        withdraw 1 progressive; phase: open
    """,
}


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize("story", AGENTS.values(), ids=AGENTS)
async def test_an_agent_hears_what_becomes_of_its_hand_pay(table: LiveTable, story: str) -> None:
    await table.live(story)
