"""A pit as on the floor: broker, Redis, service, one table's panel, and people's screens."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
from playwright.async_api import Browser, Page, ViewportSize, expect

from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.panel.stand import Hand
from tests.processes import Pitlink, run_pitlink
from tests.servers import Mosquitto, RedisServer
from tests.staff import PIN, Colleague, hire
from tests.waiting import LONG_S, free_port

ARTEFACTS: Final = Path(__file__).resolve().parents[2] / "test-artefacts" / "journey"
"""Directory for the screenshots of a journey."""

TABLE: Final = "TCP-01"
USERS: Final = {"Flo": "floorperson", "Fred": "floorperson", "Sue": "supervisor"}

_LINK: Final = link_text(
    "tcp-one",
    meter_text("progressive"),
    meter_text("five_of_six_progressive"),
    table_text(TABLE, "progressive", "five_of_six_progressive", asset="104201"),
    name="One Dollar Jackpot",
)


@dataclass(frozen=True, slots=True)
class Pit:
    config: Path
    url: str
    panel_url: str


@asynccontextmanager
async def open_pit(home: Path) -> AsyncIterator[Pit]:
    """Start every part as a process, and add the users; all end with the block."""
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer())
        mosquitto = stack.enter_context(Mosquitto())
        port, panel_port = free_port(), free_port()
        config = home / "floor.toml"
        config.write_text(
            floor_text(
                _LINK,
                service={
                    "broker": mosquitto.url,
                    "redis": redis.url,
                    "http": f"127.0.0.1:{port}",
                    "data": home / "data",
                },
                name="Keystone Casino",
                tax_documents_above=120_000,
            )
        )
        url = f"http://127.0.0.1:{port}"
        service = stack.enter_context(Pitlink("serve", "--config", str(config), approved=False))
        await asyncio.to_thread(
            service.until, lambda: "link inoperable" in service.errors, what="the service"
        )
        for name, role in USERS.items():
            await asyncio.to_thread(hire, config, name, role)
            await asyncio.to_thread(Colleague, url, name)  # chooses their own PIN
        approve = ("approve", "--by", "Sue", "--config", str(config))
        approved = await asyncio.to_thread(run_pitlink, *approve, stdin=f"{PIN}\nyes\n")
        assert approved.returncode == 0, approved.stderr
        await asyncio.to_thread(service.until, lambda: _ready(url), what="the approved floor")
        table = stack.enter_context(
            Pitlink("table", TABLE, "--config", str(config), "--panel", "--at",
                    f"127.0.0.1:{panel_port}")
        )  # fmt: skip
        printed = await asyncio.to_thread(
            table.until,
            lambda: re.search(r"http://\S+\?key=\S+", table.output),
            what="the panel's address",
        )
        assert printed is not None
        yield Pit(config, url, printed[0])
        assert service.stop() == 0, service.errors
        assert table.stop() == 0, table.errors


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=LONG_S).status_code == 200
    except httpx.TransportError:
        return False


class Screens:
    """Screens of a journey, each in its own browser, and the pictures of them."""

    def __init__(self, browser: Browser, pit: Pit, journey: str) -> None:
        self._browser = browser
        self._pit = pit
        self._folder = ARTEFACTS / journey
        self._taken = 0
        self._errors: list[str] = []

    async def _open(self, address: str, width: int, height: int) -> Page:
        context = await self._browser.new_context(viewport=ViewportSize(width=width, height=height))
        page = await context.new_page()
        page.set_default_timeout(LONG_S * 1_000)
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        await page.goto(address)
        return page

    async def wall(self) -> Page:
        page = await self._open(f"{self._pit.url}/signage/tcp-one", 1920, 1080)
        await expect(page.locator(".connection")).to_have_text("Live")
        return page

    async def panel(self) -> Hand:
        page = await self._open(self._pit.panel_url, 1280, 800)
        await expect(page.locator("#standing")).to_contain_text("Link operable")
        return Hand(page, self._pit.panel_url)

    async def floor(self, name: str, width: int, height: int) -> Page:
        """Open the floor page of a user who has signed in."""
        page = await self._open(f"{self._pit.url}/floor", width, height)
        await page.get_by_label("Name").fill(name)
        await page.get_by_label("PIN", exact=True).fill(PIN)
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page.locator(".who")).to_contain_text(name)
        return page

    async def take(self, page: Page, what: str) -> None:
        self._taken += 1
        self._folder.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=self._folder / f"{self._taken:02}-{what}.png")

    def check_no_errors(self) -> None:
        assert self._errors == []
