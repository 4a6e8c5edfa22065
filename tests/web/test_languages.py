"""Patron pages in the languages of the floor file, one after another or one alone."""

import re
from typing import Final, get_args

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

from meters.floor.branding import Branding, Language
from meters.floor.floor_file import Floor
from meters.floor.patron_words import patron_words
from meters.floor.translations import translations
from meters.web.display_state import VerifiedWin, WinsRow
from tests.floor_text import METERS, floor_text, link_text, meter_text, table_text
from tests.waiting import LONG_S, eventually_async
from tests.web.conftest import Sides
from tests.web.signage_page import MAIN, is_live, opened, shows, was_not_reloaded
from tests.web.stand import FLOOR, Stand, jackpot

OTHERS: Final = tuple(each for each in get_args(Language) if each != "en")
HOUSE: Final = floor_text(
    link_text(
        "tcp-main",
        meter_text(METERS[0], tier=1),
        *(meter_text(kind) for kind in METERS[1:3]),
        meter_text(METERS[3], magic_card_every=24, lucky_every=12, limit=10_000_000),
        table_text("TCP-03", *METERS),
        name="Keystone Main",
    ),
    link_text("pit-2", meter_text("progressive", 500), name="Keystone Second"),
    name="Keystone Casino",
    demonstration=True,
)
PATHS: Final = ("", "/tcp-main", "/tcp-main/pays", "/tcp-main/pays/TCP-03")
BESIDES: Final = {"es": {"nov", "a", "p", "m"}, "vi": {"thg"}, "zh-Hans": set[str]()}
"""Words of dates and times."""

# Returns every text of the page, also what it says only in another state, or to a screen reader.
SAID: Final = """() => {
  const found = [];
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!parentElement.closest("script, noscript, .card, .face")) found.push(data);
  }
  for (const name of ["aria-label", "alt", "title", "data-example", "data-preview", "data-title"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) found.push(each.getAttribute(name));
  }
  return found;
}"""


def words_in(text: str, language: Language) -> set[str]:
    """Return the words of a text; of a Chinese one, only those in Latin letters."""
    pattern = r"[A-Za-z]+" if language == "zh-Hans" else r"[^\W\d_]+"
    return {word.casefold() for word in re.findall(pattern, text)}


def known_words(floor: Floor, language: Language) -> set[str]:
    """Return the words of the catalog, and those of the names in the floor file and the games."""
    catalogs = [translations("meters.floor", language, of) for of in (None, "hand", "meter")]
    texts = [text for catalog in catalogs for text in catalog.values()]
    names = [floor.facility.name, *(game.title for game in floor.games.values())]
    for link in floor.link:
        names += [link.name, *(table.id for table in link.table)]
    places = re.compile(r"\{\w+\}")
    found = (words_in(places.sub("", text), language) for text in (*texts, *names))
    return BESIDES[language].union(*found)


async def check_said(page: Page, floor: Floor, language: Language) -> None:
    known = known_words(floor, language)
    for text in await page.evaluate(SAID):
        assert words_in(text, language) <= known, (page.url, text)


async def no_celebration(page: Page, stand: Stand, claim: str) -> None:
    stand.hit("rejected", claim)
    for place in (".celebration", ".ribbon"):
        await expect(page.locator(place)).to_be_hidden()


