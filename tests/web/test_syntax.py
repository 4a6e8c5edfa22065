"""The scripts and style sheets have nothing newer than the oldest supported browsers know."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.waiting import require

ROOT: Final = Path(__file__).parents[2]
INSTALL: Final = ROOT / "deploy" / "docs" / "run" / "install.md"
PLAYERS: Final = INSTALL.with_name("players.md")
FILES: Final = [
    ROOT / "meters" / "http" / "guard.js",
    *(file for part in ("meters", "controllers") for file in (ROOT / part).rglob("assets/*.*s")),
]


Versions = tuple[float, float, float]
"""Versions of Chrome and Edge, of Firefox, and of Safari."""


def documented() -> tuple[Versions, Versions]:
    """Return the oldest browsers for signage and panels, and those for the floor page."""
    found = re.findall(
        r"Chrome and Edge (\d+), Firefox (\d+), and Safari (\d+(?:\.\d+)?)", INSTALL.read_text()
    )
    patrons, staff = ((float(one), float(two), float(three)) for one, two, three in found)
    return patrons, staff


def oldest() -> str:
    """Return the oldest browsers as esbuild writes them."""
    chrome, firefox, safari = documented()[0]
    return f"chrome{chrome:g},edge{chrome:g},firefox{firefox:g},safari{safari:g}"


def translated(text: str, suffix: str, target: str) -> str:
    """Return a file as a browser needs it: unchanged if the browser knows its syntax."""
    done = subprocess.run(
        [require("esbuild"), f"--loader={suffix}", f"--target={target}"],
        input=text, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_needs_no_translation_for_the_oldest_browsers(file: Path) -> None:
    text, suffix = file.read_text(), file.suffix.removeprefix(".")
    assert translated(text, suffix, oldest()) == translated(text, suffix, "esnext")


NEWER: Final = {
    r":has\(": (105, 121, 15.4), r"@container": (105, 110, 16.0), r"\ddvh\b": (108, 101, 15.4),
    r"overflow: clip": (90, 81, 16.0), r"color-mix\(": (111, 113, 16.2),
    r"subgrid": (117, 71, 16.0), r"popover=\"|:popover-open": (114, 125, 17.0),
    r"@starting-style": (117, 129, 17.5),
    r"light-dark\(": (123, 120, 17.5), r"@scope": (118, 146, 26.4),
    r"\brgb\(from": (119, 128, 16.4), r"\.groupBy\(": (117, 119, 17.4),
    r"\.to(?:Sorted|Reversed|Spliced)\(": (110, 115, 16.0), r"\.findLast": (97, 104, 15.4),
    r"AbortSignal\.any": (116, 124, 17.4), r"withResolvers": (119, 121, 17.4),
    r"\.(?:union|intersection|isSubsetOf)\(": (122, 127, 17.0),
    r"checkVisibility": (105, 106, 17.4), r"mask-composite: exclude": (120, 53, 15.4),
}  # fmt: skip
"""What a browser silently leaves out if it is older: patterns with Chrome, Firefox and Safari."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_has_nothing_that_the_oldest_browsers_leave_out(file: Path) -> None:
    patrons, staff = documented()
    text, least = file.read_text(), staff if file.name.startswith("floor") else patrons
    for what, since in NEWER.items():
        known = all(one >= other for one, other in zip(least, since, strict=True))
        assert known or not re.search(what, text), f"{what} is known since {since}"


def test_the_page_about_players_names_the_same_oldest_browser() -> None:
    chrome, _, _ = documented()[0]
    assert f"Chrome {chrome:g}, the oldest that works" in PLAYERS.read_text()


def test_newer_syntax_is_found() -> None:
    nested = ".face {\n  .name { color: red; }\n}\n"
    with pytest.raises(AssertionError):
        translated(nested, "css", oldest())
    static = "class Page { static { Page.made = true; } }\n"
    assert translated(static, "js", "chrome90") != translated(static, "js", "esnext")
