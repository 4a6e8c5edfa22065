"""Every wager of a game with every paytable that the game's rules allow, and its payouts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bonus.errors import UserError, nearest
from bonus.hands.rankings import Ranking
from bonus.law.chapter_file import (
    Bonus,
    CardsOf,
    Chapter,
    Main,
    MiniRoyal,
    PrintedTable,
    WagerTables,
)
from bonus.law.game_rankings import ranking_of
from bonus.law.paytables import Paytable, chosen_of, part_of_cell, rows_of, with_mini_royal
from bonus.odds.odds_entries import HandLine

WAGERS_CENTS: Final = (100, 500)
"""Amounts of a wager for which the odds show sums if no floor file names others."""

OTHERS_MAX: Final = 6
"""The largest number of other players for which the odds show Envy Bonuses."""


@dataclass(frozen=True, slots=True)
class DrawOdds:
    """Average number of rounds per draw of the Five Card Hand Bonus; 0 means never."""

    magic_card_every: int = 0
    lucky_every: int = 0
    positions: int = 7


@dataclass(frozen=True, slots=True)
class Offer:
    """A wager that is offered with one paytable.

    Attributes:
        paytable: the name of the paytable; None if there is no choice.
        tables: the chapter's terms of the wager if it is optional; None for the main game.
        mini_royal: the odds to 1 of an added mini-royal (649a.12(g)); 0 if none is added.
        reading: the reading under which hands are judged; empty if there is no choice.
        wagers_cents: the amounts of the wager for which sums are shown.
        at: the casino tables, in a floor file, that have this offer.
        largest_cents: the largest amount on the meters, if the wager has a smaller one; otherwise
            0. Then the wager wins this part of each percentage.
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
    largest_cents: int = 0

    def part_of(self, cell: str) -> str:
        """Return what this wager wins of what a cell of the paytable pays."""
        if not self.largest_cents:
            return cell
        return part_of_cell(cell, self.wagers_cents[0], self.largest_cents)

    @property
    def judged(self) -> Ranking:
        """The ranking itself; ``ranking`` is its name."""
        return ranking_of(self.chapter, self.ranking)

    @property
    def cards(self) -> CardsOf:
        """The cards that decide the wager; for the main game, the player's."""
        return self.tables.cards[self.tables.names.index(self.wager)] if self.tables else "hand"

    @property
    def groups(self) -> tuple[int, ...]:
        """How many of these cards come from each source."""
        first = self.tables.community_cards if self.tables else 0
        return self.chapter.deal.judged(self.cards, first)

    @property
    def mini_royal_cell(self) -> str:
        return f"{self.mini_royal:,} to 1" if self.mini_royal else ""

    def limit_notes(self, rules: set[str]) -> list[str]:
        """Return a note that the odds ignore the payout limit, if it covers one of ``rules``."""
        limit = self.chapter.limit
        covered = limit is not None and bool(rules & set(limit.covers))
        return (
            [f"The odds are without the aggregate payout limit of {limit.rule}."]
            if limit and covered
            else []
        )


def offers_of(chapter: Chapter, mini_royal: Mapping[str, int], draws: DrawOdds) -> Iterator[Offer]:
    """Yield every wager of a chapter with every paytable of the wager.

    A paytable to which a mini-royal can be added occurs first without it, then with it. A wager
    whose hands can be judged under two readings occurs once for each reading, first for the reading
    that follows the text of the law. ``mini_royal`` has the odds to 1 by wager or bonus.
    """
    if chapter.main:
        yield from _main_offers(chapter, chapter.main, mini_royal)
    for tables in chapter.wager:
        for name in tables.names:
            for choice in choices_of(tables):
                offer = Offer(
                    chapter,
                    name,
                    choice,
                    tables,
                    tables.ranking,
                    draws=draws if tables.draws else DrawOdds(),
                )
                if tables.readings:
                    for reading, ranking in tables.readings.rankings.items():
                        yield replace(offer, reading=reading, ranking=ranking)
                    continue
                yield offer
                if tables.mini_royal:
                    yield replace(offer, mini_royal=mini_royal[name])


def _main_offers(chapter: Chapter, main: Main, mini_royal: Mapping[str, int]) -> Iterator[Offer]:
    bonus = main_choice(chapter)
    for choice in main_choices(chapter):
        offer = Offer(chapter, main.stake, choice, None, main.ranking)
        yield offer
        if bonus and bonus.mini_royal and _is_among(bonus, bonus.mini_royal, choice):
            yield replace(offer, mini_royal=mini_royal[bonus.item])


