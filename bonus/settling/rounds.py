"""A round as it was wagered and dealt, and its cards as they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bonus.cards import Card, parse_card

LuckyPosition = int | Literal["dealer"]


class RoundError(ValueError):
    """A round that cannot have been dealt or wagered so.

    Attributes:
        code: what is wrong, a short name in snake case.
        message: the same for people.
        field: where in the round, such as ``positions[2].cards``, or None for the whole.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class Draw:
    """What the table game system drew for the round (649a.1, Magic Card and Lucky Bonus)."""

    magic_card: Card | None = None
    lucky_position: LuckyPosition | None = None


@dataclass(frozen=True, slots=True)
class RoundPosition:
    """A betting position that was dealt a hand.

    Attributes:
        position: 1 (farthest to the dealer's left) or more.
        patron: who plays it, or None where nobody says: then it is a player of its own.
        cards: the hand, or None where it was folded and collected, or the round is void.
        folded: whether the player did not follow his Ante and ended his participation.
        wagers: the amount of each wager, in cents.
        kept: whether its cards stayed on the table though it was folded, for a wager that is not
            among these, such as a Six Card Bonus.
        fourth_card: the card dealt to it beside its hand, for a Pair Bonus (679a.8(c)).
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
        """Who plays the position: one patron is one player, whatever his boxes (reading T9)."""
        return self.position if self.patron is None else self.patron

    def shows_cards(self, survivors: frozenset[str]) -> bool:
        """Whether the hand stays on the table to be turned up (649a.11(c), reading T8).

        A folded hand does where a wager on it is among ``survivors``, those that survive the fold.
        """
        return not self.folded or self.kept or not survivors.isdisjoint(self.wagers)


@dataclass(frozen=True, slots=True)
class Round:
    """A round after the deal, ready to be settled.

    Attributes:
        positions: the positions that were dealt a hand.
        dealer: the dealer's hand, or None where no wager turns on it.
        community: the two community cards (649a.8(d)).
        draw: what was drawn.
        pair_bonus_community_card: the one card for every Pair Bonus (679a.8(h)).
        all_six_card: the All-Six Bonus card (682a.8(c)).
        dealer_exposed: whether a dealer's card was exposed, so that only some wagers are settled.
    """

    positions: tuple[RoundPosition, ...]
    dealer: tuple[Card, ...] | None
    community: tuple[Card, ...] | None = None
    draw: Draw = Draw()
    pair_bonus_community_card: Card | None = None
    all_six_card: Card | None = None
    dealer_exposed: bool = False


def read_cards(names: Sequence[str], count: int, field: str, rule: str = "") -> tuple[Card, ...]:
    """Read ``count`` cards, as many as are dealt by a subsection.

    Raises:
        RoundError: ``wrong_cards`` for another number of them, ``bad_card`` for what is no card.
    """
    if len(names) != count:
        by = f" ({rule})" if rule else ""
        raise RoundError("wrong_cards", f"{len(names)} cards, where {count} are dealt{by}", field)
    return tuple(one_card(name, field) for name in names)


def one_card(name: str, field: str) -> Card:
    """Read a card.

    Raises:
        RoundError: ``bad_card`` for what is no card.
    """
    try:
        return parse_card(name)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None
