"""Units of meters, the sources of payouts, and the names of items that belong to a wager."""

from enum import StrEnum, auto
from typing import Final

MICROS_PER_CENT: Final = 10_000
"""A micro is a millionth of a dollar. Meters are counted in micros."""

MAGIC_CARD: Final = "magic_card"

LUCKY_BONUS: Final = "lucky_bonus"
"""Items of the settlement lines that pay the Magic Card and the Lucky Bonus (649a.12(i)(3))."""

_PROGRESSIVE: Final = "_progressive"
_ENVY: Final = "_envy"
_DEALER: Final = "_dealer"
_JACKPOT: Final = "_jackpot"


class PaidFrom(StrEnum):
    """The source from which a payout is paid.

    A hand pay is paid by attendants. It must not be paid from the table inventory container or
    through the player's game account: 649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv).
    """

    TABLE_INVENTORY = auto()
    GAME_ACCOUNT = auto()
    HAND_PAY = auto()


def envy_item(wager: str) -> str:
    """Return the item of settlement lines that pay the Envy Bonuses of a wager.

    >>> envy_item("progressive"), envy_item("five_card_progressive")
    ('progressive_envy', 'five_card_envy')
    """
    return f"{wager.removesuffix(_PROGRESSIVE)}{_ENVY}"


def is_envy(item: str) -> bool:
    """Return whether an item of a settlement line is an Envy Bonus. No wager has such a name."""
    return item.endswith(_ENVY)


def jackpot_item(meter: str) -> str:
    """Return the item of lines that pay a percentage of one of several meters.

    The wager itself has another line, for what it pays at odds.

    >>> jackpot_item("major")
    'major_jackpot'
    """
    return f"{meter}{_JACKPOT}"


def is_jackpot(item: str) -> bool:
    """Return whether an item is a percentage of one of several meters. No wager has such a name."""
    return item.endswith(_JACKPOT)


def is_on_dealer(item: str) -> bool:
    """Return whether an item is a wager on the dealer's hand. No other wager has such a name.

    All wagers on the dealer's hand divide one jackpot (reading T17).

    >>> is_on_dealer("five_card_hand_bonus_dealer"), is_on_dealer("five_card_hand_bonus")
    (True, False)
    """
    return item.endswith(_DEALER)
