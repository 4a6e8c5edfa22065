"""The chapters of 58 Pa. Code as data: games, wagers and paytables, one file per chapter.

A file in ``chapters`` copies the printed law cell by cell, and is checked completely before any
part of it is used (``bonus.law.paytable_checks``). A chapter without a new kind of wager needs only
a file, and no code.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, TypeGuard

import msgspec

from bonus.errors import UserError
from bonus.law.cells import ChapterError
from bonus.law.chapter_file import Chapter
from bonus.law.paytable_checks import check_chapter

_SUFFIX: Final = ".toml"


@cache
def load(name: str) -> Chapter:
    """Return the chapter with a name such as ``649a``, from its checked file in the package.

    Raises:
        UserError: the file was changed or cannot be read; the message has file, line and reason.
    """
    path = files("bonus.law").joinpath("chapters", f"{name}{_SUFFIX}")
    text = ""
    try:
        text = path.read_bytes().decode()
        return read_chapter(text)
    except (OSError, ValueError, RecursionError) as error:
        line = text[: text.find(error.text)].count("\n") + 1 if _has_place(error, text) else None
        place = path if line is None else f"{path}:{line}"
        reason = error.strerror if isinstance(error, OSError) else error
        raise changed(f"{place}: {reason}") from None


def changed(problem: str) -> UserError:
    """Return the error for installed files of the law that cannot be used."""
    return UserError(
        f"{problem}. The files of the law belong to pitlink and were changed: install pitlink"
        " again. A game of your own is a game file in the directory `games`"
    )


def _has_place(error: Exception, text: str) -> TypeGuard[ChapterError]:
    return isinstance(error, ChapterError) and bool(error.text) and error.text in text


@cache
def chapters() -> Mapping[str, Chapter]:
    """Return every chapter of the package by the name of its game, in the order of their numbers.

    Raises:
        UserError: a file is not valid, or two chapters have the same game.
    """
    directory = files("bonus.law").joinpath("chapters")
    try:
        names = sorted(
            entry.name.removesuffix(_SUFFIX)
            for entry in directory.iterdir()
            if entry.name.endswith(_SUFFIX)
        )
    except OSError as error:
        raise changed(f"{directory}: {error.strerror}") from None
    found: dict[str, Chapter] = {}
    for name in names:
        chapter = load(name)
        if chapter.game in found:
            same = f"{found[chapter.game].chapter} and {name} are both {chapter.game}"
            raise changed(f"{directory}: {same}")
        found[chapter.game] = chapter
    return MappingProxyType(found)


def read_chapter(text: str) -> Chapter:
    """Read and check the text of a chapter's file; a ChapterError says what is wrong."""
    try:
        chapter = msgspec.convert(tomllib.loads(text), Chapter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ChapterError(str(error)) from error
    check_chapter(chapter)
    return chapter
