"""What patron pages offer besides amounts: a preview, frames, files, and a message."""

import io
import re
import struct
import zlib
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import matplotlib.image
import msgspec
import numpy
import numpy.typing
import pytest
import zxingcpp
from playwright.async_api import Browser, Page, expect

from meters.floor.floor_file import parse_floor
from meters.web.display_state import VerifiedWin, WinsRow
from meters.web.preview import PreviewDisplay, invented_cents
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.signage_page import MAIN, hold_time, opened, shows
from tests.web.stand import FLOOR, Stand

ALONE = FLOOR.replace('kind = "progressive"', 'kind = "progressive"\ntier = 3', 1)
WIN = VerifiedWin(
    meter="progressive", table="TCP-03", hand_name="Mini-royal of spades", amount=151_234,
    percent=100, at="2026-11-20T15:55:00.000Z",
)  # fmt: skip


async def test_the_bar_has_the_validated_wins_while_the_link_is_live(
    page: Page, stand: Stand
) -> None:
    stand.put(112_362, 7)
    await opened(page, stand, "/signage/tcp-main")
    last, today = page.locator(".fact.last"), page.locator(".fact.today")
    await expect(today).to_be_empty()
    row = WinsRow(
        link="tcp-main", day="2026-11-20", count=2, amount=160_000, latest=(WIN,), last=WIN
    )
    stand.displays.put_wins(row)
    await expect(last).to_have_text("Last Progressive $1,512.34 at TCP-03, Nov 20")
    await expect(today).to_have_text("Won today 2 jackpots, $1,600.00")
    await page.set_viewport_size({"width": 1080, "height": 1920})
    listed = page.locator(".won li span, .won li b")
    await expect(listed).to_have_text(["10:55 AM", "TCP-03", "Progressive", "$1,512.34"])
    stand.keep_beating(tcp_main="inoperable")
    await expect(last).to_be_empty()
    await expect(today).to_be_empty()


async def test_beside_some_meters_of_a_link_nothing_counts_the_wins_of_all(
    page: Page, stand: Stand
) -> None:
    stand.put(112_362, 7)
    await opened(page, stand, "/signage/tcp-main?meter=progressive")
    stand.displays.put_wins(
        WinsRow(link="tcp-main", day="2026-11-20", count=2, amount=160_000, last=WIN)
    )
    await expect(page.locator(".fact.last")).to_contain_text("$1,512.34")
    await expect(page.locator(".fact.today")).to_be_empty()


async def test_the_bar_of_a_view_with_one_link_has_the_wins_of_this_link(
    page: Page, sides: Sides
) -> None:
    stand = await sides(f'{FLOOR}\n[signage]\nrotate = "links"\nrotate_seconds = 600')
    for number, link in enumerate(stand.floor.link):
        for meter in link.meter:
            stand.put(112_362, 7, link=link.id, meter=meter.meter_id)
        stand.displays.put_wins(
            WinsRow(link=link.id, day="2026-11-20", count=number + 2, amount=160_000)
        )
    await opened(page, stand)
    today = page.locator(".fact.today")
    for count in (2, 3, 2):
        await expect(today).to_have_text(f"Won today {count} jackpots, $1,600.00")
        await page.locator(".floor").click()


async def test_a_view_with_one_link_has_its_wager_beside_the_title(
    page: Page, sides: Sides
) -> None:
    stand = await sides(f'{FLOOR}\n[signage]\nrotate = "links"\nrotate_seconds = 600')
    for link in stand.floor.link:
        for meter in link.meter:
            stand.put(112_362, 7, link=link.id, meter=meter.meter_id)
    await opened(page, stand)
    stake = page.locator(".stake:visible")
    await expect(stake).to_have_count(0)  # its meters have different wagers
    await expect(page.locator(f"{MAIN} .wager")).to_have_text("$1 wager")
    await page.locator(".floor").click()
    await expect(stake).to_contain_text("$5 wager")
    said = page.locator('[data-link="pit-2"] .said').first
    assert await said.evaluate("(said) => getComputedStyle(said).clipPath") != "none"


