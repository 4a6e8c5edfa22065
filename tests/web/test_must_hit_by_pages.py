"""What patrons see of a must-hit-by meter: by when it must hit, large enough and in its place."""

from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from bonus.wagers import MUST_HIT_BY
from meters.web.display_state import WinningHand
from tests.floor_text import floor_text, link_text, meter_text, section_text
from tests.web.conftest import Sides
from tests.web.signage_page import opened
from tests.web.stand import Stand, jackpot

WAGERS: Final = ("progressive", "five_card_progressive")
MYSTERY: Final = section_text(
    "[[link.meter]]",
    kind=MUST_HIT_BY,
    id="mystery",
    must_hit_by={"minimum": 500_000, "maximum": 1_000_000, "rate": "1%", "wagers": WAGERS[:1]},
)
FLOOR: Final = floor_text(
    link_text("main", *map(meter_text, WAGERS), MYSTERY, name="Three Card Poker Jackpot")
)
TEXT: Final = '[data-meter="mystery"] .must-hit-by b'
PLATE: Final = '[data-meter="mystery"] .tag .must'
SAID: Final = {
    "en": "Must hit by $10,000",
    "es": "Se gana a más tardar en $10,000",
    "vi": "Chắc chắn nổ trước $10,000",
    "zh-Hans": "$10,000 前中奖",
}
SHOWN: Final = """(element) => {
  const [box, frame] = [element, element.closest(".glass, .tag")]
    .map((it) => it.getBoundingClientRect());
  const height = parseFloat(getComputedStyle(element).fontSize);
  const inside = box.left >= frame.left && box.right <= frame.right
    && box.top >= frame.top && box.bottom <= frame.bottom + 1;
  return [inside, box.height < 1.6 * height, height];
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def stand(sides: Sides) -> Stand:
    """Yield a floor whose must-hit-by meter no table feeds now, as before its end."""
    stand = await sides(FLOOR)
    for meter, amount in (*zip(WAGERS, (2_500_392, 543_217), strict=True), ("mystery", 741_260)):
        stand.put(amount, 1, link="main", meter=meter)
    return stand


async def check_shown(page: Page, place: str, said: str, least_px: float) -> None:
    text = page.locator(place)
    await expect(text).to_be_visible()
    await expect(text).to_have_text(said)
    inside, one_line, height_px = await text.evaluate(SHOWN)
    assert (inside, one_line) == (True, True), said
    assert height_px >= least_px


@pytest.mark.parametrize(
    ("size", "query", "least_px"),
    [((1920, 1080), "", 50), ((1920, 1080), "meter=mystery", 80), ((1080, 1920), "", 50),
     ((1080, 1920), "meter=mystery", 50), ((1024, 600), "", 24), ((800, 480), "", 24),
     ((640, 360), "meter=mystery&transparent", 24)],
)  # fmt: skip
async def test_it_is_read_from_afar(
    page: Page, stand: Stand, size: tuple[int, int], query: str, least_px: int
) -> None:
    """On a wall display of 1920 pixels, words of 50 pixels are read at 10 meters."""
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    for language, said in SAID.items():
        await opened(page, stand, f"/signage/main?lang={language}&{query}")
        await check_shown(page, TEXT, said, least_px)
        await expect(page.locator(PLATE)).to_be_hidden()


@pytest.mark.parametrize(
    ("size", "path", "least_px"),
    [((320, 90), "?meter=mystery&transparent", 9), ((480, 160), "?meter=mystery&transparent", 13),
     ((1920, 1080), "/pays", 16)],
)  # fmt: skip
async def test_it_is_on_the_plate_where_there_is_no_room_below(
    page: Page, stand: Stand, size: tuple[int, int], path: str, least_px: int
) -> None:
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    for language, said in SAID.items():
        mark = "&" if "?" in path else "?"
        await opened(page, stand, f"/signage/main{path}{mark}lang={language}")
        await check_shown(page, PLATE, said, least_px)
        await expect(page.locator(TEXT)).to_be_hidden()


@pytest.mark.parametrize("size", [(1920, 1080), (1080, 1920), (1024, 600)])
async def test_its_celebration_has_no_hole_where_cards_would_be(
    page: Page, stand: Stand, size: tuple[int, int]
) -> None:
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    await opened(page, stand, "/signage/main")
    won = jackpot(meter="mystery", item="mystery_jackpot", hand=MUST_HIT_BY, amount=812_345)
    stand.displays.put_jackpot("main", won, WinningHand((), 100))
    await expect(page.locator(".celebration .total .amount")).to_be_visible()
    await expect(page.locator(".celebration-where")).to_have_text(
        "Table TCP-03 wins the Mystery Jackpot"
    )
    word = await page.locator(".celebration-word > span").bounding_box()
    amount = await page.locator(".celebration .amount").bounding_box()
    assert word is not None
    assert amount is not None
    between = amount["y"] - word["y"] - word["height"]
    assert 0 <= between < 0.12 * size[1]
