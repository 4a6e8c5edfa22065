"""Every fixed word that patrons read, in one language.

The pages and their scripts have no words of their own: they fill the places in braces. The names
of hands come from `bonus.display`.
"""

import msgspec

from meters.floor.branding import BrandingText


class PatronWords(BrandingText, frozen=True, kw_only=True):
    """The words in English, with those that the facility can replace."""

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
    wins_all: str = "wins it all"
    share: str = "{percent}%"
    share_of: str = "{percent}% of {meter}"
    the_meter: str = "the meter"

    won_table: str = "Table {table} wins"
    won_meter: str = "Table {table} wins the {meter}"
    won_share: str = "Table {table} wins {percent} of the {meter}"
    hand_at: str = "{hand} at table {table}"
    at_table: str = "Table {table}"
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
    wins: str = "Wins"
    envy: str = "Envy"
    envy_rule: str = "Envy Bonus: paid to every other player who made the wager."
    magic_card: str = "Magic Card"
    lucky_bonus: str = "Lucky Bonus"

    closed_head: str = "Jackpots are closed"
    closed_text: str = "No jackpot wagers are taken now.\nEvery meter keeps its amount."
    unavailable_head: str = "One moment, please"
    unavailable_text: str = "The jackpots are temporarily unavailable.\nYour dealer will help you."
    nothing: str = "No progressive is offered here."
    hold: str = "Hold this view"
    turn: str = "Resume rotation"

    def number(self, count: int) -> str:
        return self.numbers[count] if count < len(self.numbers) else str(count)


def words_of(wording: BrandingText) -> PatronWords:
    return PatronWords(**msgspec.structs.asdict(wording))
