"""The boxes on signage, in every state of the meters and at every size of a display.

One server and one page serve all combinations. The page goes through all states once, and its
contents in each state are recorded. Then the contents are drawn and measured at each size.
"""

from collections.abc import AsyncIterator
from itertools import product
from typing import Final

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from meters.floor.branding import Language
from meters.floor.floor_file import Link, Meter
from meters.floor.patron_words import patron_words
from meters.web.display_state import WinningHand
from tests.browsers import SharedBrowser
from tests.floor_text import METERS, floor_text, link_text, meter_text, section_text, table_text
from tests.web.signage_page import is_live
from tests.web.stand import Stand, jackpot

SIZES: Final = (
    (800, 480), (1024, 768), (1280, 720), (1920, 1080), (3840, 2160), (1080, 1920), (2160, 3840),
)  # fmt: skip
MORE_SIZES: Final = {"l3": ((2560, 720), (1920, 360), (390, 844)), "": ((2560, 720), (480, 800))}
"""Further sizes, for the page of a link and for that of the whole floor."""

COUNTS: Final = range(1, 9)
AMOUNTS: Final = (999_999_999, 112_362, 5_234_567, 151_234)
LONGEST: Final = "Three Card Poker Grand Progressive Jackpot with Five-Card Hand Bonus at Our Pits"
FAR: Final = "h1, h2, h3, .wins li:not(.hand) > b, .celebration-hand, .celebration-where"
"""Texts that patrons must be able to read from ten meters."""

NEAR: Final = ".celebration-hand, .celebration-where"
"""Such texts on the page with paytables, which is read from a seat."""


RANKS: Final = {"Mega": 1, "Major": 2, "Minor": 3, "Mini": 3}


