"""Units and sources of payouts, and the names of the items that belong to a wager."""

import re
from enum import StrEnum, auto
from fractions import Fraction
from typing import Final, Literal, get_args

MICROS_PER_CENT: Final = 10_000
"""A micro is a millionth of a dollar. Meters are counted in micros."""

Percent = int | Fraction
"""An exact percentage with at most two decimals: a whole number, or a fraction such as 25/2."""

PERCENT: Final = re.compile(r"(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,2}))?")

MAGIC_CARD: Final = "magic_card"

LUCKY_BONUS: Final = "lucky_bonus"
"""Items of the settlement lines that pay the Magic Card and the Lucky Bonus (649a.12(i)(3))."""

MUST_HIT_BY: Final = "must_hit_by"
"""The kind of a meter that is won at a hidden value. Its wins have this name in place of a hand."""

_PROGRESSIVE: Final = "_progressive"
_ENVY: Final = "_envy"
_DEALER: Final = "_dealer"
_JACKPOT: Final = "_jackpot"
_COMMUNITY_SHARE: Final = "_community_share"
_ENVY_SHARE: Final = "_envy_share"

BadBeatPart = Literal["loser", "winner", "table"]
"""Who wins a part of a meter at a bad beat: the beaten hand, the higher hand, or all players."""

BAD_BEAT_PARTS: Final[tuple[BadBeatPart, ...]] = get_args(BadBeatPart)
"""The parts in paying order."""

_BAD_BEAT: Final = "_bad_beat_"
_BAD_BEATS: Final = tuple(f"{_BAD_BEAT}{part}" for part in BAD_BEAT_PARTS)


class PaidFrom(StrEnum):
    """The source from which a payout is paid.

    A hand pay must not be paid from the table inventory container or through the player's game
    account: 649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv).
    """

    TABLE_INVENTORY = auto()
    GAME_ACCOUNT = auto()
    HAND_PAY = auto()


def envy_item(wager: str) -> str:
    """Return the item of lines that pay a wager's Envy Bonuses.

    >>> envy_item("progressive"), envy_item("five_card_progressive")
    ('progressive_envy', 'five_card_envy')
    """
    return f"{wager.removesuffix(_PROGRESSIVE)}{_ENVY}"


def is_envy(item: str) -> bool:
    """Check by its name if an item is an Envy Bonus; no wager has a name that ends like this."""
    return item.endswith(_ENVY)


def jackpot_item(meter: str) -> str:
    """Return the item of the lines that pay only a percentage of a meter, beside a wager's line.

    >>> jackpot_item("major")
    'major_jackpot'
    """
    return f"{meter}{_JACKPOT}"


def is_jackpot(item: str) -> bool:
    """Check by its name if an item is a percentage of a meter with a line of its own."""
    return item.endswith(_JACKPOT)


def community_item(meter: str) -> str:
    """Return the item of lines that divide a part of a meter among the players of a wager.

    >>> community_item("major")
    'major_community_share'
    """
    return f"{meter}{_COMMUNITY_SHARE}"


def envy_share_item(meter: str) -> str:
    """Return the item of the lines of Envy Bonuses that are a percentage of a meter.

    >>> envy_share_item("major")
    'major_envy_share'
    """
    return f"{meter}{_ENVY_SHARE}"


def bad_beat_item(meter: str, part: BadBeatPart) -> str:
    """Return the item of the lines that pay a part of a meter after a bad beat.

    >>> bad_beat_item("major", "loser")
    'major_bad_beat_loser'
    """
    return f"{meter}{_BAD_BEAT}{part}"


def is_community_share(item: str) -> bool:
    """Check by its name if an item is a share of what the players of a wager divide equally."""
    return item.endswith(_COMMUNITY_SHARE)


def is_envy_share(item: str) -> bool:
    """Check by its name if an item is an Envy Bonus that is a percentage of a meter."""
    return item.endswith(_ENVY_SHARE)


def is_bad_beat(item: str) -> bool:
    """Check by its name if an item is a part of a meter that a bad beat pays."""
    return item.endswith(_BAD_BEATS)


def bad_beat_part(item: str) -> BadBeatPart | None:
    """Return the part that the item of a bad beat pays; None for every other item.

    >>> bad_beat_part("major_bad_beat_loser"), bad_beat_part("major_jackpot")
    ('loser', None)
    """
    return next((part for part in BAD_BEAT_PARTS if item.endswith(f"{_BAD_BEAT}{part}")), None)


def is_table_share(item: str) -> bool:
    """Check by its name if all players of a wager divide an item equally."""
    return is_community_share(item) or bad_beat_part(item) == "table"


def is_share(item: str) -> bool:
    """Check by its name if an item is a part of a meter that another player's hand can bring."""
    return is_community_share(item) or is_envy_share(item) or is_bad_beat(item)


def is_on_dealer(item: str) -> bool:
    """Check by its name if an item is a wager on the dealer's hand.

    No other wager that feeds a meter has a name that ends like this. All wagers on the dealer's
    hand divide one jackpot (reading T17).
    """
    return item.endswith(_DEALER)


def read_percent(number: str | int) -> Percent:
    """Return a percentage; more than two decimals are a ValueError.

    >>> read_percent("12.50"), read_percent("10.0"), read_percent(100)
    (Fraction(25, 2), 10, 100)
    """
    match = PERCENT.fullmatch(str(number))
    if match is None:
        raise ValueError(f"{number!r} is not a percentage with at most two decimals")
    percent = Fraction(int(match[1]) * 100 + int((match[2] or "").ljust(2, "0")), 100)
    return percent.numerator if percent.denominator == 1 else percent


def part_of_percent(percent: Percent, wagered_cents: int, wager_cents: int) -> Percent:
    """Return a percentage of a meter times ``wagered_cents / wager_cents``, exactly.

    >>> part_of_percent(100, 100, 500), part_of_percent(25, 250, 500)
    (20, Fraction(25, 2))
    """
    part = Fraction(percent) * wagered_cents / wager_cents
    return part.numerator if part.denominator == 1 else part


def percent_bps(percent: Percent) -> int:
    return int(percent * 100)
