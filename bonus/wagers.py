"""The wagers that feed a meter, their meters, and where payouts come from."""

from collections.abc import Mapping
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final

MICROS_PER_CENT: Final = 10_000
"""Micros, millionths of a dollar, in a cent: meters are kept in micros."""


class Wager(StrEnum):
    """A wager that feeds a meter (649a.7(d)), the Five Card Hand Bonus once for each hand.

    All other wagers are named by the chapters' files alone.
    """

    PROGRESSIVE = auto()
    FIVE_CARD_PROGRESSIVE = auto()
    FIVE_OF_SIX_PROGRESSIVE = auto()
    FIVE_CARD_HAND_BONUS = auto()
    FIVE_CARD_HAND_BONUS_DEALER = auto()


class MeterKind(StrEnum):
    """A progressive meter that 649a.12 gives a seed and a rate of progression."""

    PROGRESSIVE = auto()
    FIVE_CARD_PROGRESSIVE = auto()
    FIVE_OF_SIX_PROGRESSIVE = auto()
    FIVE_CARD_HAND_BONUS = auto()


class PaidFrom(StrEnum):
    """Where a payout comes from.

    A hand pay may come neither from the table inventory container nor through the player's game
    account: 649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv).
    """

    TABLE_INVENTORY = auto()
    GAME_ACCOUNT = auto()
    HAND_PAY = auto()


METER_OF: Final[Mapping[Wager, MeterKind]] = MappingProxyType(
    {
        Wager.PROGRESSIVE: MeterKind.PROGRESSIVE,
        Wager.FIVE_CARD_PROGRESSIVE: MeterKind.FIVE_CARD_PROGRESSIVE,
        Wager.FIVE_OF_SIX_PROGRESSIVE: MeterKind.FIVE_OF_SIX_PROGRESSIVE,
        Wager.FIVE_CARD_HAND_BONUS: MeterKind.FIVE_CARD_HAND_BONUS,
        Wager.FIVE_CARD_HAND_BONUS_DEALER: MeterKind.FIVE_CARD_HAND_BONUS,
    }
)
"""The meter that each of them feeds."""

_FED: Final[Mapping[str, MeterKind]] = {wager.value: kind for wager, kind in METER_OF.items()}


def meter_fed_by(wager: str) -> MeterKind | None:
    """The meter that a wager feeds, or None: it feeds none, or there is no such wager."""
    return _FED.get(wager)
