"""A jackpot on signage: celebrated once, pending, then validated or corrected (duty D8)."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from meters.web import display_state
from tests.web.conftest import Sides
from tests.web.signage_page import (
    ALONE,
    LITTLE_MS,
    MAIN,
    MUCH_MS,
    as_time_passes,
    falls_silent,
    hold_time,
    is_heard,
    is_live,
    is_lost,
    is_unavailable,
    opened,
    shows,
)
from tests.web.stand import FLOOR, Stand, jackpot

TIMES = "\N{MULTIPLICATION SIGN}"
NOTE = f"{MAIN} .note"


async def says(page: Page, kind: str, words: str, what: str) -> None:
    await expect(page.locator(NOTE)).to_have_attribute("data-kind", kind)
    await expect(page.locator(f"{NOTE} .what")).to_have_text(what)
    await expect(page.locator(f"{NOTE} .kind")).to_have_text(words)
    await expect(page.locator(NOTE)).to_be_visible()


async def hasten_time(page: Page) -> None:
    """Have the time of pages opened from now on pass by itself, and also as the test says."""
    await page.clock.install()
    await page.add_init_script(ALONE)


async def when(page: Page, stand: Stand, what: str, look: Callable[[], Awaitable[bool]]) -> None:
    """Let the time of the page pass, with heartbeats as in the time of the service."""

    async def looked() -> bool:
        for link in stand.floor.link:
            stand.beat(link.id)
        return await look()

    await as_time_passes(page, looked, what, step_ms=2 * MUCH_MS)


async def wait_until_over(page: Page, stand: Stand) -> None:
    began_ms = await page.evaluate("performance.now()")
    await when(page, stand, "the end", page.locator(".celebration").is_hidden)
    assert await page.evaluate("performance.now()") - began_ms > 15_000, "its end, and no other"


async def says_at_last(page: Page, stand: Stand, where: str, text: str) -> None:
    async def look() -> bool:
        return text in (await page.locator(where).text_content() or "")

    await when(page, stand, text, look)


async def sees_the_celebration(page: Page) -> None:
    """Wait for the celebration on a page with held time, where it does not end by itself."""
    await as_time_passes(page, page.locator(".celebration").is_visible, "the celebration")


async def sees_no_celebration(page: Page) -> None:
    """Wait for its end on such a page, before its time is over."""
    await as_time_passes(
        page, page.locator(".celebration").is_hidden, "no celebration", step_ms=10 * LITTLE_MS
    )


async def let_news_grow_old(page: Page, stand: Stand) -> None:
    later_s = display_state.VALIDATED_NEWS_S + 1
    stand.displays._clock = lambda: time.monotonic() + later_s
    await page.clock.fast_forward("01:01")


def win(stand: Stand) -> None:
    stand.hit(amount=151_234, cards="As Ks Qs")
    stand.put(100_000, 6, cycle=2, state="pending")


@pytest.mark.duty("D18", proof=True)
@pytest.mark.duty("D8", proof=True)
@pytest.mark.duty("D5", proof=True)
async def test_a_hit_is_celebrated_with_its_hand_amount_and_table(page: Page, stand: Stand) -> None:
    """Duty D18: the amount won appears immediately, although the meter is reseeded."""
    stand.put(151_234, 5)
    await hasten_time(page)
    await opened(page, stand)
    win(stand)
    celebration = page.locator(".celebration")
    await expect(celebration).to_be_visible()
    await expect(celebration.locator(".celebration-word")).to_have_text("Jackpot")
    await expect(celebration.locator(".face b")).to_have_text(["Q", "K", "A"])
    await expect(celebration.locator(".celebration-hand")).to_have_text("Mini-royal of spades")
    await expect(celebration.locator(".amount")).to_have_attribute("aria-label", "$1,512.34")
    await expect(celebration.locator(".digit")).to_have_count(6)
    where = celebration.locator(".celebration-where")
    await expect(where).to_have_text("Table TCP-03 wins the Progressive")
    await expect(celebration.locator(".pending")).to_have_text("Verifying")
    await expect(celebration.locator(".verified")).to_be_hidden()
    box = await celebration.bounding_box()
    assert box == {"x": 0, "y": 0, "width": 1920, "height": 1080}
    await wait_until_over(page, stand)
    await says(page, "pending", "verifying", "Table TCP-03 won $1,512.34")
    await shows(page, "$1,000.00")


@pytest.mark.parametrize(
    ("cards", "shown"),
    [
        ("9h 5h Jk 8h 6h", "5 6 ★ 8 9"),
        ("Jk 9h 8h 7h 6h", "6 7 8 9 ★"),
        ("4h Jk 3h 5h 2h", "★ 2 3 4 5"),
        ("As Jk Ah Ad Ac", "A A A A ★"),
        ("Kc Ac Jk Kd Ad", "A A ★ K K"),
        ("9h 2h Jk 8h Kh", "★ K 9 8 2"),
        ("7h Jk 9h 4h 5h Th 8h", "4 5 ★ 7 8 9 10"),
    ],
)
async def test_a_joker_is_shown_as_a_star_where_its_card_would_be(
    page: Page, stand: Stand, cards: str, shown: str
) -> None:
    stand.put(151_234, 5)
    await hold_time(page)
    await opened(page, stand)
    stand.hit(amount=151_234, cards=cards)
    await sees_the_celebration(page)
    texts = await page.locator(".celebration .face").evaluate_all(
        "faces => faces.map((face) => face.dataset.suit === 'k' ? '★' : face.textContent)"
    )
    assert " ".join(texts) == shown
    star = page.locator('.celebration .face[data-suit="k"]')
    await expect(star).to_have_text("")
    masks = await star.evaluate("face => getComputedStyle(face, '::after').maskImage")
    assert "joker.svg" in masks


@pytest.mark.slow
@pytest.mark.parametrize("decision", ["validated", "paid"])
async def test_a_good_win_is_said_to_be_validated_for_a_while(
    page: Page, stand: Stand, decision: str
) -> None:
    """A display that is turned on only then says it too. A later payment is no news."""
    stand.put(151_234, 5)
    await hasten_time(page)
    await opened(page, stand)
    win(stand)
    await wait_until_over(page, stand)
    stand.put(100_025, 7, cycle=2)
    stand.hit(decision, amount=151_234)
    await says(page, "validated", "verified", "Table TCP-03 won $1,512.34")
    await page.reload()
    await says(page, "validated", "verified", "Table TCP-03 won $1,512.34")
    await expect(page.locator(".celebration")).to_be_hidden()
    await shows(page, "$1,000.25")
    await let_news_grow_old(page, stand)
    await expect(page.locator(NOTE)).to_be_hidden()
    stand.hit("paid", amount=151_234)
    stand.put(100_100, 8, cycle=2)
    await shows(page, "$1,001.00")
    await expect(page.locator(NOTE)).to_be_hidden()


async def test_a_rejection_or_a_lost_stream_ends_the_celebration(page: Page, stand: Stand) -> None:
    """The amount of a rejected win is back on the meter (duty D15).

    The celebration must not hide that the numbers are no longer current.
    """
    stand.put(151_234, 5)
    await hold_time(page)
    await opened(page, stand)
    win(stand)
    await sees_the_celebration(page)
    stand.hit("rejected", amount=151_234)
    stand.put(152_000, 7, cycle=2)
    await sees_no_celebration(page)
    await is_heard(page, "$1,520.00")
    await expect(page.locator(NOTE)).to_be_hidden()
    stand.hit(claim="c2", amount=152_000)
    await sees_the_celebration(page)
    await stand.stop()
    await sees_no_celebration(page)
    assert 4_000 < await falls_silent(page) <= 5_000


async def test_a_hit_of_before_is_shown_and_not_celebrated(page: Page, stand: Stand) -> None:
    """It was before the service began, as the check of the books finds, or before the page."""
    stand.put(100_000, 6, cycle=2, state="pending")
    await opened(page, stand)
    stand.displays.put_jackpot("tcp-main", jackpot(amount=151_234), news=False)
    await says(page, "pending", "verifying", "Table TCP-03 won $1,512.34")
    await expect(page.locator(".celebration")).to_be_hidden()
    await page.goto("about:blank")
    stand.hit(claim="c2", amount=161_234)
    await opened(page, stand)
    await says(page, "pending", "verifying · 1 of 2", "Table TCP-03 won $1,612.34")
    await expect(page.locator(".celebration")).to_be_hidden()
    # A later event is shown, so this one has been processed, and it was not celebrated.
    stand.hit(claim="c3", amount=160_000, table="TCP-07")
    await expect(page.locator(".celebration-where")).to_contain_text("Table TCP-07")


@pytest.mark.slow
async def test_a_display_that_was_cut_off_celebrates_what_it_has_missed_once(
    page: Page, stand: Stand
) -> None:
    stand.put(151_234, 5)
    await hasten_time(page)
    await opened(page, stand)
    await stand.stop()
    await is_unavailable(page)
    await stand.start()
    win(stand)
    stand.keep_beating()
    await expect(page.locator(".celebration-where")).to_contain_text("TCP-03", timeout=15_000)
    await wait_until_over(page, stand)
    await stand.stop()
    # The test waits here for the lost connection, because the page may reconnect quickly.
    await is_lost(page)
    await stand.start()
    win(stand)
    stand.keep_beating()
    await is_live(page)
    await says(page, "pending", "verifying", "Table TCP-03 won $1,512.34")
    await expect(page.locator(".celebration")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.duty("D18", proof=True)
async def test_a_crowd_of_hits_does_not_keep_the_meters_out_of_sight(
    page: Page, stand: Stand
) -> None:
    """Each table and its amount has its turn, on the band and in the celebration.

    The queue holds no more jackpots than are shown within half a minute (duty D18).
    """
    stand.put(100_000, 5)
    await hasten_time(page)
    await opened(page, stand)
    stand.hit(claim="c1", amount=2_500, table="TCP-01")
    stand.hit(claim="c2", amount=151_234)
    await expect(page.locator(".ribbon-text")).to_contain_text("TCP-01")
    for table, text in (
        ("TCP-03 won $1,512.34", "verifying · 1 of 2"),
        ("TCP-01 won $25.00", "verifying · 2 of 2"),
    ):
        await says_at_last(page, stand, f"{NOTE} .what", table)
        await expect(page.locator(f"{NOTE} .kind")).to_have_text(text)
    await says_at_last(page, stand, ".celebration", "Table TCP-03")
    await wait_until_over(page, stand)
    stand.hit("rejected", claim="c2")
    await says_at_last(page, stand, f"{NOTE} .what", "TCP-01 won $25.00")
    for number in range(40):
        stand.hit(claim=f"d{number}", amount=2_500 + number)
    await expect(page.locator(".ribbon")).to_be_visible()
    began_ms = await page.evaluate("performance.now()")
    await when(page, stand, "the end", page.locator(".ribbon").is_hidden)
    # The last of them begins within half a minute. Forty would need almost four minutes.
    assert await page.evaluate("performance.now()") - began_ms < 60_000


async def test_a_win_has_the_size_of_what_it_wins(page: Page, sides: Sides) -> None:
    """A small win has a ribbon; a large one its meter, too; a whole meter has the screen."""
    stand = await sides(f"{FLOOR}\n[signage]\ncelebrate_from = 100_000")
    stand.put(151_234, 5)
    await opened(page, stand)
    screen, ribbon, lit = map(page.locator, (".celebration", ".ribbon", f"{MAIN}.lit"))
    for claim, amount, percent, sizes in (
        ("c1", 99_999, 100, (False, True, False)),
        ("c2", 100_000, 10, (False, True, True)),
        ("c3", 100_000, 100, (True, False, False)),
    ):
        stand.hit(claim=claim, amount=amount, percent=percent)
        for element, is_there in zip((screen, ribbon, lit), sizes, strict=True):
            await expect(element).to_be_visible(visible=is_there)
        stand.hit("rejected", claim=claim, amount=amount)
        for element in (screen, ribbon, lit):
            await expect(element).to_be_hidden()


async def test_a_validation_is_the_second_beat_of_the_whole_screen(
    page: Page, stand: Stand
) -> None:
    """It comes while the celebration lasts, or has the screen again for a moment: once."""
    stand.put(151_234, 5)
    await hasten_time(page)
    await opened(page, stand)
    screen = page.locator(".celebration")

    async def over() -> None:
        await when(page, stand, "the end", screen.is_hidden)

    win(stand)
    await expect(screen.locator(".celebration-where")).to_contain_text("Table TCP-03")
    stand.hit("validated", amount=151_234)
    await expect(screen).to_have_attribute("data-state", "verified")
    await expect(screen.locator(".verified")).to_have_text("Verified")
    await over()
    stand.hit(claim="c3", amount=60_000)
    await expect(screen).to_be_visible()
    await over()
    for decision in ("validated", "paid"):
        stand.hit(decision, claim="c3", amount=60_000)
        await expect(page.locator(NOTE)).to_have_attribute("data-kind", "validated")
        await expect(screen).to_be_visible(visible=decision == "validated")
        await over()


async def test_the_won_amount_is_the_only_one_that_is_dealt(page: Page, stand: Stand) -> None:
    """Before its turn, each drum is blank: its digit lies above the window that shows it."""
    stand.put(151_234, 5)
    await opened(page, stand)
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Animation.enable")
    await cdp.send("Animation.setPlaybackRate", {"playbackRate": 0})
    win(stand)
    await expect(page.locator(".celebration")).to_be_visible()
    blank = await page.evaluate(
        """() => [...document.querySelectorAll(".dealt .digit")].map((drum) =>
          drum.firstChild.getBoundingClientRect().bottom <= drum.getBoundingClientRect().top + 1)"""
    )
    assert blank == [True] * 6


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
async def test_nothing_flashes(browser: Browser, stand: Stand, motion: str) -> None:
    """Only opacity and transform change, and slowly. With reduced motion nothing moves.

    What a script keeps does not expire, so that animation shows nothing.
    """
    page = await browser.new_page(
        reduced_motion="reduce" if motion == "reduce" else "no-preference"
    )
    # Animations that have begun pause, however late the test looks at them.
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Animation.enable")
    await cdp.send("Animation.setPlaybackRate", {"playbackRate": 0})
    stand.put(151_234, 5)
    await opened(page, stand)
    win(stand)
    await expect(page.locator(".celebration")).to_be_visible()
    moving = await page.evaluate(
        """document.getAnimations().filter((each) =>
          each.effect && !each.animationName?.startsWith("expire")).map((each) => ({
          times: each.effect.getTiming().iterations,
          milliseconds: each.effect.getTiming().duration,
          what: [...new Set(each.effect.getKeyframes().flatMap(Object.keys))].filter(
            (key) => !["offset", "computedOffset", "easing", "composite"].includes(key)),
        }))"""
    )
    assert (moving == []) is (motion == "reduce")
    for each in moving:
        assert each["milliseconds"] >= (300 if each["times"] == 1 else 2_000)
        assert set(each["what"]) <= {"opacity", "transform", "rotate"}


async def test_a_hand_that_brings_shares_is_celebrated_once_with_them(
    page: Page, stand: Stand
) -> None:
    """The holder is at position 3; a share can arrive before the holder's own win."""
    stand.put(151_234, 5)
    await hold_time(page)
    await opened(page, stand)
    text = f"Shares for players: 2 {TIMES} $600.00"
    share: dict[str, Any] = {
        "hand_of": 3, "amount": 60_000, "percent": None, "cards": "As Ks Qs",
    }  # fmt: skip
    stand.hit(claim="TCP-03-R9-1", position=1, **share)
    ribbon = page.locator(".ribbon .ribbon-amount")
    await as_time_passes(page, ribbon.is_visible, "the share")
    where = page.locator(".celebration .celebration-where")
    stand.hit(claim="TCP-03-R9-2", amount=175_600, cards="As Ks Qs")
    stand.hit(claim="TCP-03-R9-3", position=3, **share)
    stand.hit(claim="TCP-03-R9-4", position=6, **share | {"amount": 2_500})

    async def tells() -> bool:
        said = await where.all_text_contents()
        return said == [f"Table TCP-03 wins the Progressive{text} + 1 {TIMES} $25.00"]

    await as_time_passes(page, tells, "the shares")
    amount = page.locator(".celebration .amount")
    await expect(amount).to_have_attribute("aria-label", "$1,756.00")
    stand.hit("rejected", claim="TCP-03-R9-4", position=6, **share | {"amount": 2_500})

    async def tells_less() -> bool:
        return (await where.locator(".shares").text_content()) == text

    await as_time_passes(page, tells_less, "the shares without a rejected one")


