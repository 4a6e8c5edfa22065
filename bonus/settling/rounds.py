"""A round with its wagers and cards, and the parsers of its cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bonus.cards import Card, parse_card

LuckyPosition = int | Literal["dealer"]


class RoundError(ValueError):
    """Error of a round whose wagers or cards are not possible.

    Attributes:
        code: short name of the error, in snake case.
        message: text of the error for people.
        field: place in the round, such as ``positions[2].cards``, or None for the whole round.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class Draw:
    """The table game system's draws for the round (649a.1, Magic Card and Lucky Bonus)."""

    magic_card: Card | None = None
    lucky_position: LuckyPosition | None = None


@dataclass(frozen=True, slots=True)
class RoundPosition:
    """A betting position that was dealt a hand.

    Attributes:
        position: 1 (farthest to the dealer's left) or more.
        patron: the patron who plays it; if None, the position counts as a separate player.
        cards: the hand; None if it was folded and collected, or if the round is void.
        folded: true if the player did not follow the Ante and so ended their participation.
        wagers: the amount of each wager, in cents.
        kept: true if its cards stayed on the table after a fold because of a wager that is not in
            ``wagers``, such as a Six Card Bonus.
        fourth_card: the additional card dealt to it for a Pair Bonus (679a.8(c)).
    """

    position: int
    patron: str | None
    cards: tuple[Card, ...] | None
    folded: bool
    wagers: Mapping[str, int]
    kept: bool = False
    fourth_card: Card | None = None

    @property
    def player(self) -> str | int:
        """The player: a patron who plays several positions is one player (reading T9)."""
        return self.position if self.patron is None else self.patron

    def shows_cards(self, survivors: frozenset[str]) -> bool:
        """Return whether the hand stays on the table and is turned up (649a.11(c), reading T8).

        A folded hand stays if it has a wager in ``survivors``: the wagers that a fold does not
        forfeit.
        """
        return not self.folded or self.kept or not survivors.isdisjoint(self.wagers)


@dataclass(frozen=True, slots=True)
class Round:
    """A round after the deal, ready to be settled.

    Attributes:
        positions: the positions that were dealt a hand.
        dealer: the dealer's hand; None if no wager depends on it.
        community: the two community cards (649a.8(d)).
        draw: the draws of the table game system.
        pair_bonus_community_card: the one card for every Pair Bonus (679a.8(h)).
        all_six_card: the All-Six Bonus card (682a.8(c)).
        dealer_exposed: true if a dealer's card was exposed; then only some wagers are settled.
    """

    positions: tuple[RoundPosition, ...]
    dealer: tuple[Card, ...] | None
    community: tuple[Card, ...] | None = None
    draw: Draw = Draw()
    pair_bonus_community_card: Card | None = None
    all_six_card: Card | None = None
    dealer_exposed: bool = False


def read_cards(names: Sequence[str], count: int, field: str, rule: str = "") -> tuple[Card, ...]:
    """Read ``count`` cards, the number that the subsection ``rule`` requires.

    Raises:
        RoundError: ``wrong_cards`` if the number differs, ``bad_card`` if a name is not a card.
    """
    if len(names) != count:
        by = f" ({rule})" if rule else ""
        raise RoundError("wrong_cards", f"{len(names)} cards, but {count} are dealt{by}", field)
    return tuple(one_card(name, field) for name in names)


def one_card(name: str, field: str) -> Card:
    """Read a card.

    Raises:
        RoundError: ``bad_card`` if the name is not a card.
    """
    try:
        return parse_card(name)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None
