"""The facility's own theme: colors, logo and words, readable and harmless."""

import base64
import re
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from bonus.errors import UserError
from meters.floor.branding import LOGO_BYTES_MAX, Branding, read_logo
from meters.floor.floor_file import parse_floor
from meters.web.staff_pages import load_assets
from tests.browsers import check_accessible
from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.signage_page import MAIN, opened
from tests.web.stand import FLOOR, jackpot

OWN = """[signage]
title = "Otter Bay <Jackpots>"
theme = "neon"
wording = { jackpot = "A winner!", pending = "We are checking", validated = "It is true", \
closed = "At rest", unavailable = "Back in a moment", foot = "Play <responsibly>" }
"""
DRAWING = b"""<?xml version="1.0"?><!-- ours --><svg xmlns="http://www.w3.org/2000/svg"
viewBox="0 0 40 10" width="40" height="10"><style>.a{fill:#b3202a}</style>
<rect class="a" width="40" height="10"/></svg>"""


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)


def logo_section(path: Path, body: bytes) -> str:
    path.write_bytes(body)
    return f'[signage]\nlogo = "{path}"\n'


async def test_the_page_has_the_facility_s_theme_and_words(page: Page, sides: Sides) -> None:
    """There is no inline style, because the page's policy forbids it."""
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    stand = await sides(f"{FLOOR}\n{OWN}")
    stand.put(151_234, 5)
    await opened(page, stand)
    await expect(page.locator("h1")).to_have_text("Otter Bay <Jackpots>")
    await expect(page.locator(".foot")).to_have_text("Play <responsibly>")
    assert await page.evaluate("getComputedStyle(document.body).color") == "rgb(255, 255, 255)"
    title = await page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily")
    assert title.startswith('"Tilt Neon"')
    stand.hit()
    await expect(page.locator(".celebration-word")).to_have_text("A winner!")
    await expect(page.locator(".celebration .pending")).to_have_text("We are checking")
    await expect(page.locator(f"{MAIN} .kind")).to_have_text("We are checking")
    stand.hit("validated")
    await expect(page.locator(f"{MAIN} .kind")).to_have_text("It is true")
    stand.keep_beating(tcp_main="closed", pit_2="inoperable")
    await expect(page.locator(f"{MAIN} .note")).to_contain_text("At rest")
    mark = page.locator('[data-link="pit-2"] .unavailable')
    await expect(mark).to_be_visible()
    await expect(mark).to_have_text("Back in a moment")
    assert refused == [] or all("ERR_" in each for each in refused)


@pytest.mark.slow
@pytest.mark.parametrize("body", [DRAWING, PNG], ids=["svg", "png"])
async def test_the_logo_is_shown(page: Page, sides: Sides, tmp_path: Path, body: bytes) -> None:
    stand = await sides(FLOOR + logo_section(tmp_path / "logo", body))
    stand.put(151_234, 5)
    await opened(page, stand)
    logo = page.locator(".mast .logo")
    await expect(logo).to_be_visible()
    await expect(logo).to_have_attribute("alt", "Keystone <Casino> & Resort")
    assert await logo.evaluate("(logo) => logo.naturalWidth") > 0
    address = await logo.get_attribute("src")
    served = await stand.get(address or "")
    assert served.content == body
    assert "immutable" in served.headers["cache-control"]
    assert "script-src 'self'" in served.headers["content-security-policy"]
    assert served.headers["x-content-type-options"] == "nosniff"
    assert (await stand.get("/signage/logo/000000000000")).status_code == 404