def meters(count: int, name: str | None = None) -> list[str]:
    return [
        meter_text(METERS[at % 4], (100, 500)[at // 4 % 2], id=f"m{at}", name=name)
        for at in range(count)
    ]


def ranked(count: int) -> list[str]:
    return [
        meter_text(kind, id=f"m{at}", name=name, tier=tier)
        for at, (kind, (name, tier)) in enumerate(zip(METERS, RANKS.items(), strict=True))
    ][:count]


LONG_TABLE: Final = "TCP-" + "0" * 27 + "1"
FLOOR: Final = floor_text(
    *(link_text(f"l{count}", *meters(count), name=f"Three Card Poker {count}") for count in COUNTS),
    *(link_text(f"r{count}", *ranked(count), name="Liberty Jackpot") for count in (3, 4)),
    link_text("long", *meters(4, LONGEST), table_text(LONG_TABLE, "m0", "m1"), name=LONGEST),
    section_text(
        "[signage]",
        rotate_seconds=600,
        wording={"foot": "If you or someone you know has a gambling problem: 1-800-GAMBLER."},
    ),
    name="Keystone Casino & Resort",
)

SIGNAGE: Final = (*(f"l{count}" for count in COUNTS if count != 3), "r4", "long")
IN_ALL: Final = ("l3", "l1", "l2", "l4", "l8", "l1/pays", "l4/pays", "l8/pays")
OTHERS: Final[tuple[Language, ...]] = ("es", "vi", "zh-Hans")
PAYTABLES: Final = ("l1/pays", "l2/pays", "l4/pays", "l8/pays", f"long/pays/{LONG_TABLE}")


async def contents(page: Page) -> str:
    return str(await page.evaluate("document.body.innerHTML"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stand() -> AsyncIterator[Stand]:
    async with Stand(FLOOR).running(beating=True) as stand:
        for link in stand.floor.link:
            for at, meter in enumerate(link.meter):
                stand.put(AMOUNTS[at % 4], 1, link=link.id, meter=meter.meter_id)
        yield stand


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(shared_browser: SharedBrowser) -> AsyncIterator[Page]:
    browser = await shared_browser.connected()
    page = await browser.new_page(reduced_motion="reduce", viewport={"width": 800, "height": 480})
    yield page
    await page.close()


async def recorded(
    page: Page, stand: Stand, link: Link, path: str, language: Language
) -> dict[str, str]:
    """Take the page of a link through all states, and return its contents in each."""
    words = patron_words(stand.floor.signage, language)
    table = LONG_TABLE if link.id == "long" else "TCP-03"

    def decide(
        event: str, claim: str, meter: Meter, *, news: bool = False, amount: int = AMOUNTS[0]
    ) -> None:
        win = jackpot(
            event, f"{path}-{language}-{meter.meter_id}-{claim}", meter=meter.meter_id, table=table,
            amount=amount, hand="royal_flush_spades",
        )  # fmt: skip
        hand = WinningHand(("As", "Ks", "Qs", "Js", "Ts"), 100)
        stand.displays.put_jackpot(link.id, win, hand, news=news)

    async def all_meters(selector: str) -> None:
        meters = page.locator(f".meter:has({selector}), .meter{selector}")
        await expect(meters).to_have_count(len(link.meter))

    shown = {}
    # A page of the last link would reload when its link opens again.
    await page.goto("about:blank")
    stand.keep_beating()
    await page.goto(f"{stand.url}/signage/{path}{'&' if '?' in path else '?'}lang={language}")
    await is_live(page)
    shown["live"] = await contents(page)
    if not path:
        return shown
    stand.keep_beating(**{link.id: "inoperable"})
    await all_meters('[data-state="unavailable"]')
    shown["unavailable"] = await contents(page)
    assert await page.evaluate("document.body.dataset.shown") == "unavailable"
    stand.keep_beating()
    await all_meters('[data-state="live"]')
    for wins in range(1, 6):
        for meter in link.meter:
            decide("hit", str(wins), meter)
        text = words.one_of.format(at="", count=wins) if wins > 1 else words.pending
        await all_meters(f'.kind:text("{text}")')
        shown[f"{wins} pending"] = await contents(page)
    decide("hit", "celebrated", link.meter[0], news=True)
    await expect(page.locator(".celebration")).to_be_visible()
    shown["celebration"] = await contents(page)
    decide("rejected", "celebrated", link.meter[0])
    await expect(page.locator(".celebration")).to_be_hidden()
    small = stand.floor.signage.celebrate_from - 1
    decide("hit", "small", link.meter[0], news=True, amount=small)
    await expect(page.locator(".ribbon")).to_be_visible()
    shown["ribbon"] = await contents(page)
    decide("rejected", "small", link.meter[0], amount=small)
    await expect(page.locator(".ribbon")).to_be_hidden()
    stand.keep_beating(**{link.id: "closed"})
    await all_meters('[data-state="closed"]')
    shown["closed with 5 pending"] = await contents(page)
    for meter in link.meter:
        for wins in range(1, 6):
            decide("rejected", str(wins), meter)
    await all_meters('.note[data-kind="closed"]')
    assert await page.evaluate("document.body.dataset.shown") == "closed"
    shown["closed"] = await contents(page)
    return shown


@pytest.mark.duty("D1", proof=True)
@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("l3", "en"),
        ("r3", "en"),
        ("r3", "vi"),
        ("r3?meter=m2", "en"),
        *(pytest.param(path, "en", marks=pytest.mark.slow) for path in ("", *SIGNAGE, *PAYTABLES)),
        *(pytest.param(*both, marks=pytest.mark.slow) for both in product(IN_ALL, OTHERS)),
    ],
)
async def test_no_box_overlaps_another_or_leaves_its_place(
    page: Page, stand: Stand, path: str, language: Language
) -> None:
    """The page of the whole floor is measured only while all links are in play."""
    of, _, pays = path.partition("/pays")
    of, _, alone = of.partition("?meter=")
    link = next(each for each in stand.floor.link if each.id == (of or "l1"))
    if alone:
        meters = tuple(each for each in link.meter if each.meter_id == alone)
        link = msgspec.structs.replace(link, meter=meters)
    if pays:
        table = stand.floor.find_table(pays[1:])
        if table is not None:
            meters = tuple(each for each in link.meter if each.meter_id in table[1].meters)
            link = msgspec.structs.replace(link, meter=meters)
    states = await recorded(page, stand, link, path, language)
    far, least = (NEAR, 0.05) if "/" in path else (FAR, 0.109)
    found = []
    for width, height in (*SIZES, *MORE_SIZES.get(path, ())):
        await page.set_viewport_size({"width": width, "height": height})
        measured = {"states": states, "far": far, "least": least}
        found += await page.evaluate(MEASURE, measured)
    assert found == []


async def test_the_first_of_three_ranks_is_about_twice_as_large(page: Page, stand: Stand) -> None:
    """Though two hands are listed at one of the others. The names have one face, too."""
    stand.keep_beating()
    await page.goto("about:blank")  # a page of the last test would reload itself
    await page.set_viewport_size({"width": 1920, "height": 1080})
    await page.goto(f"{stand.url}/signage/r3")
    await is_live(page)
    first, *others = await page.locator(".amount").evaluate_all(
        "(amounts) => amounts.map((amount) => parseFloat(getComputedStyle(amount).fontSize))"
    )
    assert await page.locator('.meter[data-rows="2"]:not([data-first])').count() > 0
    assert len(others) == 2
    assert 1.85 <= first / max(others) <= 2.3
    await page.goto(f"{stand.url}/signage/l8")
    await is_live(page)
    faces = await page.locator(".meter:visible .tag").evaluate_all(
        "(tags) => tags.map((tag) => getComputedStyle(tag).fontFamily)"
    )
    assert len(faces) > 1
    assert len(set(faces)) == 1


MEASURE: Final = """
async ({ states, far, least }) => {
  const url = document.querySelector('script[src*="signage.js"]').src;
  const { Rotation } = await import(url.replace("signage.js", "signage_rotation.js"));
  const found = [];
  const { innerWidth: width, innerHeight: height } = window;
  const short = Math.min(width, height);
  let celebrating = false;
  let ribbon = null;
  const seen = (element) => element.checkVisibility({ visibilityProperty: true })
    && !element.closest(".pause, [hidden]")
    && (element.matches(".note, .note *") || getComputedStyle(element).clipPath === "none")
    && (!celebrating || element.closest(".celebration, .demonstration"))
    && (!ribbon || !element.closest(".bar"));
  const within = (inner, outer, by = 1) => inner.left >= outer.left - by
    && inner.top >= outer.top - by && inner.right <= outer.right + by
    && inner.bottom <= outer.bottom + by;
  /* The boxes of a text's lines, each as high as the size of its font. */
  const lines = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const size = parseFloat(getComputedStyle(node.parentElement).fontSize);
    return [...range.getClientRects()].filter((box) => box.width > 0).map((box) => {
      const middle = (box.top + box.bottom) / 2;
      const { left, right } = box;
      return { left, right, top: middle - size / 2, bottom: middle + size / 2 };
    });
  };
  /* The ink of a line, with the marks of its letters. */
  const ink = (element) => {
    const style = getComputedStyle(element);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { textContent: text } = element;
    const isUpper = style.textTransform === "uppercase";
    const drawn = context.measureText(isUpper ? text.toUpperCase() : text);
    const line = document.createElement("i");
    line.style.display = "inline-block";
    element.append(line);
    const { bottom: base } = line.getBoundingClientRect();
    line.remove();
    const { actualBoundingBoxAscent: above, actualBoundingBoxDescent: below } = drawn;
    return { top: base - above, bottom: base + below };
  };
  const boxOf = (element) => element.getBoundingClientRect();
  const MARKED = [
    [".celebration-word > span", () => {
      const rim = document.querySelector(".marquee");
      const { top } = boxOf(rim);
      return {
        top: top + parseFloat(getComputedStyle(rim, "::before").paddingTop) + 0.004 * short,
        bottom: boxOf(document.querySelector(".fan")).top,
      };
    }],
    [".mast h1 > span", (title) => boxOf(title.closest(".mast"))],
    [".meter:not([data-long]) .tag h3", (name) => boxOf(name.closest(".tag"))],
    [".sign .headline", (head) => boxOf(head.closest(".sign"))],
  ];
  const look = (where) => {
    const say = (what) => found.push(`${where}: ${what}`);
    const boxes = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      const owner = node.parentElement;
      if (!node.data.trim() || !seen(owner)) continue;
      for (const box of lines(node)) boxes.push([owner, node.data.trim(), box]);
      const block = owner.closest("h1, h2, .house, .stake, .note, .wins, .foot, .paytable, .sign, "
        + ".ribbon, .celebration > *");
      if (block && block.scrollWidth > block.clientWidth + 1) say(`"${node.data}" is too wide`);
      const letter = parseFloat(getComputedStyle(owner).fontSize) * 0.7;
      if (owner.matches(far) && letter < 0.032 * short) {
        say(`"${node.data}" has letters ${letter} px high`);
      }
    }
    for (const [selector, around] of MARKED) {
      for (const each of document.querySelectorAll(selector)) {
        if (!seen(each) || lines(each.firstChild).length > 1) continue;
        const { top, bottom } = ink(each);
        const room = around(each);
        if (top < room.top - 1 || bottom > room.bottom + 1) {
          say(`the marks of "${each.textContent}" reach out of their place`);
        }
      }
    }
    for (const amount of document.querySelectorAll(".amount")) {
      if (!seen(amount) || amount.firstChild === null) continue;
      const row = amount.getBoundingClientRect();
      boxes.push([amount, amount.getAttribute("aria-label"), row]);
      const room = amount.parentElement.getBoundingClientRect();
      let right = row.left;
      for (const sign of amount.querySelectorAll(".digit")) {
        const box = sign.getBoundingClientRect();
        const over = parseFloat(getComputedStyle(sign).paddingLeft);
        const { top, bottom } = box;
        if (!within({ top, bottom, left: box.left + over, right: box.right - over }, room)) {
          say(`a digit of ${amount.ariaLabel} is outside its place`);
        }
        if (box.left + over < right - 1) say(`two digits of ${amount.ariaLabel} overlap`);
        right = box.right - over;
      }
      const size = parseFloat(getComputedStyle(amount).fontSize);
      const atTable = width <= 900 && height <= 600;
      if (size * 0.71 < (celebrating ? 0.05 : atTable ? 0.083 : least) * short) {
        say(`${amount.ariaLabel} is drawn in ${size} px`);
      }
    }
    for (const [owner, text, box] of boxes) {
      if (!within(box, { left: 0, top: 0, right: width, bottom: height })) {
        say(`"${text}" is outside the screen`);
      }
      const face = owner.closest(".slot, .glass, .mast, .bar, .ribbon, .paytable, .sign, "
        + ".celebration");
      if (face && !within(box, face.getBoundingClientRect())) say(`"${text}" leaves its place`);
    }
    boxes.forEach(([owner, text, one], number) => {
      for (const [other, words, two] of boxes.slice(number + 1)) {
        const apart = one.right <= two.left + 1 || two.right <= one.left + 1
          || one.bottom <= two.top + 1 || two.bottom <= one.top + 1;
        if (owner !== other && !apart) say(`"${text}" and "${words}" overlap`);
      }
    });
    const below = ribbon && width >= 460 ? ribbon.getBoundingClientRect().top : height;
    for (const meter of document.querySelectorAll(".meter:not([hidden])")) {
      if (meter.getBoundingClientRect().bottom > below + 1) say("the ribbon covers a meter");
    }
    const page = document.documentElement;
    if (page.scrollHeight > height || page.scrollWidth > width) say("the page scrolls");
  };
  const shownIn = (state) => (["unavailable", "closed"].includes(state) ? state : "live");
  const all = (selector) => [...document.querySelectorAll(selector)];
  /* The meters are divided while all are in play. What happens later must not move them. */
  let views = null;
  for (const [state, html] of Object.entries(states)) {
    document.body.innerHTML = html;
    document.body.dataset.shown = shownIn(state);
    /* The page's policy refuses the styles of a text, and takes those of a script. */
    for (const each of all(".ribbon[style]")) each.style.cssText = each.getAttribute("style");
    ribbon = document.querySelector(".ribbon:not([hidden])");
    const floor = document.querySelector(".floor");
    if (views === null) {
      const rotation = new Rotation(floor, document.createElement("button"));
      rotation.arrange();
      views = rotation.views.map((view) => [
        view.map((meter) => all(".meter").indexOf(meter)), rotation.tight.has(view),
      ]);
      if (views.flatMap(([view]) => view).length !== all(".meter").length) found.push("no turn");
    }
    celebrating = !document.querySelector(".celebration").hidden;
    views.forEach(([view, isTight], at) => {
      const meters = all(".meter");
      const shown = view.map((index) => meters[index]);
      const tight = new Set(isTight ? [shown] : []);
      Rotation.prototype.reveal.call({ floor, sections: all(".link"), tight }, shown);
      const where = `${state} at ${width}x${height}, view ${at + 1} of ${views.length}`;
      look(where);
      if (!celebrating) return;
      /* In a demonstration, it has less room. */
      document.documentElement.dataset.demo = "";
      look(`${where}, as a demonstration`);
      delete document.documentElement.dataset.demo;
    });
  }
  return [...new Set(found)];
}
"""
"""Script that returns what is wrong with the boxes of a page at its present size.

The script draws each of `states`, the recorded contents of the page, and looks at each view of the
rotation. Texts and amounts must not overlap each other, leave their containers or leave the screen.
The digits of an amount must stay in its row, one after another. Elements that match `far` must have
letters of the height that the style sheet derives, 3.2% of the screen's shorter side. Numerals must
be at least `least` of the shorter side high.
"""
