"""The chapters of 58 Pa. Code as data: their games, wagers and paytables, a file a chapter.

A file in ``chapters`` is written as the law is printed, cell by cell, and is checked whole before
any of it is used (``bonus.law.paytable_checks``). A further chapter that uses the same kinds of
wager is a further file there.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import msgspec

from bonus.law.cells import ChapterError
from bonus.law.chapter_file import Chapter
from bonus.law.paytable_checks import check_chapter

_SUFFIX: Final = ".toml"


@cache
def load(name: str) -> Chapter:
    """The chapter called ``name``, such as ``649a``, read from the package and checked.

    Raises:
        ChapterError: its file does not hold together.
    """
    return read_chapter(
        files("bonus.law").joinpath("chapters", f"{name}{_SUFFIX}").read_text("utf-8")
    )


@cache
def chapters() -> Mapping[str, Chapter]:
    """Every chapter of the package, by its game, in the order of their numbers.

    Raises:
        ChapterError: a file does not hold together, or two are of one game.
    """
    names = sorted(
        entry.name.removesuffix(_SUFFIX)
        for entry in files("bonus.law").joinpath("chapters").iterdir()
        if entry.name.endswith(_SUFFIX)
    )
    found: dict[str, Chapter] = {}
    for name in names:
        chapter = load(name)
        if chapter.game in found:
            raise ChapterError(f"{found[chapter.game].chapter} and {name} are both {chapter.game}")
        found[chapter.game] = chapter
    return MappingProxyType(found)


def read_chapter(text: str) -> Chapter:
    """Read and check a chapter's file.

    Raises:
        ChapterError: the text is no TOML, has a key unknown or missing, or a table in it leaves
            out a hand, has one that it cannot have, or pays a better hand less than a lower one.
    """
    try:
        chapter = msgspec.convert(tomllib.loads(text), Chapter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ChapterError(str(error)) from error
    check_chapter(chapter)
    return chapter
