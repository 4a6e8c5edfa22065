"""Waiting claims in a real browser: each appears by itself, and is decided once."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest
from playwright.async_api import Browser, Page, Route, expect

from meters.floor_api.types import Wagered
from meters.web.api import changes as changes_module
from tests.browsers import Finger, hold_clock
from tests.floor_text import floor_text, link_text, meter_text
from tests.games.test_item_titles import TITLED
from tests.mqtt.relay import Relay
from tests.servers import RedisServer
from tests.waiting import eventually_async
from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    answer,
    claim_card,
    dialog,
    evaluated,
    floor_room,
    go,
    press,
    type_sign_in,
)
from tests.web.stand import CLAIM, SMALL

# Counts the tones of the chime, which nobody hears here.
COUNT_NOTES: Final = """
window.notes = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...at) { window.notes += 1; start.apply(this, at); };
"""


def acts_of(room: FloorRoom) -> list[tuple[str, str, str]]:
    return [(claim, act, actor) for claim, act, actor, *_ in room.stand.claims.acts]


async def validated_by_flo(room: FloorRoom) -> None:
    await room.stand.claims.decide(CLAIM.claim, "validate", "Flo")


@pytest.mark.duty("D5")
async def test_a_win_is_shown_with_all_its_facts(room: FloorRoom) -> None:
    """The person who decides sees the win, its hand, the order of wins, and the evidence."""
    room.stand.claims.put(ROYAL)
    page = await room.signed_in("Flo", size="desk")
    card = claim_card(page, ROYAL)
    for text in (
        "TCP-04", "Position 7", "asset 104214", "patron Walter Ng", "$23,456.78",
        "100% of the meter", "Hand pay", "Royal flush of spades", "5 of 6 Progressive, $1.00",
        "Entry 21", "Tax documents are needed before this is paid", "Position 5 (p5)",
        "$1,000.00", "Five Card Hand Bonus (dealer)",
    ):  # fmt: skip
        await expect(card).to_contain_text(text)
    await expect(card.get_by_role("img")).to_have_count(8)
    await expect(card.get_by_role("img", name="jack of spades")).to_be_visible()
    await expect(claim_card(page, CLAIM)).to_contain_text("Win 1 of 2 of its round")
    await expect(claim_card(page, SMALL)).not_to_contain_text("Tax documents")
    order = await page.locator(".claim h2").all_inner_texts()
    assert order == ["TCP-04 Position 7", "TCP-03 Position 3", "TCP-03 Position 5"]


async def test_a_win_arrives_without_a_reload_with_a_sound(room: FloorRoom) -> None:
    page = await room.page()
    await page.add_init_script(COUNT_NOTES)
    await room.sign_in(page, "Flo")
    await page.evaluate("window.neverReloaded = true")
    await expect(page.locator(".claim")).to_have_count(2)
    await expect(page.locator(".sound")).to_have_text("Sound on")
    await go(page, "Wins")
    assert await page.evaluate("window.notes") == 0
    room.stand.claims.put(ROYAL)
    await expect(page.locator(".count")).to_have_text("3")
    await expect(page).to_have_title("(3) Floor · Keystone <Casino> & Resort")
    await expect(page.locator("[aria-live=polite]")).to_have_text(
        "New win: Table TCP-04, position 7, $23,456.78."
    )
    assert await page.evaluate("window.notes") > 0
    await go(page, "Waiting")
    await expect(claim_card(page, ROYAL).get_by_text("New", exact=True)).to_be_visible()
    assert await page.evaluate("window.neverReloaded")


@pytest.mark.slow
async def test_the_sound_can_be_switched_off_and_stays_off(room: FloorRoom) -> None:
    page = await room.page()
    await page.add_init_script(COUNT_NOTES)
    await room.sign_in(page, "Flo")
    await expect(page.locator(".sound")).to_have_text("Sound on")
    await page.locator(".sound").click()
    await expect(page.locator(".sound")).to_have_text("Sound off")
    room.stand.claims.put(ROYAL)
    await expect(claim_card(page, ROYAL)).to_be_visible()
    assert await page.evaluate("window.notes") == 0
    await page.reload()
    await expect(page.locator(".sound")).to_have_text("Sound off")


@pytest.mark.slow
async def test_how_long_a_win_has_waited_is_loud_after_three_minutes(room: FloorRoom) -> None:
    page = await room.page()
    await page.clock.install()
    await room.sign_in(page, "Flo")
    at = str(await evaluated(page, "new Date(api.now() - 122_000).toISOString()"))
    room.stand.claims.put(msgspec.structs.replace(ROYAL, at=at))
    waited = claim_card(page, ROYAL).locator(".waited")
    await expect(waited).to_contain_text("02:")
    await expect(waited).not_to_have_attribute("data-long", "")
    # The page is offline, so no answer shows that its clock has changed.
    await page.context.set_offline(True)
    await page.clock.fast_forward("01:00")
    await expect(waited).to_have_attribute("data-long", "")
    await expect(waited).to_contain_text("03:")


@pytest.mark.slow
async def test_a_win_is_validated_when_it_was_said_again(room: FloorRoom) -> None:
    page = await room.signed_in("Flo", size="phone")
    await press(claim_card(page, CLAIM), "Validate")
    for text in ("Table TCP-03, position 3", "$1,510.00", "another person pays it as a hand pay"):
        await expect(dialog(page)).to_contain_text(text)
    assert acts_of(room) == []
    await answer(page, "Validate $1,510.00")
    await expect(claim_card(page, CLAIM)).to_contain_text("Validated by Flo")
    await expect(dialog(page)).to_have_count(0)
    assert acts_of(room) == [("c1", "validate", "Flo")]


@pytest.mark.slow
async def test_what_is_not_paid_by_hand_is_done_once_validated(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, SMALL), "Validate")
    await answer(page, "Validate $70.00")
    await expect(claim_card(page, SMALL)).to_have_count(0)
    await expect(page.locator(".count")).to_have_text("1")


@pytest.mark.slow
async def test_escape_decides_nothing_and_gives_the_focus_back(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    button = claim_card(page, CLAIM).get_by_role("button", name="Validate")
    await button.focus()
    await page.keyboard.press("Enter")
    await expect(dialog(page)).to_be_visible()
    for _ in range(6):
        await page.keyboard.press("Tab")
        inside = (
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
        assert await page.evaluate(inside)
    await page.keyboard.press("Escape")
    await expect(dialog(page)).to_have_count(0)
    await expect(button).to_be_focused()
    assert acts_of(room) == []


@pytest.mark.slow
async def test_the_focus_returns_to_a_win_that_was_redrawn(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, CLAIM), "Validate")
    await expect(dialog(page)).to_be_visible()
    room.stand.claims.put(msgspec.structs.replace(CLAIM, patron="Walter Ng"))
    await expect(claim_card(page, CLAIM)).to_contain_text("Walter Ng")
    await page.keyboard.press("Escape")
    await expect(claim_card(page, CLAIM).get_by_role("button", name="Validate")).to_be_focused()


async def test_a_rejection_needs_a_reason_and_says_whether_envy_is_due(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, CLAIM), "Reject")
    await answer(page, "Reject $1,510.00")
    await expect(dialog(page).get_by_role("alert")).to_have_text("Say why.")
    await dialog(page).get_by_text("Hand misread").click()
    await answer(page, "Reject $1,510.00")
    await expect(dialog(page).get_by_role("alert")).to_contain_text("Envy Bonuses are due")
    await dialog(page).get_by_text("The hand was not as entered").click()
    await answer(page, "Reject $1,510.00")
    await expect(claim_card(page, CLAIM)).to_have_count(0)
    assert room.stand.claims.acts == [("c1", "reject", "Flo", "Hand misread", None, True)]


@pytest.mark.slow
async def test_a_hand_that_stands_leaves_the_envy_due(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, CLAIM), "Reject")
    await dialog(page).get_by_text("The light was out").click()
    await dialog(page).get_by_text("The hand is as entered: Envy Bonuses are due").click()
    await answer(page, "Reject $1,510.00")
    await expect(claim_card(page, CLAIM).locator(".chip")).to_have_text("Envy to be paid")
    assert room.stand.claims.acts == [("c1", "reject", "Flo", "The light was out", None, False)]


@pytest.mark.slow
async def test_without_envy_only_the_reason_is_asked_for(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, SMALL), "Reject")
    await expect(dialog(page)).not_to_contain_text("Envy")
    await dialog(page).get_by_text("Another reason").click()
    await answer(page, "Reject $70.00")
    await expect(dialog(page).get_by_role("alert")).to_have_text("Say why, in your words.")
    await dialog(page).get_by_label("In your words").fill("Played <out> of turn")
    await answer(page, "Reject $70.00")
    await expect(claim_card(page, SMALL)).to_have_count(0)
    assert room.stand.claims.acts == [("c2", "reject", "Flo", "Played <out> of turn", None, False)]


async def test_another_person_pays_with_the_number_of_the_slip(room: FloorRoom) -> None:
    """Duty D4: the person who validated it sees why they cannot pay it."""
    await validated_by_flo(room)
    flo, finn = await room.signed_in("Flo"), await room.signed_in("Finn", size="phone")
    await expect(claim_card(flo, CLAIM)).to_contain_text(
        "You validated it: another person must pay it."
    )
    await expect(claim_card(flo, CLAIM).get_by_role("button", name="Pay")).to_be_disabled()
    await press(claim_card(finn, CLAIM), "Pay")
    await expect(dialog(finn)).to_contain_text("Tax documents are needed before this is paid")
    await answer(finn, "Paid $1,510.00")
    await expect(dialog(finn).get_by_role("alert")).to_contain_text("slip is needed")
    await dialog(finn).get_by_label("Number of the payout slip").fill("PS-00412")
    await dialog(finn).get_by_text("The table has paid them").click()
    await answer(finn, "Paid $1,510.00")
    await expect(claim_card(finn, CLAIM)).to_have_count(0)
    await expect(claim_card(flo, CLAIM)).to_have_count(0)
    assert room.stand.claims.acts[-1] == ("c1", "pay", "Finn", None, "PS-00412", False)


@pytest.mark.slow
async def test_two_who_press_together_get_one_outcome_and_see_whose(room: FloorRoom) -> None:
    pages = [await room.signed_in("Flo"), await room.signed_in("Finn")]
    for page in pages:
        await press(claim_card(page, CLAIM), "Validate")
        await expect(dialog(page).get_by_role("button", name="Validate")).to_be_enabled()
    await asyncio.gather(*(answer(page, "Validate $1,510.00") for page in pages))
    ((_, _, first),) = await eventually_async(lambda: acts_of(room))
    second = pages[1] if first == "Flo" else pages[0]
    await expect(dialog(second).get_by_role("alert")).to_contain_text(
        f"already validated by {first}"
    )
    await expect(dialog(second).get_by_role("button", name="Validate")).to_have_count(0)
    await answer(second, "Close")
    for page in pages:
        await expect(claim_card(page, CLAIM)).to_contain_text(f"Validated by {first}")
        await expect(dialog(page)).to_have_count(0)
    assert len(acts_of(room)) == 1


@pytest.mark.slow
async def test_a_button_pressed_twice_sends_once(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    await press(claim_card(page, CLAIM), "Validate")
    button = dialog(page).get_by_role("button", name="Validate")
    await expect(button).to_be_enabled()
    await button.evaluate("(it) => { it.click(); it.form.requestSubmit(); it.click(); }")
    await expect(claim_card(page, CLAIM)).to_contain_text("Validated by Flo")
    assert len(sent) == 1


@pytest.mark.slow
async def test_a_second_tap_on_validate_is_no_confirmation(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    button = claim_card(page, CLAIM).get_by_role("button", name="Validate")
    await button.evaluate("""(it) => {
      it.click();
      const again = document.querySelector("dialog button.go");
      again.click();
      again.form.requestSubmit();
    }""")
    await expect(dialog(page).get_by_role("button", name="Validate")).to_be_enabled()
    assert acts_of(room) == []


@pytest.mark.slow
async def test_a_press_during_which_a_win_goes_counts(room: FloorRoom) -> None:
    """A colleague's decision removes a card. The cards below do not move under the finger."""
    earlier = msgspec.structs.replace(CLAIM, claim="TCP-01-R3-1", table="TCP-01")
    room.stand.claims.claims = {earlier.claim: earlier} | room.stand.claims.claims
    page = await room.page()
    await hold_clock(page, datetime.now(UTC))
    await room.sign_in(page, "Flo")
    button = claim_card(page, CLAIM).get_by_role("button", name="Validate")
    await button.scroll_into_view_if_needed()
    finger = Finger(page, "touch")
    await finger.down(button)
    async with page.expect_response("**/api/v1/claims") as read:
        await room.stand.claims.decide(
            earlier.claim, "reject", "Finn", reason="misdealt", envy_not_due=True
        )
    await (await read.value).finished()
    await evaluated(page, "await api.get('/api/v1/claims')")
    await finger.up()
    await expect(dialog(page)).to_contain_text(CLAIM.table)
    await page.clock.run_for(1)
    await expect(claim_card(page, earlier)).to_have_count(0)