async def test_the_first_hand_stays_readable_while_a_win_is_pending(
    page: Page, stand: Stand
) -> None:
    for meter in stand.floor.link[0].meter:
        stand.put(112_362, 7, meter=meter.meter_id)
    await opened(page, stand, "/signage/tcp-main")
    stand.hit(amount=1_000)
    note, wins = page.locator(f"{MAIN} .note"), page.locator(f"{MAIN} .wins li:visible")
    await expect(note).to_contain_text("TCP-03")
    for width, height in ((1920, 1080), (1080, 1920), (800, 480)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(wins).not_to_have_count(0)
        await expect(note).to_be_visible()


async def test_a_preview_shows_only_what_is_invented_under_a_band(page: Page, stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.hit(table="TCP-77")
    await page.goto(f"{stand.url}/signage/tcp-main?preview=hit")
    band, screen = page.locator(".demonstration"), page.locator(".celebration")
    await expect(band).to_have_text("Preview: invented wins and amounts")
    await expect(page.locator(f"{MAIN} .amount")).to_have_attribute("aria-label", "$2,345.67")
    await expect(screen).to_be_visible()
    await expect(screen.locator(".dealt")).to_have_attribute("aria-label", "$67,890.12")
    box = await band.bounding_box()
    assert box is not None
    top = await page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).className",
        [box["width"] / 2, box["height"] / 2],
    )
    assert top == "demonstration"
    await page.goto(f"{stand.url}/signage/tcp-main?preview=share")
    where = page.locator(".celebration-where")
    await expect(where).to_have_text("Table T-1 wins 10% of the Hand Bonus <b>Grand</b>")
    for preview, shown in (
        ("closed", "closed"),
        ("unavailable", "unavailable"),
        ("night", "live"),
        ("pending", "live"),
    ):
        await page.goto(f"{stand.url}/signage/tcp-main?preview={preview}")
        await expect(page.locator("body")).to_have_attribute("data-shown", shown)
        dark = await page.evaluate("document.documentElement.style.getPropertyValue('--night')")
        assert dark == ("0.4" if preview == "night" else "")
    await expect(page.locator('.note[data-kind="pending"]')).to_contain_text("$67,890.12")
    assert "TCP-77" not in await page.content()
    assert stand.displays.rows()[0].amount == 112_362
    plain = (await stand.get("/signage/tcp-main")).text
    assert "Preview: invented" not in plain.partition("<body")[2].partition(">")[2]
    assert (await stand.get("/signage/tcp-main?preview=other")).status_code == 400


def test_invented_amounts_rise_from_the_seed_with_their_digits_in_order() -> None:
    for seed in (100, 9_000, 100_000, 5_000_000, 99_999_900):
        assert invented_cents(seed) > seed


async def test_a_frame_of_a_listed_origin_has_one_meter_and_no_ground(
    page: Page, sides: Sides
) -> None:
    origin = "https://player.example"
    stand = await sides(f'{FLOOR}\n[signage]\nframe_origins = ["{origin}"]')
    stand.put(112_362, 7)
    for path, framed in (("/signage/tcp-main", True), ("/signage/tcp-main/pays", True),
                         ("/floor", False), ("/settle", False)):  # fmt: skip
        answer = await stand.get(path)
        policy = answer.headers["content-security-policy"]
        assert (f"frame-ancestors 'self' {origin}" in policy) is framed
        assert ("x-frame-options" in answer.headers) is not framed
    await page.set_viewport_size({"width": 640, "height": 180})
    await opened(page, stand, "/signage/tcp-main?meter=progressive&transparent")
    await shows(page, "$1,123.62")
    await expect(page.locator(".meter")).to_have_count(1)
    for gone in (".mast", ".bar", ".stage"):
        await expect(page.locator(gone)).to_be_hidden()
    ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == "rgba(0, 0, 0, 0)"
    assert (await stand.get("/signage/tcp-main?meter=none")).status_code == 404


FILLED = """() => {
  const [frame, amount, first, last] = [
    ".glass", ".amount", ".wins .card:first-child", ".wins .card:last-child",
  ].map((name) => document.querySelector(name)?.getBoundingClientRect());
  const cards = last?.height ? last.right - first.left : 0;
  const wide = Math.max(amount.width, cards) / frame.width;
  const high = (amount.height + (first?.height ?? 0)) / frame.height;
  return [Math.round(wide * 100), Math.round(high * 100)];
}"""
"""The shares of a meter's frame that its amount and its cards take, across and downwards."""

