"""The inbox in a real browser: what waits appears by itself, and is decided once."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest
from playwright.async_api import Browser, Error, Page, Route, expect

from meters.acts.claim_types import ClaimRow, Wagered
from meters.acts.meter_changes import Adjustment
from meters.web import streams
from tests.browsers import hold_clock, sees
from tests.floor_text import floor_text, link_text, meter_text
from tests.games.test_item_titles import TITLED
from tests.mqtt.relay import Relay
from tests.web.conftest import Sides
from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    account,
    answer,
    back,
    claim_card,
    claim_row,
    dialog,
    evaluated,
    go,
    opened,
    press,
    press_on,
    press_while,
    resize,
    type_sign_in,
)
from tests.web.stand import CLAIM, PIN, SMALL
from tests.web.test_floor_access import check_view

# Counts the tones of the chime, which nobody hears here.
COUNT_NOTES: Final = """
window.notes = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...at) { window.notes += 1; start.apply(this, at); };
"""
ANOTHER: Final = msgspec.structs.replace(ROYAL, claim="TCP-04-R13-1", round="R13")
EARLIER: Final = "Mon, 05 Jan 2026 12:00:00 GMT"
# The receipt's text, once it covers no act. Asked in the page: it is shown for ten seconds only.
ABOVE: Final = """() => {
  const [receipt, bar] = [".receipt", ".detail .acts-bar"].map((it) => document.querySelector(it));
  return receipt && bar && receipt.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top
    && receipt.textContent;
}"""
READ_SLIP: Final = """async (href) => {
  const answer = await fetch(href);
  const begins = (await answer.text()).slice(0, 5);
  return [answer.status, answer.headers.get("content-type"), begins];
}"""


async def validated_by_flo(room: FloorRoom) -> None:
    await room.stand.claims.decide(CLAIM.claim, "validate", "Flo")


@pytest.mark.duty("D5", proof=True)
async def test_a_win_is_shown_with_all_its_facts(room: FloorRoom) -> None:
    """The cards of the hand are ringed, others pale; the acts are below the evidence."""
    room.stand.claims.put(ROYAL)
    page = await room.signed_in("Flo", size="desk")
    pane = await claim_card(page, ROYAL)
    await sees(
        pane,
        "TCP-04", "Position 7", "104214", "Walter Ng", "$23,456.78", "100% of the meter",
        "Hand pay", "Royal flush of spades", "5 of 6 Progressive, $1.00", "Entry 21",
        "Tax documents needed", "$1,000.00", "649a.12(j)(1)", "EST",
        "5 value chips for 5 accepted wagers, counted before the cards",
        "electronic: Five Card Hand Bonus, Five Card Hand Bonus (dealer)",
        "Another person pays: the cards stay until then.",
    )  # fmt: skip
    cards = pane.locator(".cards-of")
    await expect(cards.locator("[data-mark=in]")).to_have_count(5)
    await expect(
        cards.get_by_role("img", name="jack of spades, in the winning hand")
    ).to_be_visible()
    await expect(
        cards.get_by_role("img", name="two of clubs, not in the winning hand")
    ).to_be_visible()
    await expect(cards.locator(".apart")).to_contain_text("Community: not in this wager")
    await expect(pane.locator("[data-own] th")).to_have_text("7 winsWalter Ng")
    await expect(pane.locator(".steps b")).to_have_text(
        ["Validate", "Slip", "Pay by hand", "Envy $2,000.00"]
    )
    await expect(pane.locator(".steps [aria-current=step]")).to_contain_text("a floorperson")
    await sees(await claim_card(page), "Win 1 of 2 of its round")
    await expect(await claim_card(page, SMALL)).not_to_contain_text("Tax documents")
    order = await page.locator(".list .row b").all_inner_texts()
    assert order == ["TCP-03 · Position 3", "TCP-04 · Position 7", "TCP-03 · Position 5"]
    await validated_by_flo(room)
    link = (await claim_card(page)).get_by_role("link", name="payout slip, PDF")
    href = await link.get_attribute("href")
    assert await page.evaluate(READ_SLIP, href) == [200, "application/pdf", "%PDF-"]
    assert await link.get_attribute("target") == "_blank"


async def test_a_win_arrives_without_a_reload_with_a_sound_until_this_is_switched_off(
    room: FloorRoom,
) -> None:
    page = await room.page()
    await page.add_init_script(COUNT_NOTES)
    await room.sign_in(page, "Flo")
    await page.evaluate("window.neverReloaded = true")
    await expect(page.locator(".list .row")).to_have_count(2)
    await expect(page.locator(".sound")).to_have_text("Sound is on")
    await go(page, "Wins")
    assert await page.evaluate("window.notes") == 0
    room.stand.claims.put(ROYAL)
    await expect(page.locator(".count")).to_have_text("3")
    await expect(page).to_have_title("(3) Floor · Keystone <Casino> & Resort")
    await expect(page.locator("[aria-live=polite]")).to_have_text(
        "New win: Table TCP-04, position 7, $23,456.78."
    )
    heard = await page.evaluate("window.notes")
    assert heard > 0
    await go(page, "Inbox")
    await expect(claim_row(page, ROYAL).get_by_text("New", exact=True)).to_be_visible()
    await account(page, "Sound is on")
    await expect(page.locator(".sound")).to_have_text("Sound is off")
    heard = await page.evaluate("window.notes")
    room.stand.claims.put(ANOTHER)
    await expect(claim_row(page, ANOTHER)).to_be_visible()
    assert await page.evaluate("[window.notes, window.neverReloaded]") == [heard, True]
    await page.reload()
    await expect(page.locator(".sound")).to_have_text("Sound is off")


@pytest.mark.slow
async def test_how_long_a_win_has_waited_is_loud_after_three_minutes(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    at = str(await evaluated(page, "new Date(api.now() - 173_000).toISOString()"))
    room.stand.claims.put(ROYAL, at=at)
    waited = claim_row(page, ROYAL).locator(".waited")
    await expect(waited).to_contain_text("2:5")
    await expect(waited).not_to_have_attribute("data-long", "")
    await expect(waited).to_have_attribute("data-long", "")
    await expect(waited).to_contain_text("3:0")
    await page.get_by_role("button", name="past 3 min").click()
    await expect(claim_row(page, ROYAL)).to_be_visible()


async def test_a_win_is_validated_by_one_press_beside_its_evidence(room: FloorRoom) -> None:
    """A second tap on its row and a second press are no decisions. No row has the button."""
    page = await room.signed_in("Flo", size="phone")
    await expect(claim_row(page).get_by_role("button")).to_have_count(0)
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    await (
        claim_row(page)
        .get_by_role("link")
        .evaluate("""async (it) => {
      it.click();
      while (!document.querySelector(".one-press")) await new Promise(requestAnimationFrame);
      document.querySelector(".one-press button").click();
      document.querySelector(".one-press").requestSubmit();
    }""")
    )
    pane = opened(page)
    button = pane.get_by_role("button", name="Validate $1,510.00")
    await expect(button).to_be_enabled()
    assert (sent, room.acts) == ([], [])
    await button.evaluate("(it) => { it.click(); it.form.requestSubmit(); it.click(); }")
    receipt = await (await page.wait_for_function(ABOVE)).json_value()
    for part in ("Validated $1,510.00, TCP-03 · Position 3", "Print", "Open"):
        assert part in receipt
    await expect(pane).to_contain_text("Validated by Flo")
    await expect(pane.locator("h2")).to_be_focused()
    assert len(sent) == 1
    await claim_card(page, SMALL)
    await expect(page.locator(".receipt")).to_have_count(0)
    # What is not paid by hand is done once it is validated.
    await press_on(page, "Validate", SMALL)
    await sees(opened(page, SMALL), "Validated by Flo")
    await back(page)
    await expect(claim_row(page, SMALL)).to_have_count(0)
    await expect(page.locator(".count")).to_have_text("1")
    assert room.acts == [("c1", "validate", "Flo"), ("c2", "validate", "Flo")]


async def test_a_rejection_needs_a_reason_and_says_whether_envy_is_due(room: FloorRoom) -> None:
    room.stand.claims.put(ROYAL)
    page = await room.signed_in("Flo")
    alert = dialog(page).get_by_role("alert")
    await press_on(page, "Reject")
    await answer(page, "Reject $1,510.00")
    await expect(alert).to_have_text("Say why.")
    await dialog(page).get_by_text("Hand misread").click()
    await answer(page, "Reject $1,510.00")
    await expect(alert).to_contain_text("Envy Bonuses are due")
    await dialog(page).get_by_text("The hand was not as entered").click()
    await answer(page, "Reject $1,510.00")
    await expect(claim_row(page)).to_have_count(0)
    await press_on(page, "Reject", ROYAL)
    await dialog(page).get_by_text("The light was out").click()
    await dialog(page).get_by_text("The hand is as entered: Envy Bonuses are due").click()
    await answer(page, "Reject $23,456.78")
    await expect(opened(page, ROYAL).locator(".chip")).to_have_text("Envy to be paid")
    await expect(claim_row(page, ROYAL).locator(".sum")).to_have_text("$2,000.00")
    await press_on(page, "Reject", SMALL)
    await expect(dialog(page)).not_to_contain_text("Envy")
    await dialog(page).get_by_text("Another reason").click()
    await answer(page, "Reject $70.00")
    await expect(alert).to_have_text("Say why, in your words.")
    await dialog(page).get_by_label("In your words").fill("Played <out> of turn")
    await answer(page, "Reject $70.00")
    await expect(claim_row(page, SMALL)).to_have_count(0)
    assert room.stand.claims.acts == [
        ("c1", "reject", "Flo", "Hand misread", None, True),
        (ROYAL.claim, "reject", "Flo", "The light was out", None, False),
        ("c2", "reject", "Flo", "Played <out> of turn", None, False),
    ]


async def test_a_rejection_names_the_other_wins_of_the_round_that_wait(room: FloorRoom) -> None:
    claims = room.stand.claims
    claims.put(claims.claims["c2"], item="six_card_bonus", item_name="Six Card Bonus")
    claims.put(claims.claims["c2"], claim="c3", table="TCP-04")
    claims.put(claims.claims["c2"], claim="c4", round="R8")
    page = await room.signed_in("Flo")
    await press_on(page, "Reject")
    others = dialog(page).locator(".others li")
    await expect(others).to_have_text(["Position 5: Six Card Bonus $70.00"])
    claims.put(claims.claims["c2"], state="validated")
    await answer(page, "Cancel")
    await press_on(page, "Reject")
    await expect(dialog(page)).to_contain_text("Why?")
    await expect(others).to_have_count(0)


@pytest.mark.section("649a.11(c)(5)(v)")
async def test_another_person_pays_with_the_number_of_the_slip(room: FloorRoom) -> None:
    """Duty D4: the person who validated it sees why they cannot pay it. Envy is asked about."""
    await validated_by_flo(room)
    flo, finn = await room.signed_in("Flo"), await room.signed_in("Finn", size="phone")
    await sees(claim_row(flo), "You validated: another person pays")
    await sees(await claim_card(flo), "You validated it: another person must pay it.")
    await expect(opened(flo).locator(".acts-bar .go")).to_contain_text("Slip")
    await expect(opened(flo).locator(".pay-form")).to_have_count(0)
    pane = await claim_card(finn)
    await sees(pane, "Tax documents are needed before this is paid", "validated by Flo")
    await press(pane, "Paid $1,510.00")
    await expect(pane.locator(".acts-bar").get_by_role("alert")).to_contain_text("slip is needed")
    await pane.get_by_label("Number of the payout slip").fill("PS-00412")
    await press(pane, "Paid $1,510.00")
    await expect(pane.get_by_role("alert")).to_contain_text("Envy Bonuses are paid")
    assert room.acts == [("c1", "validate", "Flo")]
    await pane.get_by_text("The table has paid them").click()
    await press(pane, "Paid $1,510.00")
    await sees(finn.locator(".receipt"), "Paid $1,510.00, slip PS-00412")
    await sees(opened(finn), "Paid by Finn, slip PS-00412")
    await expect(claim_row(flo)).to_have_count(0)
    assert room.stand.claims.acts[-1] == ("c1", "pay", "Finn", None, "PS-00412", False)
    assert room.stand.claims.claims["c1"].envy_state == "paid"


async def test_a_second_person_who_comes_too_late_is_told_so_and_does_nothing_twice(
    room: FloorRoom,
) -> None:
    """That is a receipt, no error: the pane then shows what was done, and what comes next."""
    waiting: list[str] = []

    async def answer_as_at_first(route: Route) -> None:
        """Keep a read that began before the colleague's act from showing it."""
        if not waiting:
            waiting.append(await (await route.fetch()).text())
        await route.fulfill(body=waiting[0], content_type="application/json")

    page = await room.page("desk")
    await page.route("**/api/v1/claims", answer_as_at_first)
    await room.sign_in(page, "Finn")
    await expect(claim_row(page)).to_be_visible()
    await page.route("**/api/v1/claims", lambda route: route.abort())
    await validated_by_flo(room)
    await press_on(page, "Validate")
    await sees(page.locator(".receipt"), "TCP-03 · Position 3: Validated already by Flo", "Open")
    await expect(dialog(page)).to_have_count(0)
    await page.unroute("**/api/v1/claims")
    await sees(opened(page), "Paid $1,510.00")
    assert room.acts == [("c1", "validate", "Flo")]


