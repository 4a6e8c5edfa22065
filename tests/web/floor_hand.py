"""Actions of a person on the floor page: sign in, press, type and look."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
from playwright.async_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from meters.acts.claim_types import ClaimRow, EnvyOwed, Wagered
from meters.web.security import COOKIE
from tests.browsers import Finger, sees
from tests.web.stand import CLAIM, PIN, Stand

SIZES: Final[Mapping[str, tuple[int, int]]] = {
    "phone": (390, 844),
    "tablet": (1024, 768),
    "upright": (800, 1280),
    "desk": (1440, 900),
}

ROYAL: Final = msgspec.structs.replace(
    CLAIM, claim="TCP-04-R12-1", order="21", turn=1, turns=1, meter="five_of_six_progressive",
    meter_name="5 of 6 Progressive", table="TCP-04", asset="104214", round="R12", position=7,
    patron="Walter Ng", item="five_of_six_progressive", item_name="5 of 6 Progressive",
    hand="royal_flush_spades", hand_name="Royal flush of spades", cards=("As", "Ks", "Qs"),
    dealer=("2c", "Ts", "Js"), community=("Jd", "4h"),
    counted=("As", "Ks", "Qs", "2c", "Ts", "Js"), winning=("As", "Ks", "Qs", "Ts", "Js"),
    chips=5, electronic=("five_card_hand_bonus", "five_card_hand_bonus_dealer"),
    amount=2_345_678, meter_after=1_000_000,
    rule="649a.12(j)(1)", tax_documents=True, at="2026-11-20T02:15:30.000Z",
    wagers=(
        Wagered(position=7, patron="Walter Ng", wagers={
            "progressive": 100, "five_card_progressive": 100, "five_of_six_progressive": 100,
            "five_card_hand_bonus": 500, "five_card_hand_bonus_dealer": 500}),
        Wagered(position=5, patron="p5", wagers={"five_of_six_progressive": 100}),
        Wagered(position=2, patron=None, wagers={"five_of_six_progressive": 100}),
    ),
    envy=(
        EnvyOwed(position=5, patron="p5", item="five_of_six_envy", amount=100_000),
        EnvyOwed(position=2, patron=None, item="five_of_six_envy", amount=100_000),
    ),
    envy_amount=200_000,
)  # fmt: skip
"""A jackpot at a table with community cards, with Envy Bonuses for two positions."""


class FloorRoom:
    """A web side with its staff, and their open pages, each in its own browser."""

    def __init__(self, stand: Stand, browser: Browser) -> None:
        self.stand = stand
        self.errors: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    @property
    def acts(self) -> list[tuple[str, str, str]]:
        return [(claim, act, actor) for claim, act, actor, *_ in self.stand.claims.acts]

    async def page(
        self, size: str = "tablet", path: str | None = None, *, bypass_csp: bool = False
    ) -> Page:
        """Return a page of one of the sizes, not signed in; with a path, opened there."""
        width, height = SIZES[size]
        context = await self._browser.new_context(
            viewport=ViewportSize(width=width, height=height), bypass_csp=bypass_csp,
            has_touch=size != "desk", reduced_motion="reduce",
        )  # fmt: skip
        self._contexts.append(context)
        page = await context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        if path is not None:
            await page.goto(self.stand.url + path)
        return page

    async def signed_in(
        self, name: str, view: str = "", size: str = "tablet", *, bypass_csp: bool = False
    ) -> Page:
        page = await self.page(size, bypass_csp=bypass_csp)
        await self.sign_in(page, name, view)
        return page

    async def sign_in(self, page: Page, name: str, view: str = "") -> None:
        await page.goto(f"{self.stand.url}/floor{view and '#'}{view}")
        await type_sign_in(page, name)
        await expect(page.locator(".who")).to_contain_text(name)

    async def leave(self) -> None:
        for context in self._contexts:
            await context.close()
        assert self.errors == [], self.errors


async def type_sign_in(page: Page, name: str, pin: str = PIN) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("PIN", exact=True).fill(pin)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def go(page: Page, view: str) -> None:
    """Go to a view, whose way may be under "More"."""
    way = page.get_by_role("navigation").get_by_role("link", name=view)
    if not await way.is_visible():
        await page.get_by_role("button", name="More views").click()
    await way.click()


async def back(page: Page) -> None:
    """Return from what is open to the list, on a screen with room for one of both."""
    await page.get_by_role("link", name="Back").click()


async def account(page: Page, press: str = "") -> Locator:
    """Open the menu of the signed-in user, and press one of its buttons."""
    menu = page.locator("#account")
    if not await menu.is_visible():
        await page.locator(".who").click()
    if press:
        await menu.get_by_role("button", name=press).click()
    return menu


async def lapse(room: FloorRoom, page: Page) -> None:
    """Have the session of a page lapse at the service. The page is not informed."""
    (token,) = [
        str(cookie.get("value"))
        for cookie in await page.context.cookies()
        if cookie.get("name") == COOKIE
    ]
    key = room.stand.user_keys.session_of(token)
    assert await room.stand.redis.hincrby(key, "touched", -300_000)


def claim_row(page: Page, row: ClaimRow = CLAIM) -> Locator:
    """Return the row of a claim in the list."""
    return page.locator(f'.list [data-claim="{row.claim}"]')


def opened(page: Page, row: ClaimRow = CLAIM) -> Locator:
    """Return the pane of a claim, if it is open."""
    return page.locator(f'.detail[data-claim="{row.claim}"]')


async def claim_card(page: Page, row: ClaimRow = CLAIM) -> Locator:
    """Open a claim of the list, unless it is open, and return its pane."""
    pane = opened(page, row)
    if not await pane.is_visible():
        link = page.get_by_role("link", name="Back")
        if await link.is_visible():
            await link.click()
        await claim_row(page, row).get_by_role("link").click()
        await expect(pane).to_be_visible()
    return pane


async def press_on(page: Page, name: str, row: ClaimRow = CLAIM) -> None:
    """Press a button of a claim, whose evidence is then on the screen."""
    await press(await claim_card(page, row), name)


async def press(within: Page | Locator, name: str) -> None:
    await within.get_by_role("button", name=name).first.click()


async def press_while(
    page: Page, button: Locator, path: str, change: Callable[[], Awaitable[None] | None]
) -> None:
    """Press a button with a finger; between down and up, something changes that the page reads."""
    await button.click(trial=True)  # it stands still, and nothing covers it
    finger = Finger(page, "touch")
    await finger.down(button)
    async with page.expect_response(f"**/api/v1/{path}") as read:
        if (changing := change()) is not None:
            await changing
    await (await read.value).finished()
    await evaluated(page, f"await api.get('/api/v1/{path}')")
    await finger.up()


async def resize(page: Page, size: str) -> None:
    width, height = SIZES[size]
    await page.set_viewport_size({"width": width, "height": height})


def dialog(page: Page) -> Locator:
    return page.locator("dialog[open]")


async def answer(page: Page, name: str) -> None:
    await dialog(page).get_by_role("button", name=name).click()


async def warned(page: Page, text: str, act: str) -> None:
    """Try to do the act of the open dialog, which it refuses with a text."""
    await answer(page, act)
    await sees(dialog(page).get_by_role("alert"), text)


async def evaluated(page: Page, expression: str, given: object = None) -> object:
    """Return the value of an expression that uses the page's modules `api` and `format`."""
    script = f"""async (given) => {{
      const entry = document.querySelector("script[type=module]").src;
      const load = (name) => import(new URL(`./floor_${{name}}.js`, entry));
      const [api, format] = await Promise.all([load("api"), load("format")]);
      return {expression};
    }}"""
    return await page.evaluate(script, given)
