"""A real agent with its panel, between a real broker and the scripted service of the contract."""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
from playwright.async_api import Locator, Page, Request, expect

from controllers.agent.agent import Agent
from controllers.agent.agent_metrics import AgentMetrics
from controllers.panel.access import PanelAccess
from controllers.panel.panel_pages import serve_panel
from meters.floor.floor_file import parse_floor
from meters.http.middleware import ServerSettings
from tests.controllers.floors import FLOOR
from tests.controllers.scripted import SWIFT
from tests.waiting import eventually_async, free_port, served

KEY: Final = "key-of-the-test"
STANDS: Final = ":not([data-fresh])"
"""Selector of a button that has not just appeared: a second touch on it counts too."""


@dataclass(slots=True)
class PanelStand:
    broker_url: str
    outbox: Path
    table: str = "T-1"
    port: int = field(default_factory=free_port)
    working: Agent | None = None
    settings: ServerSettings | None = None
    floor_text: str = FLOOR
    key: str = KEY

    @property
    def agent(self) -> Agent:
        assert self.working is not None, "the agent does not work"
        return self.working

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, *, key: str = KEY) -> httpx.AsyncClient:
        """Return a client with a session, as a browser has after it has shown the key."""
        session = PanelAccess(key, self.table).begin_session() if key else ""
        cookies = {f"pitlink-panel-{self.table}": session} if key else {}
        return httpx.AsyncClient(base_url=self.url, cookies=cookies, timeout=60)


@contextlib.asynccontextmanager
async def serving(stand: PanelStand) -> AsyncIterator[PanelStand]:
    found = parse_floor(stand.floor_text).find_table(stand.table)
    assert found is not None
    async with Agent(*found, stand.broker_url, stand.outbox, timing=SWIFT) as agent:
        stand.working = agent
        metrics = AgentMetrics()
        metrics.add(agent)
        async with served(
            lambda ready: serve_panel(
                parse_floor(stand.floor_text), agent, "127.0.0.1", stand.port, ready,
                key=stand.key, metrics=metrics, demonstration=True, settings=stand.settings,
            )
        ):  # fmt: skip
            yield stand


class Hand:
    """The dealer's actions on a tablet, with buttons by their names."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self._url = url
        self._unanswered = set[Request]()
        page.on("request", self._note_sent)
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, self._note_ended)

    async def open(self) -> None:
        await self.page.goto(f"{self._url}/?key={KEY}")
        await expect(self.page.locator("#standing")).to_contain_text("Link operable")
        assert "key" not in self.page.url

    def button(self, name: str) -> Locator:
        """Return a button by its name; that of a light may leave out the amount of its wager."""
        whole = re.compile(rf"^{re.escape(name)}(, \$[\d.]+)?$")
        return self.page.get_by_role("button", name=whole)

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, exact=True)

    def standing(self, name: str) -> Locator:
        """Return a button by its whole name, once a touch on it counts."""
        return self.button(name).and_(self.page.locator(STANDS))

    def _note_sent(self, request: Request) -> None:
        if request.url.endswith("/api/v1/events"):
            self._unanswered.add(request)

    def _note_ended(self, request: Request) -> None:
        self._unanswered.discard(request)

    async def answered(self) -> None:
        """Wait for the answers to all events: the page does not send one that waits a second."""
        await eventually_async(lambda: not self._unanswered)

    async def touch(self, *names: str) -> None:
        """Touch buttons one after the other, each once it has stayed in its place for a while."""
        for name in names:
            await self.answered()
            # The effect of the touch before may still move the buttons under the finger.
            await expect(self.page.locator("button[data-fresh]")).to_have_count(0)
            await self.standing(name).click()

    async def says(self, text: str) -> None:
        await expect(self.page.get_by_text(text).first).to_be_visible()

    async def shows_lit(self, *names: str) -> None:
        for name in names:
            await expect(self.button(name)).to_have_attribute("aria-pressed", "true")

    async def take_back(self, name: str, reason: str = "Typed wrong") -> None:
        await self.touch(name)
        await self.touch(reason, "Take back")

    async def void(self, reason: str = "Misdeal") -> None:
        await self.touch("Void the round…")
        await self.touch(reason, "Void the round")

    async def tick_off(self, name: str) -> None:
        """Touch a button in the list of earlier rounds, which is open only for this touch."""
        line = self.page.locator("#earlier-open")
        await line.click()
        await self.touch(name)
        await expect(self.button(name)).to_have_count(0)
        if await line.count():
            await line.click()

    async def wager(self, *names: str) -> None:
        """Place wagers, each of which must light up; press again if a slow machine sent nothing."""
        not_sent = self.page.get_by_text("press again")
        for name in names:
            # What an earlier touch said says nothing of this one.
            await expect(not_sent).to_have_count(0)
            lit = self.button(name).and_(self.page.locator("[aria-pressed=true]"))
            await self.touch(name)
            await expect(lit.or_(not_sent).first).to_be_visible()
            if not await lit.count():
                await self.touch(name)
            await self.shows_lit(name)

    async def deal(self, *hands: str, dealer: str = "2c 3c 4c") -> None:
        """Bet one Progressive of position 3, and deal up to some of the cards."""
        await self.wager("Position 3 Progressive")
        await self.lock(1)
        await self.type("Dealer's hand", dealer)
        for cards in hands:
            await self.type("Hand of position 3", cards)

    async def lock(self, chips: int) -> None:
        await self.touch("Lock-out: no more bets")
        await self.count(chips)

    async def count(self, chips: int) -> None:
        await self.page.get_by_label("Chips counted").fill(str(chips))
        await self.touch("Confirm count")

    async def type(self, title: str, cards: str) -> None:
        await expect(self.heading(title)).to_be_visible()
        await self.answered()
        await self.page.get_by_label("Or type the cards").fill(cards)
        await self.page.keyboard.press("Enter")
