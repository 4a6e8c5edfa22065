"""The readings on void rounds, and on which text is law, applied by the service."""

import pytest

from meters.floor.floor_file import parse_floor
from tests.floor_text import table_text
from tests.model.pit import BONUS, CENT, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit

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


@pytest.mark.reading("void")
async def test_reading_void_after_the_meter_was_won_is_the_houses_and_spares_the_new_cycle(
    pit: Pit,
) -> None:
    await pit.wagers({1: f"{PROGRESSIVE} {FIVE_CARD}"})
    await pit.round({4: PROGRESSIVE}, {4: ROYAL}, table="T-2")
    house = (await pit.accounts())["house"]
    await pit.void()
    accounts = await pit.accounts()
    assert accounts["meter:progressive"] == 100_000 * CENT
    assert accounts["house"] == house - 140_000
    assert accounts["meter:five_card_progressive"] == 1_000_000 * CENT, "that one was not won"
    assert (await pit.audit()).balanced


@pytest.mark.reading("void")
@pytest.mark.parametrize("again", ["void", "result", "wagers"])
async def test_reading_void_round_with_a_result_cannot_be_voided_nor_a_void_one_settled(
    pit: Pit, again: str
) -> None:
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    before = await pit.accounts()
    reply = await pit.void()
    assert reply.error is not None
    assert reply.error.code == "round_over"
    await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    await pit.void(round_id="R2")
    if again == "void":
        reply = await pit.void(round_id="R2")
    elif again == "result":
        reply = await pit.result({1: ROYAL}, round_id="R2")
    else:
        reply = await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    assert reply.error is not None
    assert reply.error.code == "round_over"
    assert await pit.accounts() == before


@pytest.mark.reading("which text")
@pytest.mark.parametrize("choice", ["A", "B", "C", "D"])
def test_reading_which_text_679a_is_offered_in_its_final_form(choice: str) -> None:
    """The 2015 proposal had two paytables of the Bad Beat Bonus. The final form has four."""
    paytables = {"bad_beat": choice}
    table = table_text("TCP-9", game="three_card_prime", positions=6, paytables=paytables)
    floor = parse_floor(FLOOR + table)
    assert floor.link[0].table[-1].paytables == {"bad_beat": choice}
