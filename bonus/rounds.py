"""A round as it was dealt, and whether it can have been.

A round is checked once, where it comes in; what settles it relies on that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bonus.cards import Card, card_name, parse_card
from bonus.paytables import METER_OF, MeterKind, MeterTerms, Wager

POSITIONS_MAX: Final = 7  # 649a.2(a)

KEPT_ON_FOLDING: Final = frozenset(
    {
        Wager.SIX_CARD_BONUS,
        Wager.FIVE_CARD_HAND_BONUS,
        Wager.FIVE_CARD_HAND_BONUS_DEALER,
        Wager.FIVE_OF_SIX_PROGRESSIVE,
    }
)
"""Wagers that survive a fold and keep the folded cards on the table (649a.11(b)(3), (c))."""

_NEED_COMMUNITY: Final = frozenset(
    {
        Wager.FIVE_CARD_PROGRESSIVE,
        Wager.FIVE_CARD_HAND_BONUS,
        Wager.FIVE_CARD_HAND_BONUS_DEALER,
    }
)

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
class DealtPosition:
    """A betting position that was dealt a hand.

    Attributes:
        position: 1 (farthest to the dealer's left) to 7.
        patron: who plays it, or None where nobody says: then it is a player of its own.
        cards: the hand, or None where it was folded and collected, or the round is void.
        folded: whether the player made no Play Wager and ended his participation.
        wagers: the amount of each wager, in cents.
        kept: whether its cards stayed on the table though it was folded, for a wager that is not
            among these, such as a Six Card Bonus.
    """

    position: int
    patron: str | None
    cards: tuple[Card, Card, Card] | None
    folded: bool
    wagers: Mapping[Wager, int]
    kept: bool = False

    @property
    def player(self) -> str | int:
        """Who plays the position: one patron is one player, whatever his boxes (reading T9)."""
        return self.position if self.patron is None else self.patron

    @property
    def shows_cards(self) -> bool:
        """Whether the hand stays on the table to be turned up (649a.11(c), reading T8).

        A folded hand does where a wager on it survives the fold.
        """
        return not self.folded or self.kept or not KEPT_ON_FOLDING.isdisjoint(self.wagers)


@dataclass(frozen=True, slots=True)
class Round:
    """A round after the deal, ready to be settled."""

    positions: tuple[DealtPosition, ...]
    dealer: tuple[Card, Card, Card]
    community: tuple[Card, Card] | None = None
    draw: Draw = Draw()


def three_cards(names: Sequence[str], field: str) -> tuple[Card, Card, Card]:
    """Read a hand of three cards.

    Raises:
        RoundError: ``wrong_cards`` for another number of them, ``bad_card`` for what is no card.
    """
    first, second, third = _read(names, 3, field)
    return first, second, third


def two_cards(names: Sequence[str], field: str) -> tuple[Card, Card]:
    """Read the two community cards.

    Raises:
        RoundError: ``wrong_cards`` for another number of them, ``bad_card`` for what is no card.
    """
    first, second = _read(names, 2, field)
    return first, second


def one_card(name: str, field: str) -> Card:
    """Read a card.

    Raises:
        RoundError: ``bad_card`` for what is no card.
    """
    try:
        return parse_card(name)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None


def _read(names: Sequence[str], count: int, field: str) -> list[Card]:
    if len(names) != count:
        raise RoundError("wrong_cards", f"{len(names)} cards, where {count} are dealt", field)
    return [one_card(name, field) for name in names]


def check_wagers(positions: Sequence[DealtPosition], terms: Mapping[MeterKind, MeterTerms]) -> None:
    """Check what was wagered, and where.

    Raises:
        RoundError: ``bad_position`` (not 1 to 7), ``position_twice``, ``not_settled`` (a wager
            that feeds no meter), ``unknown_meter`` (a wager without its meter here),
            ``wrong_amount`` (not the meter's, reading T22).
    """
    seen: set[int] = set()
    for index, box in enumerate(positions):
        if not 1 <= box.position <= POSITIONS_MAX:
            message = f"position {box.position}, where a table has 1 to {POSITIONS_MAX} at most"
            raise RoundError("bad_position", message, f"positions[{index}].position")
        if box.position in seen:
            message = f"position {box.position} occurs twice"
            raise RoundError("position_twice", message, f"positions[{index}].position")
        seen.add(box.position)
        for wager, amount_cents in box.wagers.items():
            _check_amount(wager, amount_cents, terms, f"positions[{index}].wagers.{wager}")


def check_round(played: Round, terms: Mapping[MeterKind, MeterTerms]) -> None:
    """Check that a round can have been wagered and dealt so.

    Raises:
        RoundError: as ``check_wagers``; ``cards_missing`` (a hand that stays on the table has no
            cards, reading T8), ``community_missing`` (649a.8(d)), ``card_twice``,
            ``bad_position`` (a Lucky position that no table has).
    """
    check_wagers(played.positions, terms)
    seen: set[Card] = set()
    for index, box in enumerate(played.positions):
        if box.cards is not None:
            _check_unseen(box.cards, seen, f"positions[{index}].cards")
        elif box.shows_cards:
            message = f"the hand of position {box.position} is to be turned up, and has no cards"
            raise RoundError("cards_missing", message, f"positions[{index}].cards")
    _check_unseen(played.dealer, seen, "dealer")
    if played.community is not None:
        _check_unseen(played.community, seen, "community")
    elif any(not _NEED_COMMUNITY.isdisjoint(box.wagers) for box in played.positions):
        message = "a Five-Card Progressive or Five Card Hand Bonus was wagered without their cards"
        raise RoundError("community_missing", message, "community")
    lucky = played.draw.lucky_position
    if isinstance(lucky, int) and not 1 <= lucky <= POSITIONS_MAX:
        raise RoundError("bad_position", f"no table has a position {lucky}", "draw.lucky_position")


def _check_amount(
    wager: Wager, amount_cents: int, terms: Mapping[MeterKind, MeterTerms], field: str
) -> None:
    kind = METER_OF.get(wager)
    if kind is None:
        message = f"this version settles the wagers that feed a meter, and {wager} feeds none"
        raise RoundError("not_settled", message, field)
    if kind not in terms:
        raise RoundError("unknown_meter", f"{wager}: there is no {kind} meter here", field)
    wager_cents = terms[kind].wager_cents
    if amount_cents != wager_cents:
        message = f"{wager} of {amount_cents} cents, where the meter is for {wager_cents}"
        raise RoundError("wrong_amount", message, field)


def _check_unseen(cards: Iterable[Card], seen: set[Card], field: str) -> None:
    for card in cards:
        if card in seen:
            raise RoundError("card_twice", f"{card_name(card)} occurs twice", field)
        seen.add(card)