@pytest.mark.parametrize("language", OTHERS)
async def test_a_page_says_nothing_in_english(page: Page, sides: Sides, language: Language) -> None:
    stand = await sides(HOUSE)
    floor = stand.floor
    for link in floor.link:
        for meter in link.meter:
            stand.put(112_362, 1, link=link.id, meter=meter.meter_id)
    for path in PATHS:
        await opened(page, stand, f"/signage{path}?lang={language}")
        await check_said(page, floor, language)
    for preview in ("hit", "unavailable"):
        await page.goto(f"{stand.url}/signage/tcp-main?preview={preview}&lang={language}")
        await check_said(page, floor, language)
    message = (await stand.get(f"/signage/message.html?lang={language}")).text
    texts = re.sub(r"<[^>]*>", " ", message[message.index("<body") :])
    assert words_in(texts, language) <= known_words(floor, language)
    words = patron_words(floor.signage, language)
    await opened(page, stand, f"/signage/tcp-main?lang={language}")
    locale = await page.locator("html").get_attribute("lang")
    assert locale == {"es": "es-US"}.get(language, language)
    won = VerifiedWin(
        meter="progressive", table="TCP-03", hand_name="Mini-royal", amount=60_000, percent=10,
        at="2026-11-20T15:55:00.000Z",
    )  # fmt: skip
    row = WinsRow(
        link="tcp-main", day="2026-11-20", count=2, amount=160_000, latest=(won, won), last=won
    )
    stand.displays.put_wins(row)
    await expect(page.locator(".fact.today")).to_contain_text(words.won_today)
    screen, ribbon = page.locator(".celebration"), page.locator(".ribbon")
    for claim, percent in (("c1", 100), ("c2", 10)):
        stand.hit(claim=claim, amount=60_000, percent=percent, cards="As Ks Qs")
        await expect(screen.locator(".celebration-hand")).to_have_text(
            words.hand_text("mini_royal_spades")
        )
        await check_said(page, floor, language)
        await no_celebration(page, stand, claim)
    stand.hit(claim="c3", amount=2_000, percent=10, cards="9h 8h 7h", hand="straight_flush")
    await expect(ribbon).to_contain_text(words.hand_text("straight_flush"))
    await check_said(page, floor, language)
    await no_celebration(page, stand, "c3")
    for claim in ("d1", "d2"):
        stand.displays.put_jackpot("tcp-main", jackpot(claim=claim), news=False)
    note = page.locator(f"{MAIN} .note")
    await expect(note).to_contain_text(words.pending)
    await check_said(page, floor, language)
    for claim in ("d1", "d2"):
        stand.hit("validated", claim)
    await expect(note).to_contain_text(words.validated)
    await check_said(page, floor, language)
    stand.keep_beating(tcp_main="closed")
    await expect(note).to_contain_text(words.closed)
    await check_said(page, floor, language)