@pytest.mark.slow
async def test_a_missing_answer_is_reported_as_such(room: FloorRoom) -> None:
    page = await room.page()
    await page.clock.install()
    await room.sign_in(page, "Flo")
    asked: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/validate", asked.put)
    await press(claim_card(page, CLAIM), "Validate")
    await answer(page, "Validate $1,510.00")
    await asked.get()
    await validated_by_flo(room)
    await page.clock.fast_forward("00:08")
    await expect(dialog(page).get_by_role("alert")).to_have_text(
        "No answer. It may or may not have been done: check the list."
    )
    await answer(page, "Close")
    await expect(claim_card(page, CLAIM)).to_contain_text("Validated by Flo")


async def old(page: Page) -> None:
    """Wait until the page says that its data may be old."""
    await expect(page.locator(".line")).to_contain_text("What you see may be old")


async def test_a_lost_connection_is_reported_and_restored(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await expect(page.locator(".claim")).to_have_count(2)
    await expect(page.locator(".line")).to_be_hidden()
    await page.context.set_offline(True)
    await old(page)
    room.stand.claims.put(ROYAL)
    await page.context.set_offline(False)
    await expect(claim_card(page, ROYAL)).to_be_visible()
    await expect(page.locator(".line")).to_be_hidden()


@pytest.mark.slow
async def test_a_line_that_died_without_a_word_is_found_out(
    room: FloorRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream looks open but delivers nothing, and no request is answered.

    The page must say so within five seconds of its own time, which the test controls.
    """
    monkeypatch.setattr(changes_module, "HEARTBEAT_S", 600.0)
    page = await room.page()
    await hold_clock(page, datetime.now(UTC))
    await room.sign_in(page, "Flo")
    await expect(page.locator(".claim")).to_have_count(2)
    room.stand.claims.put(ROYAL)
    await expect(claim_card(page, ROYAL)).to_be_visible()
    await page.route("**/api/v1/**", lambda _: None)
    await page.clock.run_for(5_000)
    await old(page)


@pytest.mark.slow
async def test_a_connection_that_died_without_a_word_is_opened_again(room: FloorRoom) -> None:
    page = await room.page()
    async with Relay(room.stand.port).running() as relay:
        await page.goto(f"http://127.0.0.1:{relay.port}/floor")
        await type_sign_in(page, "Flo")
        await expect(page.locator(".claim")).to_have_count(2)
        await expect(page.locator(".line")).to_be_hidden()
        relay.swallow()
        await old(page)
        room.stand.claims.put(ROYAL)
        await expect(claim_card(page, ROYAL)).to_be_visible()
        await expect(page.locator(".line")).to_be_hidden()
        # Polling shows the first claim, so only the stream can have shown the second.
        another = msgspec.structs.replace(ROYAL, claim="TCP-04-R13-1", round="R13")
        room.stand.claims.put(another)
        await expect(claim_card(page, another)).to_be_visible()
        await page.close()


@pytest.mark.slow
async def test_a_service_that_starts_again_is_found_again(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await expect(page.locator(".claim")).to_have_count(2)
    await room.stand.stop()
    await old(page)
    room.stand.claims.put(ROYAL)
    await room.stand.start()
    await expect(claim_card(page, ROYAL)).to_be_visible(timeout=15_000)
    await expect(page.locator(".line")).to_be_hidden()
    await expect(page.locator(".who")).to_contain_text("Flo")


async def test_the_slip_of_a_win_opens_as_a_pdf(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    link = claim_card(page, CLAIM).get_by_role("link", name="Payout slip (PDF)")
    href = await link.get_attribute("href")
    fetched = await page.evaluate(
        """async (href) => {
          const answer = await fetch(href);
          const begins = (await answer.text()).slice(0, 5);
          return [answer.status, answer.headers.get("content-type"), begins];
        }""",
        href,
    )
    assert fetched == [200, "application/pdf", "%PDF-"]
    assert await link.get_attribute("target") == "_blank"


@pytest.mark.slow
async def test_a_dealer_sees_what_waits_and_no_more(room: FloorRoom) -> None:
    page = await room.signed_in("Dana", size="phone")
    card = claim_card(page, CLAIM)
    await expect(card).to_contain_text("$1,510.00")
    await expect(card.get_by_role("button")).to_have_count(0)
    await expect(card.get_by_role("link")).to_have_count(0)
    for hidden in ("p3", "Envy", "lock-out"):
        await expect(card).not_to_contain_text(hidden)
    await expect(page.locator("nav")).to_be_hidden()


@pytest.mark.slow
async def test_an_auditor_sees_everything_and_decides_nothing(room: FloorRoom) -> None:
    page = await room.signed_in("Audrey")
    card = claim_card(page, CLAIM)
    await expect(card).to_contain_text("patron p3")
    await expect(card.get_by_role("link", name="Payout slip (PDF)")).to_be_visible()
    await expect(card.get_by_role("button")).to_have_count(0)


@pytest.mark.slow
async def test_items_of_a_house_game_have_their_titles(
    shared_redis_server: RedisServer, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "stud.toml").write_text(TITLED)
    floor = floor_text(
        link_text(
            "tcp-main",
            meter_text("keystone_mega"),
            meter_text("keystone_major"),
            meter_text("keystone_minor"),
        ),
        games=str(tmp_path),
    )
    won = msgspec.structs.replace(
        ROYAL,
        item="keystone_mega_jackpot",
        item_name="Mega Jackpot",
        wagers=(Wagered(position=7, patron=None, wagers={"keystone_bonus": 100}),),
        envy=(),
    )
    async with floor_room(shared_redis_server, browser, floor) as room:
        page = await room.signed_in("Flo")
        room.stand.claims.put(won)
        card = claim_card(page, won)
        await expect(card).to_contain_text("Mega Jackpot")
        await expect(card).to_contain_text("Key Wager $1.00")
