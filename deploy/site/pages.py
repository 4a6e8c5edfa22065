"""What the site changes in the pages: links, lists and terms. A forge shows them unchanged."""

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT: Final = Path(__file__).resolve().parents[2]
_ASSETS: Final = _ROOT / "meters" / "http" / "assets"
_OF_THE_STAFF_PAGES: Final = (
    "dollar.svg",
    "fonts/inter-latin.woff2",
    "fonts/inter-latin-ext.woff2",
    "fonts/OFL-inter.txt",
)
_UNUSED: Final = ("**/*.map", "sitemap.xml*", "assets/images/favicon.png")

_WORK: Final = ("run/", "recover/")
"""Folders of pages with steps, which the search ranks above other pages."""

_GLOSSARY: Final = "reference/glossary.md"
_LINK: Final = re.compile(
    r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>(?:\.\./)*[^)#\s]+)(?:#[^)\s]*)?\)"
)
_TERM: Final = re.compile(r"^\| (?P<term>[^|*`]+?) \| (?P<meaning>[^|]+?) \|$", re.MULTILINE)
_SHOWN: Final = re.compile(
    r"(?P<plain><(?P<tag>h[1-6]|a)\b.*?</(?P=tag)>)"
    r"|<abbr title=\"(?P<title>[^\"]*)\">(?P<of>.*?)</abbr>",
    re.DOTALL,
)
_ABBR: Final = re.compile(r"</?abbr[^>]*>")

_ITEM: Final = re.compile(r" *(?:[-*+]|\d+\.) +(?=\S)")
_FENCE: Final = re.compile(r" *(?P<mark>```+|~~~+)")


def on_config(config: MkDocsConfig) -> None:
    """Give every term its meaning, and let the page for a wrong address find its files."""
    config.site_url = "/docs/"
    glossary = (Path(config.docs_dir) / _GLOSSARY).read_text(encoding="utf-8")
    terms = {
        form: _plain(found["meaning"])
        for found in _TERM.finditer(glossary)
        if found["term"] != "term"
        for term in found["term"].split(", ")
        for form in _forms(term)
    }
    config.mdx_configs["abbr"] = {"glossary": terms}


def on_files(files: Files, config: MkDocsConfig) -> None:
    for name in _OF_THE_STAFF_PAGES:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(_ASSETS / name)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files of the checkout into plain text, and rank the page for the search."""
    del files
    docs = Path(config.docs_dir).resolve()
    here = docs / page.file.src_uri
    if page.file.src_uri.startswith(_WORK):
        page.meta["search"] = {"boost": 4}

    def plain_if_outside(found: re.Match[str]) -> str:
        if found["target"].startswith(("http:", "https:", "mailto:")):
            return found[0]
        target = (here.parent / found["target"]).resolve()
        return found[0] if target.is_relative_to(docs) else found["text"]

    return indented(_LINK.sub(plain_if_outside, markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Keep the tooltip of a term at its first place in the text of a page."""
    del config, files
    if page.file.src_uri in {_GLOSSARY, "README.md"}:
        return _ABBR.sub("", html)
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        if found["plain"]:
            return _ABBR.sub("", found["plain"])
        if found["title"] in seen:
            return found["of"]
        seen.add(found["title"])
        return found[0]

    return _SHOWN.sub(first, html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give the dialog of the search a name: the theme gives it none."""
    del page, config
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Delete what nobody loads: source maps, languages of the search, addresses for robots."""
    site = Path(config.site_dir)
    for pattern in _UNUSED:
        for path in site.glob(pattern):
            path.unlink()
    lunr = site / "assets" / "javascripts" / "lunr"
    for path in sorted(lunr.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    lunr.rmdir()


def indented(text: str) -> str:
    """Indent what belongs to an item of a list by four spaces, as Python-Markdown wants it.

    The pages indent it as far as the text of the item, which is what a forge wants. A blank line
    comes before an item that follows a block.
    """
    lines: list[str] = []
    levels: list[int] = []
    fence, shift, blank, loose = "", 0, True, False
    for line in text.split("\n"):
        if not line.strip():
            lines.append(line)
            blank = loose = True
            continue
        depth = len(line) - len(line.lstrip())
        found = _FENCE.match(line)
        if not fence:
            item = _ITEM.match(line)
            if item or found or blank or depth:
                while levels and depth < levels[-1]:
                    levels.pop()
            shift = 4 * len(levels) - (levels[-1] if levels else 0)
            if item:
                if loose and not blank:
                    lines.append("")
                levels.append(item.end())
                loose = False
        if found and not fence:
            fence, loose = found["mark"], True
        elif found and line.strip() == fence:
            fence = ""
        lines.append(" " * max(0, depth + shift) + line.lstrip())
        blank = False
    return "\n".join(lines)


def _forms(term: str) -> list[str]:
    forms = [term, term[0].upper() + term[1:]]
    return list(dict.fromkeys([*forms, *(f"{form}s" for form in forms if form[-1] != "s")]))


def _plain(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "")