async def test_no_script_of_a_logo_would_run(
    page: Page, sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a script passed the check of the logo, the page's policy would still stop it."""
    monkeypatch.setattr("meters.floor.media_files._ACTIVE", frozenset())
    active = DRAWING.replace(b"<rect", b"<script>document.documentElement.id='ran'</script><rect")
    stand = await sides(FLOOR + logo_section(tmp_path / "logo.svg", active))
    await opened(page, stand)
    address = await page.locator(".mast .logo").get_attribute("src")
    await page.goto(f"{stand.url}{address}")
    assert await page.evaluate("document.documentElement.tagName") == "svg"
    assert await page.evaluate("document.documentElement.id") == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"", "is not an SVG, PNG or WebP image", id="empty"),
        pytest.param(b"GIF89a", "is not an SVG, PNG or WebP image", id="gif"),
        pytest.param(b"<html><svg></svg></html>", "is not an SVG, PNG or WebP image", id="html"),
        pytest.param(PNG + bytes(LOGO_BYTES_MAX), "at most 60000 are allowed", id="large"),
        pytest.param(DRAWING.replace(b"<rect", b"<script/><rect"), "script", id="script"),
        pytest.param(DRAWING.replace(b"<rect", b"<rect onload='x'"), "script", id="handler"),
        pytest.param(
            DRAWING.replace(b"<rect", b'<x-y:script xmlns:x-y="http://www.w3.org/2000/svg"/><rect'),
            "script",
            id="prefixed script",
        ),
        pytest.param(
            DRAWING.replace(b"<rect", b'<a href="java&#115;cript:1"/><rect'), "script", id="address"
        ),
        pytest.param(DRAWING[:-6], "not XML", id="half"),
        pytest.param(
            DRAWING.replace(b"?>", b' encoding="none"?>'), "not XML", id="unknown encoding"
        ),
        pytest.param(b'<!DOCTYPE svg [<!ENTITY a "b">]>' + DRAWING, "is not an SVG", id="entity"),
    ],
)
def test_what_is_no_logo_is_refused(tmp_path: Path, body: bytes, reason: str) -> None:
    path = tmp_path / "logo.svg"
    path.write_bytes(body)
    with pytest.raises(UserError, match=reason) as caught:
        read_logo(Branding(logo=str(path)))
    assert str(path) in str(caught.value)
    for name, why in (("none.svg", "No such file"), (".", "directory")):
        with pytest.raises(UserError, match=f"cannot be read: .*{why}"):
            read_logo(Branding(logo=str(tmp_path / name)))


async def test_a_house_s_folder_is_shown_on_the_pages_of_its_link(
    page: Page, sides: Sides, tmp_path: Path
) -> None:
    (tmp_path / "theme.toml").write_text(
        'background = "wall.svg"\nmetals = ["#ffb030"]\n[colors]\nglass = "#101828"\n'
    )
    (tmp_path / "wall.svg").write_bytes(DRAWING)
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    stand = await sides(FLOOR.replace('id = "pit-2"', f'id = "pit-2"\ntheme = "{tmp_path}/"', 1))
    stand.put(151_234, 5, link="pit-2")
    await opened(page, stand, "/signage/pit-2")
    ground = page.locator(".stage .ground")
    await expect(ground).to_be_visible()
    assert await ground.evaluate("(picture) => picture.naturalWidth") > 0
    glass = await page.evaluate(
        "getComputedStyle(document.querySelector('.glass')).backgroundImage"
    )
    assert "rgb(16, 24, 40)" in glass
    assert refused == []
    await page.goto(f"{stand.url}/signage")
    await expect(page.locator(".stage .ground")).to_have_count(0)


SOUND = (b"\xff\xfb\x90\xc4" + bytes(413)) * 200
"""Five seconds of silence, as an MP3."""

LISTENED = """
window.played = [];
const { play } = HTMLMediaElement.prototype;
HTMLMediaElement.prototype.play = function () {
  window.sound = this;
  window.played.push(this.currentTime);
  return play.call(this);
};
"""


async def test_the_sound_of_a_house_is_for_the_whole_screen_alone(
    page: Page, sides: Sides, tmp_path: Path
) -> None:
    (tmp_path / "theme.toml").write_text('sound = "win.mp3"\n')
    (tmp_path / "win.mp3").write_bytes(SOUND)
    await page.add_init_script(LISTENED)
    stand = await sides(f'{FLOOR}\n[signage]\ntheme = "{tmp_path}/"')
    stand.put(151_234, 5)
    await opened(page, stand)
    screen, ribbon = page.locator(".celebration"), page.locator(".ribbon")
    stand.hit(claim="c1", amount=100)
    await expect(ribbon).to_be_visible()
    stand.hit("rejected", claim="c1", amount=100)
    await expect(ribbon).to_be_hidden()
    assert await page.evaluate("window.played") == []
    for claim in ("c2", "c3"):
        stand.hit(claim=claim, amount=151_234)
        await expect(screen).to_be_visible()
        await eventually_async(
            partial(page.evaluate, "window.sound?.currentTime > 0 && !window.sound.paused")
        )
        stand.hit("rejected", claim=claim, amount=151_234)
        await expect(screen).to_be_hidden()
        assert await page.evaluate("window.sound.paused")
    assert await page.evaluate("window.played") == [0, 0]


