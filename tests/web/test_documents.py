"""The documents under `/docs`: the site that `deploy/site` builds, in a real browser.

The network of a floor is closed, so the browser of these tests reaches nothing but the service.
"""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import httpx
import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from litestar import Litestar, Router
from markdown_it import MarkdownIt
from playwright.async_api import Browser, Page, Route, expect

from meters.http.server import serve_web
from meters.web.documents import document_routes
from meters.web.security import FOR_ANYBODY
from tests.browsers import WIDER
from tests.test_tree import ROOT
from tests.waiting import LONG_S, free_port, served

DOCS: Final = ROOT / "deploy" / "docs"
PAGES: Final = sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
_NESTED: Final = frozenset({"ul", "ol", "li"})
_BLOCKS: Final = _NESTED | {"pre", "table"}


class Blocks(HTMLParser):
    """Lists, code blocks and tables of a text, each with the lists that it is in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in _BLOCKS:
            self.found.append("/".join((*self._within, tag)))
        if tag in _NESTED:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _NESTED:
            self._within.pop()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site strictly: a page that the navigation lacks, or a wrong link, fails it."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [ROOT / "deploy" / "site" / "build", out],
        env=os.environ | {"PITLINK_SITE_PYTHON": sys.executable},
        capture_output=True, text=True, check=False, timeout=LONG_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return out


def page_of(site: Path, page: Path) -> Path:
    return site / page.with_name("index.html" if page.name == "README.md" else f"{page.stem}.html")


@asynccontextmanager
async def service(directory: Path) -> AsyncIterator[str]:
    app = Litestar(
        [Router("/", route_handlers=document_routes(directory), opt=FOR_ANYBODY)],
        openapi_config=None,
        logging_config=None,
    )
    port = free_port()
    async with served(lambda ready: serve_web(app, "127.0.0.1", port, ready)):
        yield f"http://127.0.0.1:{port}"


@pytest_asyncio.fixture(loop_scope="session")
async def docs(site: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with service(site) as url, httpx.AsyncClient(base_url=url, timeout=LONG_S) as client:
        yield client


@asynccontextmanager
async def opened(
    browser: Browser, docs: httpx.AsyncClient, scheme: str = "light", width: int = 1440
) -> AsyncIterator[Page]:
    """Yield a page that reaches the service alone: any error or other request fails the test."""
    wrong: list[str] = []

    async def refuse(route: Route) -> None:
        wrong.append(route.request.url)
        await route.abort()

    context = await browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    await context.route(lambda url: not url.startswith((str(docs.base_url), "data:")), refuse)
    page = await context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield page
    await context.close()
    assert wrong == []


async def ready(page: Page) -> None:
    """Wait until the page's script has read the index: earlier it hears no key and no click."""
    await expect(page.locator(".md-search-result__meta")).to_have_text("Type to start searching")


def files_of(site: Path) -> Iterator[str]:
    return (path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())


def test_every_page_is_built_and_nothing_that_nobody_loads(site: Path) -> None:
    files = set(files_of(site))
    pages = {page_of(site, page).relative_to(site).as_posix() for page in PAGES}
    assert {name for name in files if name.endswith(".html")} == {*pages, "404.html"}
    assert not [name for name in files if name.endswith(".map") or "lunr" in name]
    for name in pages:
        text = (site / name).read_text()
        assert not re.search(r"<style|\sstyle=|\son\w+=\"", text), "the policy allows none"
        assert not re.search(r"(?:src|href)=\"?(?:https?:)?//(?!127)[^>]*(?:css|js)\b", text), name


def test_the_address_of_every_alert_leads_to_its_heading(site: Path) -> None:
    alerts = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text()
    addresses = re.findall(r"runbook_url: https://pit\.example/docs/(\S+)#(\S+)\n", alerts)
    assert len(addresses) == alerts.count("- alert: ")
    for page, anchor in addresses:
        assert re.search(rf'<h2 id="?{anchor}[" >]', (site / page).read_text()), anchor


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_lists_have_the_blocks_that_a_forge_shows_in_them(site: Path, page: Path) -> None:
    article = re.search(r"<article.*?</article>", page_of(site, page).read_text(), re.DOTALL)
    assert article is not None
    source = MarkdownIt("commonmark").enable("table").render((DOCS / page).read_text())
    assert Blocks(article[0]).found == Blocks(source).found


