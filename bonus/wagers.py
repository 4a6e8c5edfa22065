"""The kinds of wager that feed a meter, the kinds of meter, and the sources of payouts."""

from collections.abc import Mapping
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final

MICROS_PER_CENT: Final = 10_000
"""Number of micros in a cent. A micro is a millionth of a dollar. Meters are counted in micros."""


class Wager(StrEnum):
    """A kind of wager that feeds a meter (649a.7(d)).

    The Five Card Hand Bonus occurs twice: as a wager on the player's hand and as a wager on the
    dealer's hand. Wagers that feed no meter are named only in the chapters' files.
    """

    PROGRESSIVE = auto()
    FIVE_CARD_PROGRESSIVE = auto()
    FIVE_OF_SIX_PROGRESSIVE = auto()
    FIVE_CARD_HAND_BONUS = auto()
    FIVE_CARD_HAND_BONUS_DEALER = auto()


class MeterKind(StrEnum):
    """A kind of progressive meter.

    649a.12 requires a seed and a rate of progression for each kind.
    """

    PROGRESSIVE = auto()
    FIVE_CARD_PROGRESSIVE = auto()
    FIVE_OF_SIX_PROGRESSIVE = auto()
    FIVE_CARD_HAND_BONUS = auto()


class PaidFrom(StrEnum):
    """The source from which a payout is paid.

    A hand pay is paid by attendants. It must not be paid from the table inventory container or
    through the player's game account: 649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv).
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
"""The kind of meter that each wager feeds."""

WAGERS_OF: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        kind.value: tuple(wager.value for wager, fed in METER_OF.items() if fed is kind)
        for kind in MeterKind
    }
)
"""The wagers that feed each kind of meter."""

_FED: Final[Mapping[str, MeterKind]] = {wager.value: kind for wager, kind in METER_OF.items()}


def meter_fed_by(wager: str) -> MeterKind | None:
    """Return the kind of meter that a wager feeds, or None.

    The result is None if the wager feeds no meter, or if there is no wager of this name.
    """
    return _FED.get(wager)
