"""A chapter's paytables, read whole from its file in ``chapters`` and checked before any is used.

The file is written as the law is, cell by cell. What a reader of the law would stumble over is
refused here: a hand left out, a hand unknown, a better hand that pays less.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, Literal

import msgspec

from bonus.hands import FiveCardHand, ThreeCardHand
from bonus.wagers import MeterKind, PaidFrom, Wager


class ChapterError(ValueError):
    """A chapter's file does not hold together."""


@dataclass(frozen=True, slots=True)
class Payout:
    """What a hand pays: a percentage of the meter, or so many times the wager ("for 1"), or 0."""

    percent: int = 0
    for_1: int = 0


class Progression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seed, reseed and rates of a meter, by the wager it is for (649a.12(e)(3), (h)(3), ...)."""

    rule: str
    seed: str
    reseed: str
    primary: str
    reserve: str = "0%"


class Paytable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One paytable of a wager; ``choice`` is its letter where the law leaves a choice."""

    rule: str
    pays: dict[str, str]
    progression: Progression
    choice: str | None = None


class EnvySchedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Envy Bonuses for one wager amount."""

    wager: str
    pays: dict[str, str]


class Envy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Envy Bonuses of a wager, for the hands down to the lowest Qualifying Hand."""

    rule: str
    lowest: str
    schedule: tuple[EnvySchedule, ...]