FRAMES = (
    (1920, 1080, "", 55, 55), (3840, 1080, "", 50, 55), (1080, 1920, "", 70, 35),
    (800, 480, "", 55, 50), (640, 360, "&transparent", 60, 50),
    (640, 180, "&transparent", 50, 50), (320, 90, "&transparent", 50, 50),
    (400, 640, "&transparent", 65, 30),
)  # fmt: skip


@pytest.mark.parametrize("meter", ["progressive", "five_card_hand_bonus"])
async def test_a_meter_that_is_alone_fills_its_frame(page: Page, sides: Sides, meter: str) -> None:
    """Though it is of a lower rank, and its hand has no cards of its own."""
    stand = await sides(ALONE)
    stand.put(112_362, 7, meter=meter)
    for width, height, query, across, down in FRAMES:
        await page.set_viewport_size({"width": width, "height": height})
        await opened(page, stand, f"/signage/tcp-main?meter={meter}{query}")
        wide, high = await page.evaluate(FILLED)
        assert wide >= across, (width, height, wide, high)
        assert high >= down, (width, height, wide, high)


async def test_a_phone_reads_the_way_to_the_paytables(page: Page, sides: Sides) -> None:
    """At the smallest size at which displays show it; smaller ones and paytables do without."""
    address = "https://www.keystonecasino.example/jackpots/pays"
    stand = await sides(f'{FLOOR}\n[signage]\npays_address = "{address}"')
    stand.put(112_362, 7)
    await opened(page, stand)
    code, words = page.locator(".code"), page.locator(".scan")
    for width, height in ((1280, 720), (1920, 1080), (720, 1280), (3840, 1080)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(words).to_have_text("What each hand wins")
        await expect(words).to_be_visible()
        (found,) = zxingcpp.read_barcodes(pixels_of(await page.screenshot()))
        assert found.text == address
    for width, height in ((800, 480), (1920, 360), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(code).to_be_hidden()
        await expect(words).to_be_hidden()
    await page.goto(f"{stand.url}/signage/tcp-main/pays")
    await expect(code).to_have_count(0)


def pixels_of(png: bytes) -> numpy.typing.NDArray[numpy.uint8]:
    return (matplotlib.image.imread(io.BytesIO(png))[:, :, :3] * 255).astype(numpy.uint8)


async def test_marketing_finds_every_page_and_preview_in_one_list(stand: Stand) -> None:
    answer = await stand.get("/signage?preview")
    assert answer.status_code == 200
    assert "no such page" not in answer.text
    for address in ("/pit-2", "/tcp-main/pays", "/pit-2?preview=night"):
        assert f'href="/signage{address}"' in answer.text


async def test_the_meter_that_the_floor_file_ranks_first_is_the_top_one_everywhere(
    page: Page, sides: Sides
) -> None:
    """Its seed is lower than that of the other one."""
    meter = 'kind = "progressive"'
    stand = await sides(FLOOR.replace(meter, f"{meter}\ntier = 1", 1))
    stand.put(112_362, 7)
    assert (await stand.get("/signage/tcp-main/meter.json")).json()["meter"] == "progressive"
    await page.goto(f"{stand.url}/signage/tcp-main?preview=hit")
    await expect(page.locator(".meter").first).to_have_attribute("data-top", "")
    await expect(page.locator(".meter[data-top]")).to_have_attribute("data-meter", "progressive")
    where = page.locator(".celebration-where")
    await expect(where).to_contain_text("wins the Progressive")


async def test_a_page_has_the_size_of_its_address(page: Page, stand: Stand) -> None:
    """A player that draws more than its display shows, or says so."""
    stand.put(112_362, 7)
    await page.goto(f"{stand.url}/signage/tcp-main?width=1280&height=360&meter=progressive")
    frame = page.frame_locator("iframe")
    await expect(frame.locator(f"{MAIN} .amount")).to_have_attribute("aria-label", "$1,123.62")
    await expect(frame.locator(".meter")).to_have_count(1)
    assert await page.locator("iframe").bounding_box() == {
        "x": 0, "y": 0, "width": 1280, "height": 360,
    }  # fmt: skip
    assert await frame.locator("body").evaluate("() => innerWidth / innerHeight") == 1280 / 360
    for wrong in ("width=1280", "width=0&height=360", "width=1280&height=tall"):
        assert (await stand.get(f"/signage/tcp-main?{wrong}")).status_code == 400


async def test_the_picture_moves_over_hours_and_is_darker_at_night(
    page: Page, sides: Sides
) -> None:
    """By the clock of the service, whatever that of the display is."""
    now = datetime.now(ZoneInfo("America/New_York"))
    starts, ends = ((now + timedelta(hours=hours)).strftime("%H:%M") for hours in (2, 4))
    night = f'night = {{ starts = "{starts}", ends = "{ends}", percent = 40 }}'
    stand = await sides(f"{FLOOR}\n[signage]\n{night}")
    await hold_time(page)
    await page.goto(f"{stand.url}/signage")
    for moved, opacity in (("0px", 0.0), ("2px", 0.4), ("4px 1px", 0.0)):
        await eventually_async(partial(looks, page, (moved, opacity)))
        for _ in range(10):
            await page.clock.fast_forward("15:00")


async def looks(page: Page, expected: tuple[str, float]) -> bool:
    moved, opacity = await page.evaluate(
        """() => {
          for (const each of document.getAnimations()) {
            if (each.transitionProperty === "opacity") each.finish();
          }
          const body = getComputedStyle(document.body);
          return [body.translate, getComputedStyle(document.body, "::after").opacity];
        }"""
    )
    return (moved, float(opacity)) == expected


async def test_a_meter_as_a_file_has_no_amount_unless_it_is_current(stand: Stand) -> None:
    stand.put(112_362, 7)
    asked = "/signage/tcp-main/meter.json?meter=progressive"
    drawn = "/signage/tcp-main/meter.png?meter=progressive&size=small"
    found = (await stand.get(asked)).json()
    assert (found["state"], found["amount"], found["text"]) == ("live", 112_362, "$1,123.62")
    live = (await stand.get(drawn)).content
    assert sum(opacities(live)) > 0
    stand.put(12_345_678_901, 8)
    assert (await stand.get(drawn)).status_code == 200
    stand.hush()
    stand.beat("tcp-main", "inoperable")
    found = (await stand.get(asked)).json()
    assert (found["state"], found["amount"], found["text"]) == ("unavailable", None, "")
    assert sum(opacities((await stand.get(drawn)).content)) == 0
    assert (await stand.get("/signage/tcp-main/meter.json?meter=none")).status_code == 404


async def test_only_pages_of_the_listed_origins_have_a_meter_from_elsewhere(
    stand: Stand, sides: Sides
) -> None:
    own, other = "https://player.example", "https://other.example"
    listed = await sides(f'{FLOOR}\n[signage]\nframe_origins = ["{own}"]')

    async def headers(of: Stand, path: str, origin: str) -> tuple[str, str | None]:
        found = (await of.get(path, Origin=origin)).headers
        names = "cross-origin-resource-policy", "access-control-allow-origin"
        return found[names[0]], found.get(names[1])

    for name in ("meter.json", "meter.png"):
        path = f"/signage/tcp-main/{name}"
        assert await headers(listed, path, own) == ("cross-origin", own)
        assert await headers(listed, path, other) == ("cross-origin", None)
        assert await headers(stand, path, own) == ("same-origin", None)
    assert await headers(listed, "/signage/tcp-main", own) == ("same-origin", None)


FOOT_TEXT = "If you or someone you know has a gambling problem, help is there. Call 1-800-GAMBLER."


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720), (3840, 1080), (800, 480)])
async def test_the_text_at_the_bottom_comes_whole_before_the_wins(
    page: Page, sides: Sides, size: tuple[int, int]
) -> None:
    stand = await sides(f'{FLOOR}\n[signage]\nwording.foot = "{FOOT_TEXT}"')
    stand.put(112_362, 7)
    win = msgspec.structs.replace(WIN, table="TCP-0000000000000000000000000000003", amount=10**9)
    stand.displays.put_wins(
        WinsRow(
            link="tcp-main", day="2026-11-20", count=1_000, amount=10**10, latest=(win,), last=win
        )
    )  # fmt: skip
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    await opened(page, stand, "/signage/tcp-main")
    await expect(page.locator(".fact.last")).not_to_be_empty()
    found = await page.evaluate(
        """() => {
          const bar = document.querySelector(".bar").getBoundingClientRect();
          const lines = [...document.querySelectorAll(".foot span")];
          const boxes = lines.map((line) => line.getBoundingClientRect());
          const facts = [...document.querySelectorAll(".fact")]
            .map((fact) => fact.getBoundingClientRect())
            .filter((fact) => fact.width && fact.top < bar.bottom - 1);
          const isIn = (box) => box.top >= bar.top && box.bottom <= bar.bottom + 1
            && box.left >= 0 && box.right <= innerWidth;
          return {
            rows: new Set(boxes.map((box) => box.top)).size,
            whole: [...boxes, ...facts].every(isIn) && bar.bottom <= innerHeight,
            apart: facts.every((fact) => boxes.every((box) => fact.right < box.left)),
            scrolls: document.documentElement.scrollHeight > innerHeight,
          };
        }"""
    )
    assert found == {"rows": 2, "whole": True, "apart": True, "scrolls": False}


