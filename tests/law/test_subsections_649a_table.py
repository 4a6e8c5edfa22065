"""Chapter 649a by subsection: the parts that the table carries out."""

import pytest

from tests.controllers.floors import HandTable


@pytest.mark.section("649a.7(c)", "649a.2(c)(2)", "649a.2(d)", proof=True)
@pytest.mark.parametrize("wager", ["progressive", "five_card_hand_bonus"])
def test_no_wager_is_made_or_withdrawn_after_no_more_bets(wager: str) -> None:
    for event in (f"wager 2 {wager}", f"withdraw 1 {wager}"):
        before, after = HandTable(), HandTable()
        before.say_all(f"wager 1 {wager}")
        assert before.say_short(event).ok
        after.say_all(f"wager 1 {wager}; lockout")
        assert not after.say_short(event).ok