async def test_a_bad_beat_is_named_and_its_shares_are_not_those_of_another_win(
    page: Page, stand: Stand
) -> None:
    """The beaten hand at position 3 wins at its turn too."""
    stand.put(151_234, 5)
    await hold_time(page)
    await opened(page, stand)
    parts = (".celebration .celebration-where", ".ribbon .ribbon-text", ".ribbon .shares")
    told = page.locator(", ".join(parts))
    beat: dict[str, Any] = {"percent": None, "cards": "As Ks Qs"}
    stand.hit(claim="TCP-03-R9-1", amount=175_600, cards="As Ks Qs")
    stand.hit(claim="TCP-03-R9-2", item="progressive_bad_beat_loser", amount=160_000, **beat)
    share = beat | {"hand_of": 3, "amount": 60_000, "position": 6}
    stand.hit(claim="TCP-03-R9-3", item="progressive_bad_beat_table", **share)

    def says(text: str) -> Callable[[], Awaitable[bool]]:
        async def said() -> bool:
            return "".join(await told.all_text_contents()) == text

        return said

    await as_time_passes(page, says("Table TCP-03 wins the Progressive"), "the win")
    text = f"Bad beat at table TCP-03Shares for players: 1 {TIMES} $600.00"
    await as_time_passes(page, says(text), "the bad beat", step_ms=MUCH_MS)