def opacities(picture: bytes) -> list[int]:
    width, height = struct.unpack(">2I", picture[16:24])
    length = struct.unpack(">I", picture[33:37])[0]
    lines = zlib.decompress(picture[41 : 41 + length])
    step = 4 * width + 1
    return [lines[row * step + 4 * at + 4] for row in range(height) for at in range(width)]


async def test_a_display_that_starts_without_the_service_shows_the_message_and_comes_back(
    browser: Browser, stand: Stand
) -> None:
    """Its browser keeps no page with an amount, and nothing of the staff's pages."""
    stand.put(112_362, 7)
    context = await browser.new_context()
    page = await context.new_page()
    await opened(page, stand, "/signage/tcp-main")
    await page.evaluate("navigator.serviceWorker.ready")
    kept = await page.evaluate(
        """async () => {
          const texts = [];
          for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const request of await cache.keys()) {
              texts.push(await (await cache.match(request)).text());
            }
          }
          return texts;
        }"""
    )
    assert kept
    assert not any("1,123.62" in text or "112362" in text for text in kept)
    await stand.stop()
    late = await context.new_page()
    await late.goto(f"{stand.url}/signage/tcp-main")
    await expect(late.locator(".message .headline")).to_have_text("One moment, please")
    fonts = await late.evaluate("document.fonts.ready.then((fonts) => fonts.status)")
    assert fonts == "loaded"
    await stand.start()
    stand.keep_beating()
    stand.put(112_399, 8)
    amount = late.locator(f"{MAIN} .amount")
    await expect(amount).to_have_attribute("aria-label", "$1,123.99")
    await context.close()


