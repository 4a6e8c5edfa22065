"""The 52 cards of 649a.3, and a joker: each is a small integer, with a name of two characters."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NewType, TypeVar

T = TypeVar("T")

Card = NewType("Card", int)
"""The number ``rank * 4 + suit``: rank 0 (deuce) to 12 (ace), suit 0 to 3 as in ``SUITS``.

The joker has the next number, and neither rank nor suit.
"""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK: Final = tuple(Card(number) for number in range(52))

QUEEN: Final = 10
ACE: Final = 12
SPADES: Final = 3

JOKER: Final = Card(len(DECK))
JOKER_NAME: Final = "Jk"

_NAMES: Final = (*(rank + suit for rank in RANKS for suit in SUITS), JOKER_NAME)
_CARDS: Final = {name: Card(number) for number, name in enumerate(_NAMES[:-1])}


@dataclass(frozen=True, slots=True)
class Deck:
    """What a table deals: cards, or results such as those of dice.

    Attributes:
        numbers: the number of each card or result, by its name.
        kind: what the names are, and how they are written, for errors.
        copies: how often each card can be dealt; 0 means any number of times.
    """

    numbers: Mapping[str, Card]
    kind: str
    copies: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the numbers."""
        return tuple(self.numbers)

    def too_often(self, dealt: Sequence[T]) -> frozenset[T]:
        """Return the cards, or their names, that occur more often than the deck has them."""
        if not self.copies or len(set(dealt)) == len(dealt):
            return frozenset()
        return frozenset(card for card, number in Counter(dealt).items() if number > self.copies)

    def parse(self, names: Iterable[str]) -> tuple[Card, ...]:
        """Return the cards with these names; an unknown name is a ValueError."""
        try:
            return tuple(map(self.numbers.__getitem__, names))
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r} is not {self.kind}") from None


CARDS: Final = Deck(
    MappingProxyType(_CARDS), f"a card: write a rank of {RANKS}, then a suit of {SUITS}"
)
"""One deck of 52 cards."""

WITH_JOKER: Final = Deck(
    MappingProxyType({**_CARDS, JOKER_NAME: JOKER}), f"{CARDS.kind}; the joker is {JOKER_NAME}"
)
"""One deck of 52 cards and a joker."""


def are_cards(names: Iterable[str]) -> bool:
    """Return whether names are of cards, and not of results that a dealer entered."""
    return WITH_JOKER.numbers.keys() >= set(names)


def parse_card(text: str) -> Card:
    """Return the card that a two-character name means.

    >>> parse_card("Td")
    33
    >>> parse_card("10d")
    Traceback (most recent call last):
        ...
    ValueError: '10d' is not a card: write a rank of 23456789TJQKA, then a suit of cdhs
    """
    (card,) = parse_cards([text])
    return card


def parse_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    """Return the cards with these two-character names; an unknown name is a ValueError."""
    return CARDS.parse(texts)


def card_name(card: Card) -> str:
    return _NAMES[card]


def rank_of(card: Card) -> int:
    return card >> 2


def suit_of(card: Card) -> int:
    """Return the suit; all suits are equal in rank (649a.6(a))."""
    return card & 3
