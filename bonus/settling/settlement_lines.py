"""A settlement's records: its lines, what they take off a meter, and what a meter holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from bonus.wagers import METER_OF, MeterKind, PaidFrom


class Item(StrEnum):
    """The wagers that feed a meter, and what is paid beside them, as lines name them."""

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
"""The meter of a wager that feeds one, and of what is paid beside it."""


class Outcome(StrEnum):
    """What became of a wager."""

    PAID = auto()
    RETURNED = auto()
    COLLECTED = auto()


class Line(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One line of a settlement, as the contract has it. Sums are in cents.

    Attributes:
        position: whose line it is.
        item: the wager, or what is paid beside it.
        outcome: paid, returned or collected.
        hand: the hand that decided it, where one was turned up.
        wagered: the wager, or the one that an additional item is based on.
        paid: what is won.
        returned: how much of the wager goes back.
        paid_from: where a payout comes from; left out where nothing is won.
        percent: the percentage of the meter that is paid.
        rule: the subsection that decides it.
        envy_of: for an Envy Bonus, the position that holds the hand.
        on: for Magic Card and Lucky Bonus, whose hand was wagered on.
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
    """One percentage of a meter, taken off it at its turn.

    Attributes:
        meter: the meter.
        percent: how much of what the meter holds then, 1 to 100.
        shares: into how many equal shares it is divided (reading T17).
    """

    meter: MeterKind
    percent: int
    shares: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 100 or self.shares < 1:
            raise ValueError(f"cannot take {self.percent}% in {self.shares} shares off a meter")


@dataclass(frozen=True, slots=True)
class Due:
    """A settlement line.

    Where ``take`` is not None it is an index into the settlement's takes: the line's ``paid`` is 0
    as yet, and what is paid is one share of that take.
    """

    line: Line
    take: int | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """Who won what, in paying order, as far as it does not depend on what the meters hold."""

    dues: tuple[Due, ...]
    takes: tuple[PercentWon, ...]


@dataclass(frozen=True, slots=True)
class MeterHolding:
    """What a meter and its reserve hold, in micros (a ten-thousandth of a cent)."""

    amount_micros: int
    reserve_micros: int = 0

    def __post_init__(self) -> None:
        if self.amount_micros < 0 or self.reserve_micros < 0:
            raise ValueError("a meter cannot hold less than nothing")