@pytest.mark.parametrize("path", ["/floor", "/api/v1/meters", "/"])
async def test_the_worker_serves_no_other_page(stand: Stand, path: str) -> None:
    worker = await stand.get("/signage/worker.js")
    assert worker.headers["service-worker-allowed"] == "/signage"
    assert not path.startswith("/signage")
    files = worker.text.partition("const FILES = ")[2].partition(";")[0]
    assert f'"{path}"' not in files


def test_a_preview_of_a_meter_that_is_won_only_in_parts_shows_a_part(tmp_path: Path) -> None:
    """Its best hand wins 50%, so no invented win is of the whole meter."""
    text = (HOUSE / "keystone_dice.toml").read_text().replace("100% of meter", "50% of meter")
    text = re.sub(
        r'reserve = "5%"\n(?s:.*?)\n\n', "\n", text, count=1
    )  # nobody would win a reserve
    (tmp_path / "keystone_dice.toml").write_text(text)
    table = table_text("T-1", "dice_jackpot", game="keystone_dice")
    link = link_text("pit", meter_text("dice_jackpot"), table)
    preview = PreviewDisplay(parse_floor(floor_text(link, games=str(tmp_path))).link[0], "hit", 0)
    for _ in range(3):
        preview.pass_second()
    (win,) = preview.displays.pending_jackpots()
    assert win.percent == 50
