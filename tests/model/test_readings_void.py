"""The readings on void rounds, and on which text is law, applied by the service."""

import pytest

from meters.floor.floor_file import parse_floor
from tests.floor_text import table_text
from tests.model.pit import BONUS, FLOOR, PROGRESSIVE, Pit

ROYAL = "As Ks Qs"


@pytest.mark.reading("void")
@pytest.mark.reading("T28")
@pytest.mark.section("649a.13")
async def test_reading_void_takes_off_again_what_the_round_added_recorded(pit: Pit) -> None:
    before = {name: micros for name, micros in (await pit.accounts()).items() if micros}
    await pit.wagers({1: f"{PROGRESSIVE} {BONUS}", 2: PROGRESSIVE})
    reply = await pit.void()
    assert reply.status == "accepted"
    after = {name: micros for name, micros in (await pit.accounts()).items() if micros}
    assert after == before
    wagers, void = (await pit.entries())[-2:]
    assert (wagers["kind"], void["kind"]) == ("wagers", "void")
    assert '"misdeal"' in void["event"]
    finding = await pit.audit()
    assert (finding.totals.wagers, finding.totals.contributions_micros) == (0, 0)
    assert finding.balanced


@pytest.mark.reading("which text")
@pytest.mark.parametrize("choice", ["A", "B", "C", "D"])
def test_reading_which_text_679a_is_offered_in_its_final_form(choice: str) -> None:
    """The 2015 proposal had two paytables of the Bad Beat Bonus. The final form has four."""
    paytables = {"bad_beat": choice}
    table = table_text("TCP-9", game="three_card_prime", positions=6, paytables=paytables)
    floor = parse_floor(FLOOR + table)
    assert floor.link[0].table[-1].paytables == {"bad_beat": choice}