class Draws(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a wager pays on the draws of the table game system (649a.12(i)(3))."""

    rule: str
    magic_card: str
    lucky_bonus: str


class WagerTables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a chapter lays down for a wager, or for several with one table."""

    names: tuple[Wager, ...]
    meter: MeterKind
    ranking: Literal["three_card", "five_card"]
    lowest: str
    paid_from: PaidFrom
    paytable: tuple[Paytable, ...]
    envy: Envy | None = None
    draws: Draws | None = None


class Chapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chapter of 58 Pa. Code, as far as it pays from a table."""

    chapter: str
    game: str
    wager: tuple[WagerTables, ...]


@dataclass(frozen=True, slots=True)
class _Ranking:
    hands: tuple[StrEnum, ...]
    tops: frozenset[StrEnum]  # where a paytable may begin: it need not set the royals apart


RANKINGS: Final[Mapping[str, _Ranking]] = {
    "three_card": _Ranking(tuple(ThreeCardHand), frozenset(tuple(ThreeCardHand)[:3])),
    "five_card": _Ranking(tuple(FiveCardHand), frozenset(tuple(FiveCardHand)[:2])),
}

_DOLLARS: Final = re.compile(r"\$([0-9]{1,3}(?:,[0-9]{3})*)")
_SEED: Final = re.compile(r"\$([0-9]{1,3}(?:,[0-9]{3})*) for 1|\$0")
_FOR_1: Final = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})*) for 1")
_OF_METER: Final = re.compile(r"([0-9]{1,3})% of meter")
_RATE: Final = re.compile(r"([0-9]{1,2})%")


@cache
def load(name: str) -> Chapter:
    """The chapter called ``name``, such as ``649a``, read from the package and checked.

    Raises:
        ChapterError: its file does not hold together.
    """
    return read_chapter(files("bonus").joinpath("chapters", f"{name}.toml").read_text("utf-8"))


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
    seen: set[Wager] = set()
    for tables in chapter.wager:
        for name in tables.names:
            if name in seen:
                raise ChapterError(f"{name} has two entries")
            seen.add(name)
        _check_wager(chapter.chapter, tables)
    return chapter


def read_payout(cell: str) -> Payout:
    """Read ``500 for 1``, ``10% of meter`` or ``N/A``.

    Raises:
        ChapterError: the cell is none of these.

    >>> read_payout("1,000 for 1")
    Payout(percent=0, for_1=1000)
    """
    if cell == "N/A":
        return Payout()
    if match := _FOR_1.fullmatch(cell):
        return Payout(for_1=_number(match[1]))
    if (match := _OF_METER.fullmatch(cell)) and 1 <= int(match[1]) <= 100:
        return Payout(percent=int(match[1]))
    raise ChapterError(f"{cell!r} is no payout: 'N for 1', 'N% of meter' or 'N/A'")


def read_seed(cell: str) -> int:
    """Read a seed, ``$1,000 for 1`` or ``$0``, as how many times the wager it is.

    Raises:
        ChapterError: the cell is neither.
    """
    match = _SEED.fullmatch(cell)
    if match is None:
        raise ChapterError(f"{cell!r} is no seed: '$N for 1' or '$0'")
    return _number(match[1] or "0")


def read_rate_bps(cell: str) -> int:
    """Read an incrementation rate, ``14%``, in basis points.

    Raises:
        ChapterError: the cell is no whole percentage below 100.
    """
    match = _RATE.fullmatch(cell)
    if match is None:
        raise ChapterError(f"{cell!r} is no rate: 'N%'")
    return int(match[1]) * 100


def read_cents(cell: str) -> int:
    """Read a sum of whole dollars, ``$1,000``, in cents.

    Raises:
        ChapterError: the cell is no such sum.
    """
    match = _DOLLARS.fullmatch(cell)
    if match is None:
        raise ChapterError(f"{cell!r} is no sum: '$N'")
    return _number(match[1]) * 100


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


def _check_wager(chapter: str, tables: WagerTables) -> None:
    of = tables.names[0].value if tables.names else "a wager"
    if not tables.names or not tables.paytable:
        raise ChapterError(f"{of} has no name or no paytable")
    choices = [paytable.choice for paytable in tables.paytable]
    if len(set(choices)) < len(choices) or (None in choices and len(choices) > 1):
        raise ChapterError(f"{of}: each of several paytables has a letter of its own")
    rules = [tables.envy.rule] if tables.envy else []
    rules += [tables.draws.rule] if tables.draws else []
    for paytable in tables.paytable:
        where = f"{of} {paytable.rule}"
        worth = {hand: _worth(read_payout(cell)) for hand, cell in paytable.pays.items()}
        _check_table(where, tables.ranking, tables.lowest, worth)
        _check_progression(where, paytable.progression)
        rules += [paytable.rule, paytable.progression.rule]
    if tables.envy:
        _check_envy(of, tables.ranking, tables.envy)
    if tables.draws and not all(
        read_payout(cell).for_1 for cell in (tables.draws.magic_card, tables.draws.lucky_bonus)
    ):
        raise ChapterError(f"{of}: Magic Card and Lucky Bonus pay so much for 1")
    for rule in rules:
        if not re.fullmatch(rf"{re.escape(chapter)}\.12(\([a-z0-9]+\))+", rule):
            raise ChapterError(f"{of}: {rule!r} names no subsection of {chapter}.12")


def _check_progression(where: str, progression: Progression) -> None:
    if not read_seed(progression.seed):
        raise ChapterError(f"{where}: the meter has no seed")
    read_seed(progression.reseed)
    primary, reserve = read_rate_bps(progression.primary), read_rate_bps(progression.reserve)
    if not primary or primary + reserve >= 10_000:
        raise ChapterError(f"{where}: the rates must be above nothing and below the whole wager")


def _check_envy(of: str, ranking: str, envy: Envy) -> None:
    wagers = [read_cents(schedule.wager) for schedule in envy.schedule]
    if not wagers or len(set(wagers)) < len(wagers):
        raise ChapterError(f"{of} {envy.rule}: one schedule for each wager amount")
    for schedule in envy.schedule:
        where = f"{of} {envy.rule} {schedule.wager}"
        worth = {hand: (0, read_cents(cell)) for hand, cell in schedule.pays.items()}
        _check_table(where, ranking, envy.lowest, worth)


def _check_table(
    where: str, ranking: str, lowest: str, worth: Mapping[str, tuple[int, int]]
) -> None:
    """Refuse a table that is not every hand from a top one to the lowest, paying ever less."""
    hands = [hand.value for hand in RANKINGS[ranking].hands]
    for hand in (lowest, *worth):
        if hand not in hands:
            raise ChapterError(f"{where}: {hand!r} is no {ranking} hand")
    first = next(iter(worth), None)
    if first is None or first not in RANKINGS[ranking].tops:
        raise ChapterError(f"{where}: a table begins with the highest hand, not {first!r}")
    expected = hands[hands.index(first) : hands.index(lowest) + 1]
    if list(worth) != expected:
        missing = ", ".join(hand for hand in expected if hand not in worth)
        reason = f"{missing} missing" if missing else "hands not in order of rank"
        raise ChapterError(f"{where}: {reason}")
    for (better, more), (lower, less) in pairwise(worth.items()):
        if more < less:
            raise ChapterError(f"{where}: {better} pays less than {lower}")


def _worth(payout: Payout) -> tuple[int, int]:
    """What a payout sorts by: any percentage of the meter is worth more than any odds."""
    return payout.percent, payout.for_1
