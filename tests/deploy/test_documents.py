"""The documents of the project: every link leads to a page, a file or a heading that exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tree import DOCS, PAGES, ROOT

_LINK: Final = re.compile(r"\]\((?!https?:)(?P<target>[^)\s]+)\)")
_HEADING: Final = re.compile(r"^#{1,6} +(?P<title>.+?)\s*$", re.MULTILINE)
_CODE_BLOCK: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def prose(path: Path) -> str:
    return _CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = (found["title"].lower() for found in _HEADING.finditer(prose(path)))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def broken_links(path: Path) -> Iterator[str]:
    for found in _LINK.finditer(prose(path)):
        name, _, anchor = found["target"].partition("#")
        page = (path.parent / name).resolve() if name else path
        if not page.exists():
            yield f"{found['target']}: there is no such file"
        elif anchor and anchor not in anchors(page):
            yield f"{found['target']}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Two words\n[a](#two-words) [b](#three) [c](gone.md) [d](page.md#two-words)\n"
    )
    assert [found.split(":")[0] for found in broken_links(page)] == ["#three", "gone.md"]


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    targets = (found["target"].partition("#")[0] for found in _LINK.finditer(prose(index)))
    linked = {(DOCS / target).resolve() for target in targets}
    assert {*DOCS.rglob("*.md")} - linked == {index}