def choices_of(tables: WagerTables) -> tuple[str | None, ...]:
    """Return the names of the paytables of an optional wager; ``(None,)`` if there is no choice."""
    printed = tables.fourth_card.table if tables.fourth_card else tables.table
    return tuple(choice for table in printed for choice in table.choices) or (None,)


def main_choice(chapter: Chapter) -> Bonus | None:
    """Return the bonus of the main game whose paytable the casino chooses, or None."""
    return next((bonus for bonus in chapter.main_bonuses if bonus.choice), None)


def main_choices(chapter: Chapter) -> tuple[str | None, ...]:
    """Return the names of the paytables of `main_choice`; ``(None,)`` if there is no choice."""
    bonus = main_choice(chapter)
    if bonus is None:
        return (None,)
    return tuple(choice for table in bonus.table for choice in table.choices)


def _is_among(bonus: Bonus, royal: MiniRoyal, choice: str | None) -> bool:
    """Return whether a mini-royal can be added to the paytable named ``choice`` (reading T4)."""
    return any(choice in table.choices and table.rule == royal.among for table in bonus.table)


_WRONG_USAGE = 2


@dataclass(frozen=True, slots=True)
class OddsQuery:
    """Names of games, wagers and paytables whose odds a user wants; an empty list means all."""

    games: Sequence[str] = ()
    wagers: Sequence[str] = ()
    paytables: Sequence[str] = ()


def asked_for(offers: Sequence[Offer], query: OddsQuery) -> list[Offer]:
    """Return the offers that a query selects; a name that no offer has is a UserError."""
    of_games = _named(offers, [offer.chapter.game for offer in offers], query.games, "game")
    for offer in of_games:
        for name in query.wagers:
            if name in _beside(offer):
                stake = offer.chapter.main_game.stake
                reason = f"{name} is part of {stake}: ask for {stake}"
                raise UserError(reason, exit_status=_WRONG_USAGE)
    of_wagers = _named(of_games, [offer.wager for offer in of_games], query.wagers, "wager")
    letters = [offer.paytable or "" for offer in of_wagers]
    return _named(of_wagers, letters, query.paytables, "paytable")


def _beside(offer: Offer) -> set[str]:
    """Return the names that a query must not use: a query names a main game by its stake."""
    bonuses = offer.chapter.main_bonuses
    names = {name for bonus in bonuses for name in (bonus.item, bonus.choice)}
    return {*offer.chapter.main_wagers[1:], *names}


def _named(
    offers: Sequence[Offer], names: Sequence[str], wanted: Sequence[str], what: str
) -> list[Offer]:
    known = list(dict.fromkeys(name for name in names if name))
    for name in wanted:
        if name not in known:
            raise UserError(_refusal(what, name, known), exit_status=_WRONG_USAGE)
    return [
        offer for offer, name in zip(offers, names, strict=True) if not wanted or name in wanted
    ]


def _refusal(what: str, name: str, known: Iterable[str]) -> str:
    there_is = list(known)
    if not there_is:
        return f"there is no {what} to choose here: leave out {name!r}"
    meant = nearest(name, there_is)
    choices = "" if ": it is one of " in meant else f" Choose one of {', '.join(there_is)}."
    return f"no {what} is called {name!r}{meant}{choices}"


def choose(printed: Iterable[PrintedTable], ranking: Ranking, choice: str | None) -> Paytable:
    paytable = chosen_of(printed, ranking.names, choice)
    if paytable is None:
        raise ValueError(f"no paytable is called {choice}")
    return paytable


def paytable_of(offer: Offer, printed: Iterable[PrintedTable], choice: str | None) -> Paytable:
    """Return the paytable of an offered wager, including the mini-royal if one is added."""
    paytable = choose(printed, offer.judged, choice)
    return with_mini_royal(paytable, offer.mini_royal) if offer.mini_royal else paytable


def paid_hands(
    paytable: Paytable, ranking: Ranking, deals: Mapping[str, int], of: int, fourth_card: str = ""
) -> tuple[HandLine, ...]:
    """Return a line for every hand of a ranking with its payout, the highest hand first.

    Hands that share a row of the paytable are combined, such as a royal that is paid as a straight
    flush.
    """
    found: Counter[str] = Counter()
    for hand, (name, _) in rows_of(paytable, ranking).items():
        found[name] += deals.get(hand, 0)
    return tuple(
        HandLine(
            hand=name,
            combinations=number,
            of=of,
            pays=paytable.cells.get(name, ""),
            fourth_card=fourth_card,
        )
        for name, number in found.items()
    )
