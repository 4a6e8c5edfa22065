"""A long list of waiting wins: by round and hand, in short rows, with a search."""

from typing import Final

import msgspec
import pytest
from playwright.async_api import Page, expect

from meters.floor_api.types import ClaimRow
from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    answer,
    check_accessible,
    claim_card,
    dialog,
    press,
    press_while,
    type_sign_in,
)
from tests.web.in_memory import CLAIM, SMALL
from tests.web.test_floor_access import check_view

WINS: Final = 27
HIGHEST_PX: Final = 4_000
"""Largest height of the page with these wins on a phone, in CSS pixels."""


def win(number: int, of: ClaimRow = SMALL, **fields: object) -> ClaimRow:
    """Return a waiting win; three wins are of one round, and two of these of one hand."""
    made = {
        "claim": f"w{number}", "order": str(100 + number), "turn": number % 3 + 1, "turns": 3,
        "table": f"TCP-{number // 3:02}", "round": f"R{number // 3}",
        "position": 3 if number % 3 == 1 else 5, "amount": 7_000 + number,
    }  # fmt: skip
    return msgspec.convert(msgspec.to_builtins(of) | made | fields, ClaimRow)


def fill(room: FloorRoom) -> None:
    """Have many wins wait. The largest are of the rounds R4 and R1."""
    rows = [win(number) for number in range(WINS)]
    rows[4] = win(4, CLAIM, amount=90_000, hand_record="R1-3")
    rows[12] = win(12, ROYAL, amount=2_345_678, state="validated", validated_by="Finn")
    room.stand.claims.claims = {row.claim: row for row in rows}


async def shown(page: Page) -> list[str]:
    rows = page.locator(".claim")
    return [str(await row.get_attribute("data-claim")) for row in await rows.all()]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["phone", "tablet", "desk"])
async def test_many_wins_are_short_rows_in_their_rounds_the_largest_first(
    room: FloorRoom, size: str
) -> None:
    fill(room)
    page = await room.signed_in("Flo", size=size, bypass_csp=True)
    await expect(page.locator(".claim.closed")).to_have_count(WINS)
    assert (await shown(page))[:6] == ["w12", "w14", "w13", "w3", "w5", "w4"]
    assert await page.evaluate("document.documentElement.scrollHeight") <= HIGHEST_PX
    first = page.locator(".round").first
    await expect(first.locator(".round-head")).to_have_text(
        "TCP-04 · Round R4 3 wins: $23,597.05 + Envy $100.00"
    )
    await expect(claim_card(page, win(4))).to_contain_text("+ Envy $100.00")
    await check_view(page)


@pytest.mark.slow
async def test_a_row_opens_with_everything_and_closes_again(room: FloorRoom) -> None:
    fill(room)
    page = await room.signed_in("Flo", size="phone", bypass_csp=True)
    row = claim_card(page, win(4))
    head = row.locator("h2 button")
    await head.click()
    await expect(row).to_contain_text("Envy Bonuses: owed once the win is decided")
    await expect(row.locator("h2")).to_be_focused()
    await expect(row.get_by_role("img", name="ace of spades")).to_be_visible()
    await expect(row.get_by_role("button", name="Reject")).to_be_visible()
    await check_accessible(page)
    await press(row, "Show less")
    await expect(head).to_be_focused()
    await expect(row.get_by_role("img")).to_have_count(0)
    await row.get_by_role("button", name="Validate: ").click()
    await answer(page, "Validate $900.00")
    await expect(row).to_contain_text("To be paid")
    assert room.acts == [("w4", "validate", "Flo")]


async def test_wins_are_found_by_words_and_state(room: FloorRoom) -> None:
    fill(room)
    page = await room.signed_in("Flo")
    search = page.get_by_label("Search the list")
    for words, found in (
        ("walter", ["w12"]), ("mini-royal TCP-01", ["w4"]), ("position 3 tcp-02", ["w7"]),
        ("$70.08", ["w8"]), ("no such", []),
    ):  # fmt: skip
        await search.fill(words)
        await expect(page.locator(".claim")).to_have_count(len(found))
        assert await shown(page) == found
    await expect(page.get_by_text("Nothing in the list matches.")).to_be_visible()
    await expect(page.locator(".count")).to_have_text(str(WINS))
    await search.fill("")
    await page.get_by_label("State", exact=True).select_option("To be paid")
    await expect(page.locator(".claim")).to_have_count(1)
    room.stand.claims.put(win(30, state="validated", validated_by="Finn", paid_from="hand_pay"))
    await expect(page.locator(".claim")).to_have_count(2)


@pytest.mark.slow
async def test_a_win_that_arrives_opens_or_closes_no_other(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await expect(page.locator(".claim")).to_have_count(2)
    for number in range(6):
        room.stand.claims.put(win(number))
        await expect(claim_card(page, win(number))).to_be_visible()
    await expect(page.locator(".claim.closed")).to_have_count(4)
    await expect(claim_card(page, CLAIM).get_by_role("button", name="Reject")).to_be_visible()


@pytest.mark.slow
async def test_a_larger_win_does_not_move_rows_under_a_finger(room: FloorRoom) -> None:
    """The round of the larger win is shown above, once the finger is lifted."""
    page = await room.signed_in("Flo")
    button = claim_card(page).get_by_role("button", name="Validate")
    await press_while(page, button, "claims", lambda: room.stand.claims.put(ROYAL))
    await expect(dialog(page)).to_contain_text(CLAIM.table)
    await expect(page.locator(".claim").first).to_have_attribute("data-claim", ROYAL.claim)


@pytest.mark.slow
@pytest.mark.parametrize("wins", [2, WINS])
async def test_the_focus_is_on_the_first_win_after_the_sign_in(room: FloorRoom, wins: int) -> None:
    if wins == WINS:
        fill(room)
    page = await room.page("desk")
    await page.goto(f"{room.stand.url}/floor")
    await type_sign_in(page, "Flo")
    await expect(page.locator(".claim")).to_have_count(wins)
    focused = page.locator(".claim").first.locator("h2 button" if wins == WINS else "h2")
    await expect(focused).to_be_focused()
    await page.keyboard.press("Tab")
    next_one = page.locator(".claim").first.get_by_role(
        "button", name="Pay" if wins == WINS else "Validate"
    )
    await expect(next_one.last).to_be_focused()