# Returns the places of what must not move, and of every digit.
PLACES: Final = """() => [...document.querySelectorAll(
    ".mast, .floor, .meter, .glass, .amount, .digit, .slot, .bar")].map((each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return [each.className, ...[x, y, width, height].map(Math.round)];
})"""
# Keeps what scripts animate.
ANIMATED: Final = """
window.animated = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, ...rest) {
  window.animated.push([this.className, ...new Set(frames.flatMap(Object.keys))]);
  return animate.call(this, frames, ...rest);
};
"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
async def test_a_display_changes_its_language_and_nothing_moves(
    page: Page, sides: Sides, motion: str
) -> None:
    await page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
    await page.add_init_script(ANIMATED)
    stand = await sides(
        f'{FLOOR}\n[signage]\nlanguages = ["en", "es", "vi", "zh-Hans"]\nrotate_seconds = 3\n'
        'wording = { foot = "21+ only" }'
    )
    stand.put(112_362, 7)
    stand.put(1_234_567, 7, meter="five_card_hand_bonus")
    await opened(page, stand, "/signage/tcp-main")
    html, wins = page.locator("html"), page.locator(f"{MAIN} .wins")
    await expect(html).to_have_attribute("lang", "es-US")
    await page.evaluate("window.drum = document.querySelector('.digit')")
    stand.put(112_399, 8)
    await shows(page, "$1,123.99")
    places = None
    order: tuple[Language, ...] = ("vi", "zh-Hans", "en", "es")
    for language in order:
        locale = patron_words(stand.floor.signage, language).locale
        await expect(html).to_have_attribute("lang", locale)
        words = patron_words(stand.floor.signage, language)
        await expect(wins).to_contain_text(words.wins_all)
        await expect(page.locator(f"{MAIN} h3")).to_have_text(
            words.meters.get("Progressive", "Progressive")
        )
        await expect(page.locator(".foot")).to_have_text("21+ only")
        await shows(page, "$1,123.99")
        places = places or await page.evaluate(PLACES)
        assert await page.evaluate(PLACES) == places
    assert await page.evaluate("window.drum.isConnected")
    assert await was_not_reloaded(page)
    animated = await page.evaluate("window.animated")
    assert (animated == []) is (motion == "reduce")
    assert all(keys == ["opacity"] for _, *keys in animated)


async def test_a_display_without_motion_has_the_next_language_with_the_next_view(
    page: Page, sides: Sides
) -> None:
    """Each view is shown in each language, whatever their numbers."""
    stand = await sides(
        f'{FLOOR}\n[signage]\nlanguages = ["en", "es"]\nrotate = "links"\nrotate_seconds = 3'
    )
    await page.emulate_media(reduced_motion="reduce")
    stand.put(112_362, 7)
    stand.put(720_000, 1, link="pit-2")
    await opened(page, stand)
    for locale, link in (("en", "pit-2"), ("es-US", "tcp-main"), ("es-US", "pit-2")):
        await expect(page.locator(f'html[lang="{locale}"] [data-link="{link}"]')).to_be_visible()


async def test_a_display_gets_the_fonts_of_its_language_alone(
    browser: Browser, stand: Stand
) -> None:
    stand.put(112_362, 7)
    for language, has in (
        ("en", set[str]()),
        ("es", set[str]()),
        ("vi", {"archivo-vietnamese", "classic-serif-vietnamese"}),
        ("zh-Hans", {"noto-sans-sc-words"}),
    ):
        context = await browser.new_context(service_workers="block")
        page = await context.new_page()
        sent: set[str] = set()

        def keep(request: Request, sent: set[str] = sent) -> None:
            sent.add(request.url.rpartition("/")[2].removesuffix(".woff2"))

        page.on("request", keep)
        await opened(page, stand, f"/signage/tcp-main?lang={language}")
        await page.evaluate("document.fonts.ready.then(() => null)")
        assert "archivo-latin" in sent
        others = {"archivo-vietnamese", "classic-serif-vietnamese", "tilt-neon-vietnamese"}
        assert sent & {*others, "archivo-latin-ext", "noto-sans-sc-words"} == has
        await context.close()


@pytest.mark.parametrize("path", [*PATHS, "/message.html"])
async def test_an_unknown_language_is_refused_in_words(sides: Sides, path: str) -> None:
    stand = await sides(HOUSE)
    answer = await stand.get(f"/signage{path}?lang=fr")
    assert answer.status_code == 404
    known = "there is no language fr: the languages are en, es, zh-Hans, vi"
    assert answer.json()["error"]["message"] == known


async def test_a_display_keeps_the_message_in_its_own_language(
    browser: Browser, stand: Stand
) -> None:
    stand.put(112_362, 7)
    context = await browser.new_context()
    page = await context.new_page()
    await opened(page, stand, "/signage/tcp-main?lang=vi")

    async def is_kept() -> bool:
        asked = "caches.match('/signage/message.html?lang=vi').then((kept) => kept !== undefined)"
        return bool(await page.evaluate(asked))

    await eventually_async(is_kept, within_s=LONG_S, what="the message")
    await stand.stop()
    late = await context.new_page()
    await late.goto(f"{stand.url}/signage/tcp-main?lang=vi")
    words = patron_words(Branding(), "vi")
    await expect(late.locator(".headline")).to_have_text(words.unavailable_head)
    font = "document.fonts.check('16px \"Classic Serif\"', 'ắ')"
    assert await late.evaluate(f"document.fonts.ready.then(() => {font})")
    await stand.start()
    stand.keep_beating()
    stand.put(112_399, 8)
    await is_live(late)
    await context.close()


async def test_a_message_without_the_service_is_in_one_language_after_another(
    page: Page, sides: Sides
) -> None:
    stand = await sides(f'{FLOOR}\n[signage]\nlanguages = ["es", "en"]\nrotate_seconds = 3')

    async def answer(route: Route) -> None:
        none = "export const reload = () => {};"
        await route.fulfill(body=none, content_type="text/javascript")

    await page.route("**/requests.js", answer)
    await page.goto(f"{stand.url}/signage/message.html")
    shown = page.locator(".headline:visible")
    await expect(shown).to_have_text("Un momento, por favor")
    await expect(shown).to_have_text("One moment, please")
    await expect(page.locator("html")).to_have_attribute("lang", "en")