async def test_a_browser_gets_the_part_of_a_sound_or_video_that_it_asks_for(
    sides: Sides, tmp_path: Path
) -> None:
    """Safari plays nothing else."""
    (tmp_path / "theme.toml").write_text('sound = "win.mp3"\n')
    (tmp_path / "win.mp3").write_bytes(SOUND)
    stand = await sides(f'{FLOOR}\n[signage]\ntheme = "{tmp_path}/"')
    (sound,) = re.findall('data-sound="([^"]*)"', (await stand.get("/signage")).text)
    whole = await stand.get(sound)
    assert (whole.status_code, whole.content) == (200, SOUND)
    assert whole.headers["accept-ranges"] == "bytes"
    size = len(SOUND)
    for asked, first, last in (
        ("0-1", 0, 1), ("5-", 5, size - 1), ("-3", size - 3, size - 1),
        (f"9-{size * 2}", 9, size - 1), (f"-{size * 2}", 0, size - 1),
    ):  # fmt: skip
        part = await stand.get(sound, Range=f"bytes={asked}")
        assert part.status_code == 206
        assert part.headers["content-range"] == f"bytes {first}-{last}/{size}"
        assert part.content == SOUND[first : last + 1]
    for asked in (f"{size}-", "9-3", "-0"):
        none = await stand.get(sound, Range=f"bytes={asked}")
        assert (none.status_code, none.headers["content-range"]) == (416, f"bytes */{size}")
    for other in ("bytes=0-1,4-5", "lines=0-1", "bytes=x"):
        assert (await stand.get(sound, Range=other)).status_code == 200


def test_another_look_is_another_version() -> None:
    """Thus a display that was already open shows the new theme by itself."""
    plain = load_assets(parse_floor(FLOOR))
    assert load_assets(parse_floor(FLOOR)).version == plain.version
    for look in (
        'title = "Other"', 'theme = "classic"', 'wording = { foot = "x" }', "rotate_seconds = 30",
    ):  # fmt: skip
        assert load_assets(parse_floor(f"{FLOOR}\n[signage]\n{look}")).version != plain.version


@pytest.mark.slow
@pytest.mark.parametrize("section", ["", OWN], ids=["the house's look", "a facility's"])
async def test_axe_finds_nothing_and_a_demonstration_says_so(
    browser: Browser, sides: Sides, section: str
) -> None:
    """It checks pending, validated, closed and unavailable meters, and the celebration."""
    floor = FLOOR.replace("[facility]", "[facility]\ndemonstration = true")
    for width, height in ((1920, 1080), (1024, 768), (390, 844)):
        stand = await sides(f"{floor}\n{section}")
        stand.put(151_234, 5)
        stand.put(720_000, 1, link="pit-2")
        stand.displays.put_jackpot("tcp-main", jackpot(), news=False)
        page = await browser.new_page(
            viewport={"width": width, "height": height}, bypass_csp=True, reduced_motion="reduce"
        )
        await opened(page, stand)
        mark = page.locator(".demonstration")
        await expect(mark).to_have_text("Demonstration: simulated play, no real money")
        stand.keep_beating(pit_2="closed")
        await expect(page.locator('[data-link="pit-2"] .note').first).to_be_visible()
        await check_accessible(page)
        stand.hit(claim="c2", amount=200_000)
        await expect(page.locator(".celebration")).to_be_visible()
        await check_accessible(page)
        if width == 1920:
            box = await mark.bounding_box()
            assert box is not None
            seen = await page.evaluate(
                "([x, y]) => document.elementFromPoint(x, y).className",
                [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
            )
            assert seen == "demonstration"
        await page.close()