async def test_an_open_question_ends_when_a_colleague_is_faster(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press_on(page, "Reject")
    await expect(dialog(page)).to_be_visible()
    await validated_by_flo(room)
    await expect(dialog(page)).to_have_count(0)
    await sees(page.locator(".receipt[data-late]"), "Validated already by Flo")


@pytest.mark.slow
async def test_a_finger_does_not_hold_a_receipt(room: FloorRoom) -> None:
    page = await room.page("phone")
    await hold_clock(page, datetime.now(UTC))
    await room.sign_in(page, "Flo")
    await claim_card(page)
    await page.clock.run_for(500)
    await press_on(page, "Validate")
    await expect(page.locator(".receipt")).to_be_visible()
    await page.locator(".receipt p").tap()
    await page.clock.run_for(10_000)
    await expect(page.locator(".receipt")).to_have_count(0)


async def test_the_keys_go_through_the_list_and_press_the_first_act(room: FloorRoom) -> None:
    """V only leads to the button, and Enter presses it once. The keys can be switched off."""
    room.stand.claims.put(ROYAL)
    page = await room.signed_in("Flo", size="desk")
    await expect(opened(page)).to_be_visible()
    for key, row in (("j", ROYAL), ("j", SMALL), ("j", SMALL), ("k", ROYAL), ("k", CLAIM)):
        await page.keyboard.press(key)
        await expect(opened(page, row)).to_be_visible()
        await expect(claim_row(page, row).get_by_role("link")).to_be_focused()
    button = opened(page).get_by_role("button", name="Validate $1,510.00")
    await expect(button).to_be_enabled()
    for _ in range(2):
        await page.keyboard.press("v")
        await expect(button).to_be_focused()
    await expect(button).to_have_css("outline-style", "solid")
    for row in (ROYAL, SMALL):
        await page.keyboard.press("j")
        await expect(opened(page, row)).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(opened(page, SMALL).locator("h2")).to_be_focused()
    await page.keyboard.press("/")
    await page.keyboard.type("jv")
    await account(page, "Keys are on")
    await page.keyboard.press("Escape")
    await page.keyboard.press("v")
    await expect(opened(page, SMALL).locator("[data-key=v]")).not_to_be_focused()
    assert room.acts == []
    await account(page, "Keys are off")
    await page.keyboard.press("Escape")
    await page.locator(".find input").fill("")
    await claim_card(page)
    await expect(button).to_be_enabled()
    await page.locator(".detail h2").focus()
    for key in ("v", "Enter", "Enter"):
        await page.keyboard.press(key)
    await expect(opened(page)).to_contain_text("Validated by Flo")
    await expect(opened(page).locator("[data-key=v]")).to_have_count(0)
    assert room.acts == [("c1", "validate", "Flo")]
    await expect(page.locator("[data-group=pay] .row")).to_have_count(1)
    await page.keyboard.press("j")
    await expect(opened(page, ROYAL)).to_be_visible()


@pytest.mark.slow
async def test_a_press_during_which_a_win_goes_counts(room: FloorRoom) -> None:
    """A colleague's decision removes a card. The cards below do not move under the finger."""
    earlier = msgspec.structs.replace(CLAIM, claim="TCP-01-R3-1", table="TCP-01")
    room.stand.claims.claims = {earlier.claim: earlier} | room.stand.claims.claims
    page = await room.page()
    await hold_clock(page, datetime.now(UTC))
    await room.sign_in(page, "Flo")

    async def reject() -> None:
        await room.stand.claims.decide(
            earlier.claim, "reject", "Finn", reason="misdealt", envy_not_due=True
        )

    button = (await claim_card(page)).get_by_role("button", name="Validate")
    await page.clock.run_for(500)
    await press_while(page, button, "claims", reject)
    await page.clock.run_for(1)
    await expect(claim_row(page, earlier)).to_have_count(0)
    await expect(opened(page)).to_contain_text("Validated by Flo")


@pytest.mark.slow
async def test_a_missing_answer_is_reported_as_such(room: FloorRoom) -> None:
    page = await room.page()
    await page.clock.install()
    await room.sign_in(page, "Flo")
    asked: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/validate", asked.put)
    await press_on(page, "Validate")
    await asked.get()
    await page.clock.fast_forward("00:08")
    await expect(opened(page).get_by_role("alert")).to_have_text(
        "No answer. The act may or may not have been done: check the list."
    )
    await expect(opened(page).get_by_role("button", name="Validate")).to_be_enabled()
    await validated_by_flo(room)
    await expect(opened(page)).to_contain_text("Validated by Flo")


async def old(page: Page) -> None:
    await expect(page.locator(".line")).to_contain_text("What you see may be old")


async def current(page: Page, *wins: str) -> None:
    for claim in wins:
        await expect(page.locator(f'.row[data-claim="{claim}"]')).to_be_visible(timeout=15_000)
    await expect(page.locator(".line")).to_be_hidden()


async def test_a_lost_connection_and_a_stopped_service_are_reported_and_found_again(
    room: FloorRoom,
) -> None:
    """Answers after the loss come late, so the page takes the service's clock to be behind."""

    async def late(route: Route) -> None:
        try:
            answer = await route.fetch()
        except Error:  # the service has stopped
            await route.abort()
        else:
            await route.fulfill(response=answer, headers={**answer.headers, "date": EARLIER})

    page = await room.signed_in("Flo")
    await current(page, "c1", "c2")
    await page.context.set_offline(True)
    await old(page)
    room.stand.claims.put(ROYAL)
    await page.route("**/api/v1/claims", late)
    await page.context.set_offline(False)
    await current(page, ROYAL.claim)
    await room.stand.stop()
    await old(page)
    room.stand.claims.put(ANOTHER)
    await room.stand.start()
    await current(page, ANOTHER.claim)
    await expect(page.locator(".who")).to_contain_text("Flo")


@pytest.mark.slow
async def test_a_line_that_died_without_a_word_is_found_out(
    room: FloorRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream looks open but delivers nothing, and no request is answered.

    The page must say so within five seconds of its own time, which the test controls.
    """
    monkeypatch.setattr(streams, "CHANGES_HEARTBEAT_S", 600.0)
    page = await room.page()
    await hold_clock(page, datetime.now(UTC))
    await room.sign_in(page, "Flo")
    await expect(page.locator(".list .row")).to_have_count(2)
    room.stand.claims.put(ROYAL)
    await expect(claim_row(page, ROYAL)).to_be_visible()
    await page.route("**/api/v1/**", lambda _: None)
    await page.clock.run_for(5_000)
    await old(page)


@pytest.mark.slow
async def test_a_connection_that_died_without_a_word_is_opened_again(room: FloorRoom) -> None:
    page = await room.page()
    async with Relay(room.stand.port).running() as relay:
        await page.goto(f"http://127.0.0.1:{relay.port}/floor")
        await type_sign_in(page, "Flo")
        await current(page, "c1", "c2")
        relay.swallow()
        await old(page)
        room.stand.claims.put(ROYAL)
        await current(page, ROYAL.claim)
        # Polling shows the first claim, so only the stream can have shown the second.
        room.stand.claims.put(ANOTHER)
        await current(page, ANOTHER.claim)
        await page.close()


@pytest.mark.slow
async def test_items_of_a_house_game_have_their_titles(
    sides: Sides, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "stud.toml").write_text(TITLED)
    tiers = (meter_text(f"keystone_{tier}") for tier in ("mega", "major", "minor"))
    won = msgspec.structs.replace(
        ROYAL, item="keystone_mega_jackpot", item_name="Mega Jackpot", envy=(),
        wagers=(Wagered(position=7, patron=None, wagers={"keystone_bonus": 100}),),
    )  # fmt: skip
    floor = floor_text(link_text("tcp-main", *tiers), games=str(tmp_path))
    room = FloorRoom(await sides(floor), browser)
    page = await room.signed_in("Flo")
    room.stand.claims.put(won)
    pane = await claim_card(page, won)
    await sees(pane, "Mega Jackpot", "$1.00 each")
    await expect(pane.get_by_title("Key Wager")).to_be_visible()


async def test_a_share_of_a_meter_names_the_hand_that_brings_it(room: FloorRoom) -> None:
    share = msgspec.structs.replace(
        ROYAL, item="mega_community_share", item_name="Mega Community Share", percent=10,
        hand_of=5, position=2, envy=(),
    )  # fmt: skip
    page = await room.signed_in("Flo")
    room.stand.claims.put(share)
    pane = await claim_card(page, share)
    await sees(pane, "10% of the meter · for the hand of position 5")
    await expect(pane.locator(".cards-of .hand .of").first).to_have_text("Position 5")


WINS: Final = 27


def win(number: int, of: ClaimRow = SMALL, **fields: object) -> ClaimRow:
    """Return a waiting win; three wins are of one round, and two of these of one hand."""
    made = {
        "claim": f"w{number}", "order": str(100 + number), "turn": number % 3 + 1, "turns": 3,
        "table": f"TCP-{number // 3:02}", "round": f"R{number // 3}",
        "position": 3 if number % 3 == 1 else 5, "amount": 7_000 + number,
    }  # fmt: skip
    return msgspec.convert(msgspec.to_builtins(of) | made | fields, ClaimRow)


def fill(room: FloorRoom) -> None:
    """Have many wins wait: one to pay, one hand pay to validate, and four of Envy Bonuses alone."""
    rows = [win(number) for number in range(WINS)]
    rows[4] = win(4, CLAIM, amount=90_000, hand_record="R1-3")
    rows[12] = win(12, ROYAL, amount=2_345_678, state="validated", validated_by="Finn")
    for number in range(20, 24):
        rows[number] = win(number, CLAIM, state="paid", envy_state="validated")
    room.stand.claims.claims = {row.claim: row for row in rows}


async def shown(page: Page) -> list[str]:
    rows = page.locator(".list .row")
    return [str(await row.get_attribute("data-claim")) for row in await rows.all()]


@pytest.mark.slow
async def test_many_rows_are_in_groups_and_envy_bonuses_are_one_sum(room: FloorRoom) -> None:
    """What a table waits for is first. The first row is open, and stays open."""
    fill(room)
    page = await room.page("desk", "/floor", bypass_csp=True)
    await type_sign_in(page, "Flo")
    await expect(page.locator(".list .row").first.get_by_role("link")).to_be_focused()
    heads = page.locator(".list .group h2")
    await expect(heads).to_have_text(
        [
            "Hand pays to validate 1",
            "Pay 1",
            "Other wins to validate 21",
            "Envy owed by tables $400.00",
        ]
    )
    assert (await shown(page))[:3] == ["w4", "w12", "w0"]
    await expect(opened(page, win(4))).to_be_visible()
    room.stand.claims.put(win(40, ROYAL, amount=9_999_999))
    await expect(heads.first).to_have_text("Hand pays to validate 2")
    assert (await shown(page))[:2] == ["w4", "w40"]
    await expect(opened(page, win(4))).to_be_visible()
    await press(page.locator("[data-group=envy]"), "4 hands, 4 players: show")
    await expect(page.locator("[data-group=envy] .row")).to_have_count(4)
    await sees(claim_row(page, win(20)), "TCP-06 · 1 player", "$100.00", "hand of position 5")
    for size in ("desk", "tablet", "phone"):
        await resize(page, size)
        await check_view(page)
    await press(page, "1 pay")
    await expect(page.locator(".list .row")).to_have_count(1)


async def test_rows_are_found_by_words(room: FloorRoom) -> None:
    fill(room)
    page = await room.signed_in("Flo")
    search = page.get_by_label("Search the list")
    for words, found in (
        ("walter", ["w12"]), ("mini-royal TCP-01", ["w4"]), ("position 3 tcp-02", ["w7"]),
        ("$70.08", ["w8"]), ("no such", []),
    ):  # fmt: skip
        await search.fill(words)
        await expect(page.locator(".list .row")).to_have_count(len(found))
        assert await shown(page) == found
    await expect(page.get_by_text("Nothing in the list matches.")).to_be_visible()


@pytest.mark.duty("D12")
async def test_a_proposal_of_somebody_else_waits_in_the_inbox_of_those_who_may_decide(
    room: FloorRoom,
) -> None:
    """It counts and is heard. The person who made it sees who may confirm it."""
    sam = await room.signed_in("Sam", size="desk")
    await expect(page_count := sam.locator(".count")).to_have_text("2")
    change = Adjustment(meter="progressive", amount=2_350, reason="A sensor counted twice")
    made = await room.stand.links.propose("tcp-main", "Sue", change)
    await expect(page_count).to_have_text("3")
    await sees(sam.locator("[aria-live=polite]"), "Proposal: Three Card Poker Jackpot")
    await sam.locator(f'.list [data-proposal="{made.proposal}"] a').click()
    pane = sam.locator(f'.detail[data-proposal="{made.proposal}"]')
    await sees(pane, "adjusted by +$23.50", "After$1,147.12", "Proposed by Sue")
    sue = await room.signed_in("Sue", size="desk")
    await sue.locator(f'.list [data-proposal="{made.proposal}"] a').click()
    own = sue.locator(".detail.change")
    await sees(own, "You proposed it: another person confirms.")
    await expect(own.get_by_role("button")).to_have_text(["Colleague confirms", "Withdraw"])
    await press(own, "Colleague confirms")
    await dialog(sue).get_by_label("Name of the colleague").fill("Sam")
    await dialog(sue).get_by_label("PIN of the colleague").fill(PIN)
    await answer(sue, "Confirm")
    await expect(page_count).to_have_text("2")
    assert room.stand.links.done[-1] == ("adjust", "tcp-main", "Sam", made.proposal)
