"""What the pages for staff say, and its translations."""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final, get_args

import pytest
from babel.messages.pofile import read_po

from meters.floor.branding import Language

ROOT: Final = Path(__file__).resolve().parents[2]
SHARED: Final = "meters/http"
PACKAGES: Final = (SHARED, "meters/web", "controllers/panel")
OTHERS: Final = [each.replace("-", "_") for each in get_args(Language) if each != "en"]
_TEXT: Final = r'"((?:[^"\\]|\\.)*)"'
_SAID: Final = re.compile(rf"\bsay(?:Count)?\(\s*{_TEXT}(?:,\s*{_TEXT})?")
_NOT_A_SENTENCE: Final = re.compile(r'\bsay(?:Count)?\((?!\s*").*')
AGENTS: Final = {"say(said.text, said.values));"}
"""Sentences of the table's agent, which are in Python."""


def scripts(package: str) -> Iterator[str]:
    for path in sorted((ROOT / package / "assets").glob("*.js")):
        text = path.read_text(encoding="utf-8")
        if 'from "./say.js"' in text:
            yield text


def sentences(package: str) -> set[str]:
    """Return each sentence that a package says, in its scripts or as an agent's `Said`."""
    found = {
        sentence
        for text in scripts(package)
        for said in _SAID.findall(text)
        for sentence in said
        if sentence
    }
    for path in (ROOT / package).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Said":
                assert isinstance(node.args[0], ast.Constant), ast.unparse(node)
                found.add(str(node.args[0].value))
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_sentence_is_written_where_it_is_said(package: str) -> None:
    said = {call for text in scripts(package) for call in _NOT_A_SENTENCE.findall(text)}
    assert said <= AGENTS


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("package", PACKAGES)
def test_a_catalog_has_each_sentence_once_with_the_same_places(package: str, language: str) -> None:
    path = ROOT / package / "catalogs" / f"{language}.po"
    entries = [entry for entry in read_po(BytesIO(path.read_bytes())) if entry.id]
    found = {str(entry.id): str(entry.string) for entry in entries}
    shared = sentences(SHARED) if package != SHARED else set()
    assert set(found) == sentences(package) - shared
    assert len(found) == len(entries)
    assert not any(entry.fuzzy for entry in entries)
    for english, text in found.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english))
        assert text.strip() == text != ""
