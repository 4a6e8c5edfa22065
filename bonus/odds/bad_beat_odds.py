"""How often a high hand is beaten by a higher hand, and what the bad beat then pays.

The pairs of hands are counted without forming them. The hands are taken from the highest down. For
each set of cards, the number of higher hands with all of these cards is kept. So the number of
higher hands without any card of a hand follows from its sets of cards, by inclusion and exclusion.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

import msgspec

from bonus.cards import DECK
from bonus.errors import UserError
from bonus.hands.rankings import RANKINGS, STRENGTHS
from bonus.law.paytables import read_payout
from bonus.odds.hand_counts import Advance, each_class, hand_classes, renamed
from bonus.odds.odds_entries import BadBeatOdds, HandLine
from bonus.wagers import Percent

_CARDS_MAX: Final = 6
_HANDS_MAX: Final = 100_000
_FIELD_BITS: Final = 24
"""The counts of higher hands, by their names, are fields of one number: none reaches 2**24."""

_State = tuple[Fraction, Fraction]
"""What is left of a meter: a part of the meter, and how often its reseed was added."""


class BeatenPairs(msgspec.Struct, frozen=True):
    """Numbers of pairs of deals without a common card, of which the second beats the first.

    They are by the name of the beaten hand, then by the name of the higher hand.
    """

    pairs: dict[str, dict[str, int]]


def deals_of_two(size: int) -> int:
    """Return the number of ways to deal two hands of ``size`` cards, one after the other.

    >>> deals_of_two(1)
    2652
    """
    return comb(len(DECK), size) * comb(len(DECK) - size, size)


def count_beaten(ranking: str, size: int, lowest: str, advance: Advance) -> BeatenPairs:
    """Count the pairs of hands of which the lower is ``lowest`` or a higher hand.

    Raises:
        UserError: there are too many such hands, or too many cards in a hand.
    """
    names = RANKINGS[ranking].names
    fields = {name: _FIELD_BITS * at for at, name in enumerate(names)}
    found: dict[str, dict[str, int]] = {}
    higher: dict[int, int] = {}
    by_strength = _hands(ranking, size, lowest, advance)
    for strength in sorted(by_strength, reverse=True):
        equal = [(name, [*_sets(cards)]) for name, cards in by_strength[strength]]
        for name, sets in equal:
            packed = sum(sign * higher.get(cards, 0) for cards, sign in sets)
            for other, shift in fields.items() if packed else ():
                if number := packed >> shift & (1 << _FIELD_BITS) - 1:
                    beaten = found.setdefault(name, {})
                    beaten[other] = beaten.get(other, 0) + number
        for name, sets in equal:
            one = 1 << fields[name]
            for cards, _ in sets:
                higher[cards] = higher.get(cards, 0) + one
    return BeatenPairs(found)


def steps_of_beaten(size: int) -> int:
    return len(hand_classes(size)) if size <= _CARDS_MAX else 0


def _hands(
    ranking: str, size: int, lowest: str, advance: Advance
) -> dict[int, list[tuple[str, tuple[int, ...]]]]:
    """Return the hands that count, by strength, each with its name."""
    if size > _CARDS_MAX:
        raise UserError(
            f"the odds cannot be counted: a bad beat is counted for hands of at most {_CARDS_MAX}"
            f" cards, not {size}"
        )
    compare, judge = STRENGTHS[ranking], RANKINGS[ranking].of
    counting = RANKINGS[ranking].from_highest(lowest)
    found: dict[int, list[tuple[str, tuple[int, ...]]]] = {}
    number = 0
    for one in each_class(hand_classes(size), advance):
        hand, strength = compare(one.cards)
        if hand not in counting:
            continue
        number += one.hands
        if number > _HANDS_MAX:
            raise UserError(
                f"the odds cannot be counted: more than {_HANDS_MAX:,} hands are"
                f" {lowest.replace('_', ' ')} or higher. Write a higher hand as `lowest` under"
                " [wager.bad_beat]"
            )
        equal = found.setdefault(strength, [])
        for cards in renamed(one.cards):
            ordered = sorted(cards)
            # A name can depend on the suit, as for the royal flush of spades.
            equal.append((str(judge(ordered)) if one.suited else str(hand), tuple(ordered)))
    return found


def _sets(cards: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield every set of some of the cards as a mask, with the sign of its size.

    No higher hand has all of the cards.
    """
    sets = [(0, 1)]
    for card in cards:
        sets += [(mask | 1 << card, -sign) for mask, sign in sets]
    yield from sets[:-1]


@dataclass(frozen=True, slots=True)
class BeatenHands:
    """What a bad beat of a wager pays on average, in a round of two hands.

    Two players have the wager, or one player against the dealer. The parts of all payees count: a
    wager brings other players as much as their wagers bring its own player. The hands themselves
    can win percentages of the meter first.

    Attributes:
        odds: how often a bad beat comes, and what it pays.
        pairs: the number of pairs of hands, by the beaten and the higher hand in the paytable.
        lines: the lines of the paytable by hand.
    """

    odds: BadBeatOdds
    pairs: Mapping[tuple[str, str], int]
    of: int
    lines: Mapping[str, HandLine]

    @property
    def players(self) -> int:
        return 1 if self.odds.beaten_by == "dealer" else 2

    def meter_return(self, meter: str) -> Fraction:
        """Return the fraction of a meter that a bad beat pays for each wager."""
        return self._paid(meter, 0)

    def reseeds_return(self, meter: str) -> Fraction:
        """Return what it pays of a reseed, because a hand of the round won the whole meter."""
        return self._paid(meter, 1)

    def cents(self, meter: str, held_cents: int, reseed_cents: int) -> Fraction:
        """Return what it pays for each wager, with all amounts rounded down to the cent."""
        paid = Fraction(0)
        for (beaten, higher), number in self.pairs.items():
            orders = self._orders(beaten, higher)
            for order in orders:
                left = held_cents
                for line in order:
                    left = self._left_cents(left, line, meter, reseed_cents)
                paid += Fraction(number * self._parts_cents(left, meter), len(orders))
        return paid / self.of

    def _paid(self, meter: str, at: int) -> Fraction:
        paid = Fraction(0)
        for (beaten, higher), number in self.pairs.items():
            orders = self._orders(beaten, higher)
            for order in orders:
                left: _State = Fraction(1), Fraction(0)
                for line in order:
                    left = _after(left, line.percent_of(meter))
                paid += number * left[at] / len(orders)
        return paid * self.odds.percent_of(meter) / (100 * self.of)

    def _orders(self, beaten: str, higher: str) -> tuple[tuple[HandLine, ...], ...]:
        """Return the orders in which the hands are paid: each position is equally probable."""
        first, second = self.lines[beaten], self.lines[higher]
        return ((first,),) if self.players == 1 else ((first, second), (second, first))

    def _left_cents(self, held: int, line: HandLine, meter: str, reseed_cents: int) -> int:
        own = line.payout.percent_of(meter)
        every = line.percent_of(meter)
        shared = held * (every - own) // 100 // self.players * self.players
        left = held - held * own // 100 - shared
        return int(left) + (reseed_cents if every == 100 else 0)

    def _parts_cents(self, left: int, meter: str) -> int:
        cents = 0
        for part, cell in self.odds.pays.items():
            won = int(left * read_payout(cell).percent_of(meter) // 100)
            cents += won // self.players * self.players if part == "table" else won
        return cents


def _after(left: _State, percent: Percent) -> _State:
    if percent == 100:
        return Fraction(0), Fraction(1)
    kept = 1 - Fraction(percent) / 100
    return left[0] * kept, left[1] * kept
