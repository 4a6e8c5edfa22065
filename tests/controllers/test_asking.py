"""A correction that waits for a floorperson: retried automatically, through loss and restarts."""

import pytest
from structlog.testing import capture_logs

from tests.controllers.floors import HandTable
from tests.controllers.scripted import LiveTable
from tests.controllers.test_agent import ROUND
from tests.controllers.test_agent_panel import WIN

pytestmark = pytest.mark.duty("D17")

DEALT = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs"
DIFFERENT = f"{DEALT}; retract hand 3 reason=Mistyped; hand 3 9h 8h 7h; dealer 2c 7d 9s"
ASKING = f"start; service is confirming true; {DIFFERENT}"


@pytest.mark.parametrize("line", ["void", "settle"])
async def test_it_is_tried_with_new_numbers_until_a_floorperson_has_confirmed(
    table: LiveTable, line: str
) -> None:
    kind = "result" if line == "settle" else "void"
    with capture_logs() as lines:
        await table.live(f"""
            {ASKING}; begin {line} confirm=true; tries 3; asks: {line}; waits: 1
            service is decided "confirmed"; answered; phase: open; asks: none; refusal: none
            tried: wagers, {kind}; dense: yes
        """)
    tries = [one for one in table.service.applied if one["type"] == kind]
    assert len(tries) > 3
    assert all(one["confirm"] is True for one in tries)
    logged = [one["event"] for one in lines if one["log_level"] != "debug"]
    assert logged.count("confirmation awaited") == 1
    assert "event refused" not in logged


@pytest.mark.parametrize(
    "line", ["settle", "void", "hand 5 2c 3c 4d", "dealer 2c 7d 9s", "retract hand 3", "lockout"]
)
def test_a_table_that_asks_takes_nothing_but_the_withdrawal(line: str) -> None:
    """This holds by the table's rules alone, for every sender."""
    HandTable().play(f"""
        {DEALT}; service refuses unconfirmed; void confirm=true -> unconfirmed; asks: void
        {line} -> unconfirmed; withdraw_correction; asks: none
    """)


STORIES = {
    "a refusal is answered and shown, and the round goes on": f"""
        {ASKING}; begin void confirm=true; tries 3; asks: void; waits: 1
        service is decided "refused"; answered -> correction_refused; phase: dealt; asks: none
        refusal: void Ada refused this correction: Deal on; service is confirming false; settle
    """,
    "where the floor file wants it, a plain line waits too, and what follows": f"""
        {ASKING}; begin settle; tries 3; asks: settle; begin wager 3 progressive; tries 2; waits: 2
        service is decided "confirmed"; answered; answered; lit: 3 progressive
    """,
    "the panel is answered at once, and can withdraw": f"""
        {ASKING}; touch void -> unconfirmed; asked: void misdeal yes; tries 2
        touch settle -> unconfirmed; touch dealer 2c 7d 9s -> unconfirmed
        touch void -> unconfirmed; asks: void; touch withdraw_correction; asks: none; phase: dealt
        last applied: withdrawal; touch withdraw_correction -> nothing_asked
    """,
    "what was paid of a round before is ticked off meanwhile": f"""
        service pays {WIN}; start; {ROUND}; next; {ASKING.removeprefix("start; ")}
        begin void confirm=true; tries 3; C1 validated; claims wait: no; at once done R1 line=0
        waiting: none; asks: void; tries 2; service is decided "confirmed"; answered
        start; waiting: none; void confirm=true
    """,
    "it can be withdrawn while a try is on its way": f"""
        {ASKING}; touch settle -> unconfirmed; service is answering false; unanswered: settle
        begin at once withdraw_correction; service is answering true; answered
        asks: none; phase: dealt
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_a_correction_is_asked_for(table: LiveTable, story: str) -> None:
    await table.live(story)


async def test_a_line_without_confirm_is_sent_without_a_confirmation(table: LiveTable) -> None:
    await table.live(f"start; {DIFFERENT}; settle")
    assert "confirm" not in table.service.applied[-1]


TWO = "wager 3 progressive; wager 5 progressive; wager 5 five_card_progressive; lockout"
CORRECTING = f"start; service is confirming true; {TWO}"
TAKE_BACK, VOID = "correct_wager take_back 3 progressive", "void confirm=true"
FIVES = "5 progressive, 5 five_card_progressive"


@pytest.mark.parametrize(
    ("before", "line", "decided", "after"),
    [
        (ASKING, VOID, "confirmed", f"lit: none; start; {VOID}"),
        (ASKING, VOID, "refused", "lit: 3 progressive"),
        (CORRECTING, TAKE_BACK, "confirmed", f"lit: {FIVES}; chips 2"),
        (CORRECTING, TAKE_BACK, "refused", f"lit: 3 progressive, {FIVES}; chips 3"),
    ],
)
async def test_it_goes_on_after_a_restart(
    table: LiveTable, before: str, line: str, decided: str, after: str
) -> None:
    """Each try has a new number and the same content, and one of them counts.

    A device that repeats itself while it waits, or afterwards, hears that it was confirmed.
    """
    (what, *_), waits = line.split(), decided == "confirmed"
    await table.live(f"""
        {before}; begin {line}; tries 3; asks: {what}; waits: 1; give up; start; asks: {what}
        tries 2; {f"begin {line}; tries 2;" * waits} service is decided "{decided}"
        {"answered;" * waits} asks: none; {after}; tried: wagers, {what}; dense: yes
    """)
