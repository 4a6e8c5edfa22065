"""Money, wagers, hands and cards as text for people."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from bonus.cards import CARDS, JOKER_NAME
from bonus.wagers import (
    MICROS_PER_CENT,
    MUST_HIT_BY,
    BadBeatPart,
    bad_beat_part,
    is_bad_beat,
    is_table_share,
)

_ITEMS: Final = {
    "five_of_six_progressive": "5 of 6 Progressive",
    "five_card_progressive": "Five-Card Progressive",
    "five_of_six_envy": "5 of 6 Envy Bonus",
    "five_card_envy": "Five-Card Envy Bonus",
    "progressive_envy": "Envy Bonus",
    "five_card_hand_bonus_dealer": "Five Card Hand Bonus (dealer)",
}
_BAD_BEATS: Final[Mapping[BadBeatPart, str]] = {
    "loser": "Bad Beat (losing hand)",
    "winner": "Bad Beat (winning hand)",
    "table": "Bad Beat (table share)",
}
_ENDINGS: Final = {
    "_envy_share": "Envy Bonus (share)",
    "_envy": "Envy Bonus",
    **{f"_bad_beat_{part}": words for part, words in _BAD_BEATS.items()},
}
_LITTLE: Final = frozenset({"of", "a"})
_SUITS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
_RANKS: Final = {
    "T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace",
    "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine",
}  # fmt: skip


def money(amount_cents: int) -> str:
    """Return cents as dollars and cents.

    >>> money(112362), money(-150)
    ('$1,123.62', '-$1.50')
    """
    dollars, cents = divmod(abs(amount_cents), 100)
    return f"{'-' if amount_cents < 0 else ''}${dollars:,}.{cents:02}"


def part_of_meter(percent: int | str, item: str) -> str:
    """Return what a win gets of a meter. Several players divide a community share.

    >>> part_of_meter(10, "trips_progressive"), part_of_meter(10, "pot_community_share")
    ('10% of the meter', 'an equal share of 10% of the meter')
    >>> part_of_meter(50, "pot_bad_beat_loser")
    '50% of the meter (equal hands divide it)'
    """
    part = f"{percent}% of the meter"
    if is_table_share(item):
        return f"an equal share of {part}"
    return f"{part} (equal hands divide it)" if is_bad_beat(item) else part


def bad_beat_title(meter: str, item: str) -> str:
    """Return the title of an item of a bad beat, from the title of its meter.

    >>> bad_beat_title("Major", "lf_major_bad_beat_winner")
    'Major Bad Beat (winning hand)'
    """
    part = bad_beat_part(item)
    return f"{meter} {_BAD_BEATS[part]}" if part else meter


def hand_place(position: int, table: str) -> str:
    """Return in words whose hand brings a share of a meter; `table` is empty for the same table.

    >>> hand_place(4, ""), hand_place(4, "TCP-02")
    ('position 4', 'position 4 of table TCP-02')
    """
    return f"position {position} of table {table}" if table else f"position {position}"


def short_money(amount_cents: int) -> str:
    """Return cents as dollars, without ``.00``.

    >>> short_money(500), short_money(250)
    ('$5', '$2.50')
    """
    return money(amount_cents).removesuffix(".00")


def coin_money(amount_cents: int) -> str:
    """Return an amount as people say it: cents below a dollar, otherwise dollars without ``.00``.

    >>> coin_money(100), coin_money(250), coin_money(25)
    ('$1', '$2.50', '25¢')
    """
    return short_money(amount_cents) if amount_cents >= 100 else f"{amount_cents}¢"


def exact_money(micros: int) -> str:
    """Return micros in dollars with six decimals, as in audits.

    >>> exact_money(11_236_212_345), exact_money(-140_000)
    ('$11,236.212345', '-$0.140000')
    """
    cents, fraction = divmod(abs(micros), MICROS_PER_CENT)
    return f"{'-' if micros < 0 else ''}{money(cents)}{fraction:04d}"


def rate_text(rate_bps: int) -> str:
    return f"{rate_bps // 100}.{rate_bps % 100:02}%"


def percent_text(percent: int | Fraction) -> str:
    """Return a percentage with at most two decimals, without the percent sign.

    >>> percent_text(10), percent_text(Fraction(25, 2)), percent_text(Fraction(9, 4))
    ('10', '12.5', '2.25')
    """
    whole, hundredths = divmod(int(percent * 100), 100)
    return f"{whole}.{hundredths:02}".rstrip("0").rstrip(".")


def wager_text(wager_cents: int) -> str:
    """Name a wager by its amount, as in ``$1 wager``.

    >>> wager_text(100), wager_text(250), wager_text(25)
    ('$1 wager', '$2.50 wager', '25¢ wager')
    """
    return f"{coin_money(wager_cents)} wager"


def item_words(item: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a readable name of a wager or a bonus; ``titles`` is ``Games.titles``.

    >>> item_words("five_of_six_progressive"), item_words("magic_card")
    ('5 of 6 Progressive', 'Magic Card')
    >>> item_words("lucky_bonus_bet"), item_words("lucky_bonus_bet", {"lucky_bonus_bet": "Lucky"})
    ('Lucky Bonus Bet', 'Lucky')
    >>> item_words("flop_envy"), item_words("flop_jackpot_envy_share")
    ('Flop Envy Bonus', 'Flop Jackpot Envy Bonus (share)')
    >>> item_words("pot_bad_beat_table")
    'Pot Bad Beat (table share)'
    """
    if known := titles.get(item) or _ITEMS.get(item):
        return known
    for ending, words in _ENDINGS.items():
        if item.endswith(ending):
            return f"{item_words(item.removesuffix(ending))} {words}"
    return " ".join(part if part in _LITTLE else part.capitalize() for part in item.split("_"))


def hand_words(hand: str) -> str:
    """Return a hand as words, from its name in a ranking.

    >>> hand_words("royal_flush"), hand_words("mini_royal_spades"), hand_words("")
    ('Royal flush', 'Mini-royal of spades', '')
    >>> hand_words("seven_card_straight_flush")
    'Seven-card straight flush'
    """
    if hand == MUST_HIT_BY:
        return "Must-hit-by"
    words = hand.replace("mini_royal", "mini-royal").replace("seven_card_", "seven-card_")
    words = words.replace("_spades", "_of_spades").replace("_", " ")
    return words[:1].upper() + words[1:]


def card_words(name: str) -> str:
    """Return a card, or a result that is not a card, as words.

    >>> card_words("Td"), card_words("Jk"), card_words("dragon_7")
    ('ten of diamonds', 'joker', 'Dragon 7')
    """
    if name == JOKER_NAME:
        return "joker"
    if name not in CARDS.numbers:
        return hand_words(name)
    return f"{_RANKS[name[0]]} of {_SUITS[name[1]]}"
