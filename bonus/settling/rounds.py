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
        field: the place in the round, such as ``positions[2].cards``; None if all of it is wrong.
        all: every known error of the round, this one first.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.all: tuple[RoundError, ...] = (self,)


def refuse(errors: Sequence[RoundError]) -> None:
    """Raise the first of the errors of one round, if any; its ``all`` has all of them."""
    if errors:
        errors[0].all = tuple(errors)
        raise errors[0]


class Draw(msgspec.Struct, frozen=True):
    """The draws of the table game system: Magic Card, and Lucky position (649a.1).

    The Lucky position decides the Lucky Bonus.
    """

    magic_card: Card | None = None
    lucky_position: LuckyPosition | None = None


class KeptWagers(dict[str, int]):
    """Amounts of a position's wagers, in cents, as a key of caches; compared by identity.

    A comparison of the contents would take longer. They must not be changed, because many rounds
    share the object.
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
        position: the number, from 1 (farthest to the dealer's left).
        patron: if it is None, the position counts as a separate player.
        cards: the hand; None if it was folded and collected, if it was declared to win nothing, or
            if the round is void.
        folded: true if the player did not make the wager after the Ante, and so ended their
            participation.
        wagers: the amount of each wager, in cents.
        kept: true if the cards stayed on the table after a fold because of a wager that is not in
            ``wagers``, such as a Six Card Bonus.
        fourth_card: the additional card for a Pair Bonus (679a.8(c)).
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
        """The patron of the position, or its number if there is none.

        A patron who plays several positions is one player (reading T9).
        """
        return self.position if self.patron is None else self.patron

    def shows_cards(self, survivors: frozenset[str]) -> bool:
        """Return whether the hand stays on the table and is turned up (649a.11(c), reading T8).

        A folded hand stays if ``kept`` is true, or if the position has a wager in ``survivors``,
        the wagers that a fold does not forfeit. A hand that was declared to win nothing shows no
        cards.
        """
        if self.no_win:
            return False
        return not self.folded or self.kept or not survivors.isdisjoint(self.wagers)


class Round(msgspec.Struct, frozen=True):
    """A round after the deal, ready to be settled.

    Attributes:
        dealer: None if no wager depends on the dealer's hand.
        community: the two community cards (649a.8(d)), if they were dealt.
        pair_bonus_community_card: the one card for every Pair Bonus (679a.8(h)), if it was dealt.
        all_six_card: the All-Six Bonus card (682a.8(c)), if it was dealt.
        dealer_exposed: true if a dealer's card was exposed, so that only some wagers are settled.
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

    ``count`` is the number that the subsection ``rule`` requires, and ``field`` the place in the
    round.

    Raises:
        RoundError: ``wrong_cards`` if the number of names is wrong, or ``bad_card`` if a name is
            not a card.
    """
    if len(names) != count:
        by = f" ({rule})" if rule else ""
        raise RoundError("wrong_cards", f"{len(names)} cards, but {count} are dealt{by}", field)
    try:
        return parse_cards(names)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None


def one_card(name: str, field: str) -> Card:
    """Return the card that a two-character name means; ``field`` is its place in the round.

    Raises:
        RoundError: the code is ``bad_card`` if the name is not a card.
    """
    (card,) = read_cards([name], 1, field)
    return card
