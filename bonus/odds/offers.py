"""Every wager of the chapters by every paytable, as it may be offered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bonus.law.chapter_file import Bonus, Chapter, MiniRoyal, WagerTables

WAGERS_CENTS: Final = (100, 500)
"""The wagers for which sums are told unless a floor file has others: $1 and $5."""


@dataclass(frozen=True, slots=True)
class DrawOdds:
    """How often a Magic Card and a Lucky position are drawn, and of how many positions.

    Attributes:
        magic_card_every: in one round of so many on average; 0 for never.
        lucky_every: the same.
        positions: how many the table has.
    """

    magic_card_every: int = 0
    lucky_every: int = 0
    positions: int = 7


@dataclass(frozen=True, slots=True)
class Offer:
    """A wager as it is offered by one paytable.

    Attributes:
        chapter: the chapter of its game.
        wager: its name.
        paytable: the choice of its paytable, or None where there is none to choose.
        tables: what the chapter has of an optional wager; None for the main game.
        mini_royal: what a mini-royal pays to 1 if it is added; 0 where it is not (649a.12(g)).
        reading: the name of the reading by which hands are judged, where there is a choice.
        ranking: the ranking by which they are.
        wagers_cents: the amounts for which sums are told.
        draws: of a Five Card Hand Bonus.
        at: the tables that offer it so.
    """

    chapter: Chapter
    wager: str
    paytable: str | None
    tables: WagerTables | None
    ranking: str
    mini_royal: int = 0
    reading: str = ""
    wagers_cents: tuple[int, ...] = WAGERS_CENTS
    draws: DrawOdds = DrawOdds()
    at: tuple[str, ...] = ()


def offers_of(chapter: Chapter, mini_royal: Mapping[str, int], draws: DrawOdds) -> Iterator[Offer]:
    """Every wager of a chapter by every paytable.

    A paytable to which a mini-royal may be added stands there without it, then with it; a wager
    with two readings stands there for each, the text's first.

    Args:
        chapter: the chapter.
        mini_royal: the odds to 1 of a mini-royal, by the item that it is added to.
        draws: of a Five Card Hand Bonus.
    """
    main = chapter.main
    bonus = main_choice(chapter)
    for choice in main_choices(chapter):
        offer = Offer(chapter, main.stake, choice, None, main.ranking)
        yield offer
        if bonus and bonus.mini_royal and _is_among(bonus, bonus.mini_royal, choice):
            yield replace(offer, mini_royal=mini_royal[bonus.item])
    for tables in chapter.wager:
        for name in tables.names:
            for choice in choices_of(tables):
                offer = Offer(
                    chapter, name, choice, tables, tables.ranking,
                    draws=draws if tables.draws else DrawOdds(),
                )  # fmt: skip
                if tables.readings:
                    for reading, ranking in tables.readings.rankings.items():
                        yield replace(offer, reading=reading, ranking=ranking)
                    continue
                yield offer
                if tables.mini_royal:
                    yield replace(offer, mini_royal=mini_royal[name])


def choices_of(tables: WagerTables) -> tuple[str | None, ...]:
    """The choices of an optional wager's paytable; None where there is none to choose."""
    printed = tables.fourth_card.table if tables.fourth_card else tables.table
    return tuple(choice for table in printed for choice in table.choices) or (None,)


def main_choice(chapter: Chapter) -> Bonus | None:
    """The bonus of a main game among whose paytables there is a choice, or None."""
    return next((bonus for bonus in chapter.main.bonus if bonus.choice), None)


def main_choices(chapter: Chapter) -> tuple[str | None, ...]:
    """The choices of a main game's bonus; None where there is none to choose."""
    bonus = main_choice(chapter)
    if bonus is None:
        return (None,)
    return tuple(choice for table in bonus.table for choice in table.choices)


def _is_among(bonus: Bonus, royal: MiniRoyal, choice: str | None) -> bool:
    """Whether a mini-royal may be added to the table of a choice (reading T4)."""
    return any(choice in table.choices and table.rule == royal.among for table in bonus.table)