async def test_the_search_finds_the_seals_of_the_daily_round(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    async with opened(browser, docs) as page:
        await page.goto(f"{docs.base_url}/docs")
        await expect(page).to_have_url(f"{docs.base_url}/docs/index.html")
        await ready(page)
        field = page.get_by_role("textbox", name="Search")
        await field.click()
        await field.press_sequentially("seal")
        await expect(page.locator(".md-search-result__meta")).to_contain_text("matching documents")
        found = page.locator(".md-search-result__link").filter(has_text="The daily round")
        await found.first.click()
        await expect(page.locator("h1")).to_contain_text("The daily round")


async def test_a_term_has_its_meaning_once_a_page_and_not_in_a_heading(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    async with opened(browser, docs) as page:
        await page.goto(f"{docs.base_url}/docs/run/supervisor.html")
        await ready(page)
        term = page.locator("abbr").filter(has_text=re.compile(r"^floor files?$"))
        await expect(term).to_have_count(1)
        await expect(page.locator("h1 abbr, h2 abbr, h3 abbr, a abbr")).to_have_count(0)
        await term.hover()
        await expect(page.locator(".md-tooltip2__inner, .md-tooltip__inner")).to_contain_text(
            "The TOML file that describes a facility"
        )
        await page.goto(f"{docs.base_url}/docs/reference/glossary.html")
        await expect(page.locator("abbr")).to_have_count(0)


async def test_it_is_dark_or_light_as_the_device_until_somebody_chooses(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        async with opened(browser, docs, scheme) as page:
            await page.goto(f"{docs.base_url}/docs/index.html")
            await ready(page)
            ground = "getComputedStyle(document.body).backgroundColor"
            grounds[scheme] = await page.evaluate(ground)
            choice = page.locator("[data-md-component=palette] label:visible")
            await choice.click()
            await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "default")
            assert await page.evaluate(ground) == grounds["light"]
            await choice.click()
            await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
            await page.reload()
            grounds[f"{scheme}, dark chosen"] = await page.evaluate(ground)
    assert grounds["light"] != grounds["dark"]
    assert {grounds[name] for name in grounds if name != "light"} == {grounds["dark"]}


@pytest.mark.slow
async def test_a_phone_scrolls_tables_and_code_within_themselves(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    async with opened(browser, docs, "dark", 390) as page:
        for each in PAGES:
            name = page_of(Path(), each).as_posix()
            await page.goto(f"{docs.base_url}/docs/{name}")
            assert not await page.evaluate(WIDER), name


async def test_pictures_are_shown_and_a_wrong_address_leads_to_the_index(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    async with opened(browser, docs) as page:
        await page.goto(f"{docs.base_url}/docs/run/dealer.html")
        picture = page.locator("article img").first
        await picture.scroll_into_view_if_needed()
        await expect(picture).to_have_js_property("complete", value=True)
        assert await picture.evaluate("each => each.naturalWidth") > 0
    answer = await docs.get("/docs/run/none/there.html")
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
    assert 'src="/docs/assets/' in answer.text
    async with opened(browser, docs) as page:
        await page.goto(f"{docs.base_url}/docs/404.html")
        await page.get_by_role("link", name="the index").click()
        await expect(page.locator("h1")).to_contain_text("Documents")


async def test_it_reads_well_to_those_who_do_not_see(
    browser: Browser, docs: httpx.AsyncClient
) -> None:
    for scheme in ("light", "dark"):
        context = await browser.new_context(
            bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        await page.goto(f"{docs.base_url}/docs/reference/reports.html")
        # The theme's script gives each block of code a landmark without a name.
        results = await Axe().run(page, options={"rules": {"landmark-unique": {"enabled": False}}})
        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"
        await context.close()


async def test_a_page_runs_its_own_scripts_alone_and_no_page_frames_it(
    docs: httpx.AsyncClient,
) -> None:
    answer = await docs.get("/docs/index.html")
    policy = answer.headers["content-security-policy"]
    scripts = re.search(r"script-src ([^;]+)", policy)
    assert scripts is not None
    own = scripts[1].split()
    assert own[0] == "'self'"
    assert len(own) == 1 + len(re.findall(r"<script>", answer.text)) == 4
    assert all(each.startswith("'sha256-") for each in own[1:])
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"


async def test_a_browser_keeps_files_and_asks_if_they_changed(docs: httpx.AsyncClient) -> None:
    first = await docs.get("/docs/search/search_index.json")
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["cache-control"] == "no-cache"
    etag = first.headers["etag"]
    again = await docs.get(
        "/docs/search/search_index.json", headers={"If-None-Match": f'"other", {etag}'}
    )
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    plain = await docs.get(
        "/docs/search/search_index.json", headers={"Accept-Encoding": "identity"}
    )
    assert plain.content == first.content
    page = (await docs.get("/docs/index.html")).text
    script = re.search(r'src="(assets/javascripts/bundle\.[^"]+)"', page)
    assert script is not None
    assert "immutable" in (await docs.get(f"/docs/{script[1]}")).headers["cache-control"]
    head = await docs.head("/docs/index.html")
    assert (head.status_code, head.content) == (200, b"")
    for path in ("/docs/../pyproject.toml", "/docs/%2e%2e/documents.py", "/docs//etc/passwd"):
        assert (await docs.get(path)).status_code == 404


async def test_without_the_site_a_page_says_where_the_documents_are(tmp_path: Path) -> None:
    async with (
        service(tmp_path / "none") as url,
        httpx.AsyncClient(base_url=url, timeout=LONG_S, follow_redirects=True) as client,
    ):
        answer = await client.get("/docs")
        assert (answer.status_code, "deploy/docs" in answer.text) == (200, True)
        assert answer.headers["cache-control"] == "no-store"
        assert (await client.get("/docs/run/install.html")).status_code == 404
