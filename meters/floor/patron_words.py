"""Every fixed word that patrons read, in the languages of `catalogs`.

The pages and their scripts have no words of their own: they only replace names in braces. A catalog
translates the English words below, the names of hands, and the names of the chapters' meters. Other
words are not translated, such as names in the floor file, or hands of a house's own game.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import msgspec
from babel.numbers import format_decimal

from bonus.display import hand_words, percent_text
from meters.floor.branding import Branding, BrandingText, Language
from meters.floor.facility import DEMONSTRATION_MARK
from meters.floor.floor_file import Meter
from meters.floor.translations import translations


class PatronWords(BrandingText, frozen=True, kw_only=True):
    """The words, by default in English. The facility can replace some.

    In another language, `hands` and `meters` have the translations of English names.
    """

    language: Language = "en"
    hands: Mapping[str, str] = {}
    meters: Mapping[str, str] = {}

    title: str = "Progressive Jackpots"
    demonstration: str = DEMONSTRATION_MARK
    table: str = "Table {table}"
    won: str = "Table {table} won {amount}"
    one_of: str = "{at} of {count}"
    waits: str = "A win is being verified"
    wager: str = "{amount} wager"
    feeds_all: str = "plays all {count}"
    numbers: tuple[str, ...] = (
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
    )
    feeds_each: str = "each meter"
    limit: str = "up to {amount}"
    must_hit_by: str = "Must hit by {amount}"
    wins_all: str = "wins it all"
    fixed_amount: str = "fixed amount"
    share: str = "{percent}%"
    share_of: str = "{percent}% of {meter}"
    share_of_it: str = "{percent}% of the meter"
    the_meter: str = "the meter"

    won_table: str = "Table {table} wins"
    won_meter: str = "Table {table} wins the {meter}"
    won_share: str = "Table {table} wins {percent} of the {meter}"
    shares: str = "Shares for players: {shares}"
    hand_at: str = "{hand} at table {table}"
    at_table: str = "Table {table}"
    bad_beat_at: str = "Bad beat at table {table}"
    last_win: str = "Last {meter}"
    last_at: str = "{amount} at {table}, {day}"
    won_today: str = "Won today"
    won_one: str = "{count} jackpot, {amount}"
    won_many: str = "{count} jackpots, {amount}"
    share_of_meter: str = "{percent} of {meter}"
    preview: str = "Preview: invented wins and amounts"
    example: str = "Example"

    pays: str = "What each hand wins"
    hand: str = "Hand"
    result: str = "Result"
    wins: str = "Wins"
    envy: str = "Envy"
    envy_bonus: str = "Envy Bonus"
    ace_king_queen: str = "Ace, king, queen of spades"
    other_royal: str = "Any other royal flush"
    highest_rule: str = "Highest hand only."
    first_cards_rule: str = "Community cards that count: only the first {count}."
    divided_rule: str = "Players who win a part of the meter together divide it."
    community_rule: str = "{hand}: all players who made the wager divide {share}."
    smaller_rule: str = "A {amount} wager wins {part} of these payouts."
    smaller_meter_rule: str = "A {amount} wager wins {part} of each percentage of the meter."
    smaller_sums_rule: str = "A {amount} wager wins these amounts: {sums}."
    bad_beat_rule: str = (
        "Bad beat: {hand} or higher, beaten by the hand of another player who made the wager."
    )
    bad_beat_dealer_rule: str = "Bad beat: {hand} or higher, beaten by the dealer's hand."
    bad_beat_order: str = "All other wins of the round are paid first."
    bad_beat_loser: str = "The beaten hand wins {share}."
    bad_beat_winner: str = "The higher hand wins {share}."
    bad_beat_table: str = "All players who made the wager divide {share}."
    envy_rule: str = "Envy Bonus: paid to every other player who made the wager."
    magic_rule: str = "Magic Card: the drawn card is one of your five."
    lucky_rule: str = "Lucky Bonus: your seat is drawn."
    magic_card: str = "Magic Card"
    lucky_bonus: str = "Lucky Bonus"

    closed_head: str = "Jackpots are closed"
    closed_text: str = "No jackpot wagers are taken now.\nEvery meter keeps its amount."
    unavailable_head: str = "One moment, please"
    unavailable_text: str = "The jackpots are temporarily unavailable.\nYour dealer will help you."
    nothing: str = "No progressive is offered here."
    hold: str = "Hold this view"
    turn: str = "Resume rotation"

    @property
    def locale(self) -> str:
        """The language, with the country that decides how dates and decimals are written."""
        return "es-US" if self.language == "es" else self.language

    def hand_text(self, hand: str) -> str:
        """Return the words for a hand, by its name in a ranking."""
        english = hand_words(hand)
        return self.hands.get(english, english)

    def meter_title(self, meter: Meter) -> str:
        return meter.name or self.meters.get(meter.title, meter.title)

    def number(self, count: int) -> str:
        return self.numbers[count] if count < len(self.numbers) else str(count)

    def percent(self, percent: int | Fraction) -> str:
        """Return a percentage without the percent sign."""
        locale = self.locale.replace("-", "_")
        return format_decimal(Decimal(percent_text(percent)), locale=locale)


def patron_words(branding: Branding, language: Language) -> PatronWords:
    """Return the words in a language.

    In the facility's first language, the facility's own words replace pitlink's. The facility's own
    title, and the line at the bottom of a page, are the same in all languages. The facility's words
    for a closed and an unavailable meter are also the headings of messages that fill a screen.
    """
    own = branding.wording
    if language != branding.languages[0]:
        own = BrandingText(foot=own.foot)
    heads = {
        f"{name}_head": text
        for name in ("closed", "unavailable")
        if (text := getattr(own, name)) != getattr(BrandingText(), name)
    }
    words = PatronWords(title=branding.title, **msgspec.structs.asdict(own), **heads)
    if language == "en":
        return words
    catalog = translations("meters.floor", language)
    said = {
        name: tuple(catalog[text] for text in value)
        if isinstance(value, tuple)
        else catalog.get(value, value)
        for name, value in msgspec.structs.asdict(words).items()
        if isinstance(value, str | tuple)
    }
    return msgspec.structs.replace(
        words,
        language=language,
        hands=translations("meters.floor", language, "hand"),
        meters=translations("meters.floor", language, "meter"),
        **{name: value for name, value in said.items() if name != "language"},
    )
