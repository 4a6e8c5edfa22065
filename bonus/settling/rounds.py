"""A round with its wagers and cards, and the parsers of card names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from bonus.cards import Card, parse_cards

LuckyPosition = int | Literal["dealer"]


class RoundError(ValueError):
    """Error of a round whose wagers or cards are not possible.

    Attributes:
        code: the short name of the error, in snake case.
        message: the text of the error for people.
        field: the place of the error in the round, such as ``positions[2].cards``; None if the
            whole round is wrong.
        all: every known error of the round, this one first.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.all: tuple[RoundError, ...] = (self,)


def refuse(errors: Sequence[RoundError]) -> None:
    """Raise the first of the errors of one round; its attribute ``all`` has all of them.

    Raises:
        RoundError: there is an error.
    """
    if errors:
        errors[0].all = tuple(errors)
        raise errors[0]


class Draw(msgspec.Struct, frozen=True):
    """The draws of the table game system for a round: Magic Card and Lucky position (649a.1).

    The Lucky position decides the Lucky Bonus.
    """

    magic_card: Card | None = None
    lucky_position: LuckyPosition | None = None


class KeptWagers(dict[str, int]):
    """Amounts of a position's wagers, in cents, as a key of caches; compared by identity.

    A comparison of the contents would take longer. The contents must not be changed, because many
    rounds share the object.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has no hash


def kept_wagers(wagers: Mapping[str, int]) -> KeptWagers:
    """Return an object with the same wagers; usually the same object for the same wagers."""
    return wagers if isinstance(wagers, KeptWagers) else _kept(tuple(wagers.items()))


@lru_cache(maxsize=8_192)
def _kept(placed: tuple[tuple[str, int], ...]) -> KeptWagers:
    return KeptWagers(placed)


class RoundPosition(msgspec.Struct, frozen=True):
    """A betting position that was dealt a hand.

    Attributes:
        position: the number of the position, from 1 (farthest to the dealer's left).
        patron: the patron who plays the position. If it is None, the position counts as a separate
            player.
        cards: the hand; None if the hand was folded and collected, if it was declared to win
            nothing, or if the round is void.
        folded: true if the player folded: they did not make the wager after the Ante, and so ended
            their participation.
        wagers: the amount of each wager, in cents.
        kept: true if the cards stayed on the table after a fold, because of a wager that is not in
            ``wagers``. An example is a Six Card Bonus.
        fourth_card: the additional card that was dealt to the position for a Pair Bonus
            (679a.8(c)); None if there is none.
        no_win: true if the dealer declared that the hand wins nothing, and so did not enter its
            cards.
    """

    position: int
    patron: str | None
    cards: tuple[Card, ...] | None
    folded: bool
    wagers: Mapping[str, int]
    kept: bool = False
    fourth_card: Card | None = None
    no_win: bool = False

    @property
    def player(self) -> str | int:
        """The player of the position: the patron, or the position number if the patron is None.

        A patron who plays several positions is one player (reading T9).
        """
        return self.position if self.patron is None else self.patron

    def shows_cards(self, survivors: frozenset[str]) -> bool:
        """Return whether the hand stays on the table and is turned up (649a.11(c), reading T8).

        A hand that was not folded stays. A folded hand stays if ``kept`` is true. A folded hand
        also stays if the position has a wager in ``survivors``, the wagers that a fold does not
        forfeit. A hand that was declared to win nothing shows no cards.
        """
        if self.no_win:
            return False
        return not self.folded or self.kept or not survivors.isdisjoint(self.wagers)


class Round(msgspec.Struct, frozen=True):
    """A round after the deal, ready to be settled.

    Attributes:
        positions: the positions that were dealt a hand.
        dealer: the dealer's hand; None if no wager depends on it.
        community: the two community cards (649a.8(d)); None if they were not dealt.
        draw: the draws of the table game system.
        pair_bonus_community_card: the one card for every Pair Bonus (679a.8(h)); None if it was not
            dealt.
        all_six_card: the All-Six Bonus card (682a.8(c)); None if it was not dealt.
        dealer_exposed: true if a dealer's card was exposed. If it is true, only some wagers are
            settled.
    """

    positions: tuple[RoundPosition, ...]
    dealer: tuple[Card, ...] | None
    community: tuple[Card, ...] | None = None
    draw: Draw = Draw()
    pair_bonus_community_card: Card | None = None
    all_six_card: Card | None = None
    dealer_exposed: bool = False


def read_cards(names: Sequence[str], count: int, field: str, rule: str = "") -> tuple[Card, ...]:
    """Return the cards that a list of card names means.

    There must be ``count`` names, the number that the subsection ``rule`` requires. ``field`` is
    the place of the names in the round.

    Raises:
        RoundError: the code is ``wrong_cards`` if the number of names is wrong, or ``bad_card`` if
            a name is not a card.
    """
    if len(names) != count:
        by = f" ({rule})" if rule else ""
        raise RoundError("wrong_cards", f"{len(names)} cards, but {count} are dealt{by}", field)
    try:
        return parse_cards(names)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None


def one_card(name: str, field: str) -> Card:
    """Return the card that a two-character name means.

    ``field`` is the place of the name in the round.

    Raises:
        RoundError: the code is ``bad_card`` if the name is not a card.
    """
    (card,) = read_cards([name], 1, field)
    return card
