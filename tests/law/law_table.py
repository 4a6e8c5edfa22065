"""Parses the law table, ``deploy/docs/compliance/law.md``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from tests.law.law_rounds import Case
from tests.law.printed_tables import PRINTED

ROOT: Final = Path(__file__).resolve().parents[2]
LAW: Final = ROOT / "deploy" / "docs" / "compliance" / "law.md"
SUBSECTIONS: Final = (PRINTED / "subsections.txt").read_text(encoding="utf-8").split()
"""Every subsection and paragraph of .6, .7, .11, .12 and .13 of the three chapters, as printed.

Of .2, .8, .9 and .10 those that ask something of a progressive system or of a sign.
"""

_CITE: Final = r"\d+a\.\d+(?:\([a-zA-Z0-9]+\))+(?: to \([a-zA-Z0-9]+\)| and parts)?"
_ROW: Final = re.compile(rf"\| ({_CITE}(?:, {_CITE})*) \| (\S.*\S) \| (\S.*\S) \|")
_LISTED: Final = re.compile(rf"- ({_CITE}(?:, {_CITE})*): (\S.*)")


@dataclass(frozen=True, slots=True)
class LawTable:
    """Contents of law.md: rows about money, and the other subsections; nothing may be `unread`."""

    rows: tuple[tuple[str, ...], ...]
    listed: tuple[tuple[str, ...], ...]
    unread: tuple[str, ...]

    @property
    def in_rows(self) -> list[str]:
        return list(chain(*self.rows))


def read_law(text: str) -> LawTable:
    rows: list[tuple[str, ...]] = []
    listed: list[tuple[str, ...]] = []
    unread: list[str] = []
    for line in text.splitlines():
        if match := _ROW.fullmatch(line):
            rows.append(tuple(subsections(match[1])))
        elif match := _LISTED.fullmatch(line):
            listed.append(tuple(subsections(match[1])))
        elif line.startswith(("|", "-", "*")) and not _is_heading(line):
            unread.append(line)
    return LawTable(tuple(rows), tuple(listed), tuple(unread))


def subsections(text: str) -> Iterator[str]:
    """Yield the subsections of a text such as ``649a.6(b) and parts, 649a.7(d)(1) to (3)``."""
    for part in text.split(", "):
        first, to, last = part.removesuffix(" and parts").partition(" to ")
        if to:
            around = first[: first.rindex("(")]
            beside = [cite for cite in SUBSECTIONS if cite.rpartition("(")[0] == around]
            yield from beside[beside.index(first) : beside.index(around + last) + 1]
        elif part != first:
            yield from (cite for cite in SUBSECTIONS if f"{cite}(".startswith(f"{first}("))
        else:
            yield first


def named(case: Case) -> str:
    return case.path.relative_to(ROOT).as_posix()


def _is_heading(line: str) -> bool:
    return line == "| subsection | requirement | tests |" or set(line) <= set("|- ")
