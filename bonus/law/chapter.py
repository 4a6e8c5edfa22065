"""The chapters of 58 Pa. Code as data: games, wagers and paytables, one file per chapter.

A file in ``chapters`` copies the printed law cell by cell. Each file is checked completely before
any part of it is used (``bonus.law.paytable_checks``). A chapter that has no new kind of wager
needs only a file, and no code.
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
    """Return the chapter with a name such as ``649a``.

    The file of the chapter is read from the package and checked.

    Raises:
        ChapterError: the file of the chapter is not valid.
    """
    return read_chapter(
        files("bonus.law").joinpath("chapters", f"{name}{_SUFFIX}").read_text("utf-8")
    )


@cache
def chapters() -> Mapping[str, Chapter]:
    """Return every chapter of the package, by the name of its game.

    The chapters are in the order of their numbers.

    Raises:
        ChapterError: a file is not valid, or two chapters have the same game.
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
    """Read and check the text of a chapter's file.

    Raises:
        ChapterError: the text is not TOML, or has an unknown or missing key. Another reason is a
            wrong paytable: it omits a hand, has a hand that cannot occur, or pays a higher hand
            less than a lower hand.
    """
    try:
        chapter = msgspec.convert(tomllib.loads(text), Chapter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ChapterError(str(error)) from error
    check_chapter(chapter)
    return chapter
