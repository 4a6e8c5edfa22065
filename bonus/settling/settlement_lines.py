"""Records of a settlement: its lines, the percentages won from meters, and meter balances."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from bonus.wagers import METER_OF, MeterKind, PaidFrom


class Item(StrEnum):
    """Names, in lines, of the wagers that feed a meter and of the bonuses paid with them."""

    PROGRESSIVE = auto()
    FIVE_CARD_PROGRESSIVE = auto()
    FIVE_OF_SIX_PROGRESSIVE = auto()
    FIVE_CARD_HAND_BONUS = auto()
    FIVE_CARD_HAND_BONUS_DEALER = auto()
    MAGIC_CARD = auto()
    LUCKY_BONUS = auto()
    PROGRESSIVE_ENVY = auto()
    FIVE_CARD_ENVY = auto()
    FIVE_OF_SIX_ENVY = auto()


METER_OF_ITEM: Final[Mapping[str, MeterKind]] = MappingProxyType(
    {
        **{wager.value: kind for wager, kind in METER_OF.items()},
        Item.PROGRESSIVE_ENVY.value: MeterKind.PROGRESSIVE,
        Item.FIVE_CARD_ENVY.value: MeterKind.FIVE_CARD_PROGRESSIVE,
        Item.FIVE_OF_SIX_ENVY.value: MeterKind.FIVE_OF_SIX_PROGRESSIVE,
        Item.MAGIC_CARD.value: MeterKind.FIVE_CARD_HAND_BONUS,
        Item.LUCKY_BONUS.value: MeterKind.FIVE_CARD_HAND_BONUS,
    }
)
"""The meter of each wager that feeds one, and of each bonus paid with it."""


class Outcome(StrEnum):
    """Result of a wager."""

    PAID = auto()
    RETURNED = auto()
    COLLECTED = auto()


class Line(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One line of a settlement, in the format of the contract. Sums are in cents.

    Attributes:
        position: the betting position.
        item: the wager, or a bonus paid with it.
        outcome: paid, returned or collected.
        hand: the hand that decided it, if a hand was turned up.
        wagered: the wager, or the wager on which a bonus is based.
        paid: the amount won.
        returned: the amount of the wager that is returned.
        paid_from: the source of the payout; omitted if nothing is won.
        percent: the percentage of the meter that is paid.
        rule: the subsection that decides it.
        envy_of: for an Envy Bonus, the position that has the hand.
        on: for Magic Card and Lucky Bonus, the hand of the wager: the player's or the dealer's.
    """

    position: int
    item: str
    outcome: Outcome
    hand: str | None = None
    wagered: int
    paid: int
    returned: int
    paid_from: PaidFrom | None = None
    percent: int | None = None
    rule: str
    envy_of: int | None = None
    on: Literal["player", "dealer"] | None = None


@dataclass(frozen=True, slots=True)
class PercentWon:
    """A percentage of a meter that is won, subtracted at its turn.

    Attributes:
        meter: the meter.
        percent: percentage of the meter's balance at that time, 1 to 100.
        shares: number of equal shares into which it is divided (reading T17).
    """

    meter: MeterKind
    percent: int
    shares: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 100 or self.shares < 1:
            raise ValueError(f"cannot take {self.percent}% in {self.shares} shares off a meter")


@dataclass(frozen=True, slots=True)
class Due:
    """A settlement line whose amount may still depend on a meter.

    If ``take`` is not None, it is an index into the settlement's takes. The line's ``paid`` is then
    still 0, and the final amount is one share of that take.
    """

    line: Line
    take: int | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """Wins of a round in paying order, without the amounts that depend on meter balances."""

    dues: tuple[Due, ...]
    takes: tuple[PercentWon, ...]


@dataclass(frozen=True, slots=True)
class MeterHolding:
    """Balances of a meter and its reserve, in micros (ten-thousandths of a cent)."""

    amount_micros: int
    reserve_micros: int = 0

    def __post_init__(self) -> None:
        if self.amount_micros < 0 or self.reserve_micros < 0:
            raise ValueError("a meter cannot hold less than nothing")
