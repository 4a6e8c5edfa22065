"""The scripts and style sheets have no newer syntax than the oldest supported browsers know."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.waiting import require

ROOT: Final = Path(__file__).parents[2]
INSTALL: Final = ROOT / "deploy" / "docs" / "run" / "install.md"
FILES: Final = [
    ROOT / "meters" / "http" / "guard.js",
    *(file for part in ("meters", "controllers") for file in (ROOT / part).rglob("assets/*.*s")),
]


def oldest() -> str:
    """Return the oldest browsers that the documents name, as esbuild writes them."""
    match = re.search(
        r"Chrome and Edge (\d+), Firefox (\d+), and Safari (\d+(?:\.\d+)?)", INSTALL.read_text()
    )
    assert match
    chrome, firefox, safari = match.groups()
    return f"chrome{chrome},edge{chrome},firefox{firefox},safari{safari}"


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


def test_newer_syntax_is_found() -> None:
    nested = ".face {\n  .name { color: red; }\n}\n"
    with pytest.raises(AssertionError):
        translated(nested, "css", oldest())
    static = "class Page { static { Page.made = true; } }\n"
    assert translated(static, "js", "chrome90") != translated(static, "js", "esnext")
