"""Every wager of the chapters, with every paytable under which it may be offered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bonus.law.chapter_file import Bonus, Chapter, MiniRoyal, WagerTables

WAGERS_CENTS: Final = (100, 500)
"""The wager amounts for which sums are shown if a floor file has no others: $1 and $5."""


@dataclass(frozen=True, slots=True)
class DrawOdds:
    """Frequency of a Magic Card and of a Lucky position.

    Attributes:
        magic_card_every: average number of rounds per Magic Card; 0 for never.
        lucky_every: average number of rounds per Lucky position; 0 for never.
        positions: number of the table's positions.
    """

    magic_card_every: int = 0
    lucky_every: int = 0
    positions: int = 7


@dataclass(frozen=True, slots=True)
class Offer:
    """A wager that is offered with one paytable.

    Attributes:
        chapter: the chapter of its game.
        wager: its name.
        paytable: the choice of its paytable, or None if there is no choice.
        tables: the chapter's terms of an optional wager; None for the main game.
        mini_royal: the odds to 1 of an added mini-royal; 0 if none is added (649a.12(g)).
        reading: the name of the reading that judges hands; empty if there is no choice.
        ranking: the ranking that judges hands.
        wagers_cents: the amounts for which sums are shown.
        draws: the draws of a Five Card Hand Bonus.
        at: the tables that offer this wager with this paytable.
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
    """Yield every wager of a chapter with every paytable.

    A paytable to which a mini-royal may be added occurs without it, then with it. A wager with two
    readings occurs once for each; the reading of the text is the first.

    Args:
        chapter: the chapter.
        mini_royal: the odds to 1 of a mini-royal, by the item that it is added to.
        draws: the draws of a Five Card Hand Bonus.
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
    """Return the choices of an optional wager's paytable; ``(None,)`` if there is no choice."""
    printed = tables.fourth_card.table if tables.fourth_card else tables.table
    return tuple(choice for table in printed for choice in table.choices) or (None,)


def main_choice(chapter: Chapter) -> Bonus | None:
    """Return the bonus of a main game that has a choice of paytables, or None."""
    return next((bonus for bonus in chapter.main.bonus if bonus.choice), None)


def main_choices(chapter: Chapter) -> tuple[str | None, ...]:
    """Return the choices of a main game's bonus; ``(None,)`` if there is no choice."""
    bonus = main_choice(chapter)
    if bonus is None:
        return (None,)
    return tuple(choice for table in bonus.table for choice in table.choices)


def _is_among(bonus: Bonus, royal: MiniRoyal, choice: str | None) -> bool:
    """Return whether a mini-royal may be added to the table of a choice (reading T4)."""
    return any(choice in table.choices and table.rule == royal.among for table in bonus.table)
