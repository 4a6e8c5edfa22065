"""Structure of a chapter's file: its game, its wagers, and their printed tables."""

from typing import Annotated, Final, Literal

import msgspec

from bonus.wagers import MeterKind, PaidFrom

Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_]*\Z")]
Cells = str | tuple[str, ...]
"""A row of a table: one cell for each choice, or one cell if the table has no choices."""

COMMUNITY_CARDS: Final = 2  # 649a.8(d)

CardsOf = Literal[
    "hand", "hand_and_dealer", "hand_and_community", "dealer_and_community", "hand_and_all_six"
]
"""The cards that form a wager's hand."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all parts of a chapter."""


class Progression(_Part, frozen=True):
    """Seed, reseed and rates of a meter, relative to its wager (649a.12(e)(3), (h)(3), ...)."""

    rule: str
    seed: Cells
    reseed: Cells
    primary: Cells
    reserve: Cells = "0%"


class PrintedTable(_Part, frozen=True):
    """Paytables printed side by side: one row per hand, one cell per choice.

    Attributes:
        rule: the subsection.
        pays: the rows, highest hand first.
        choices: the choices of a Rules Submission, one per column; empty if the law leaves no
            choice.
        version: true if these tables may be used only with a version of 649a.7(e).
        progression: the meter's terms if the table belongs to a meter.
    """

    rule: str
    pays: dict[str, Cells]
    choices: tuple[str, ...] = ()
    version: bool = False
    progression: Progression | None = None


class OneTable(_Part, frozen=True):
    """A table without a choice."""

    rule: str
    pays: dict[str, str]


class MiniRoyal(_Part, frozen=True):
    """Odds for a mini-royal that may be added to the tables of one subsection (649a.12(g))."""

    rule: str
    among: str
    least: str


class EnvySchedule(_Part, frozen=True):
    """The Envy Bonuses for one wager amount."""

    wager: str
    pays: dict[str, str]


class Envy(_Part, frozen=True):
    """The Envy Bonuses of a wager, from the highest to the lowest Qualifying Hand."""

    rule: str
    lowest: str
    schedule: tuple[EnvySchedule, ...]


class DrawPays(_Part, frozen=True):
    """Payouts of a wager on the draws of the table game system (649a.12(i)(3))."""

    rule: str
    magic_card: str
    lucky_bonus: str


class FourthCard(_Part, frozen=True):
    """Tables that pay a wager if a fourth card has a certain rank (679a.12(f))."""

    rank: str
    table: tuple[PrintedTable, ...]


class Readings(_Part, frozen=True):
    """Rankings from which a table chooses one, the default first (reading F12)."""

    choice: Name
    rankings: dict[str, str]


class WagerTables(_Part, frozen=True):
    """Terms of an optional wager in a chapter, or of several wagers with one table.

    Attributes:
        names: the wagers.
        ranking: the ranking of ``bonus.hands`` that judges their hands.
        cards: the cards that form the hand, for each wager.
        placing: the subsection about placing them.
        lowest: the lowest hand that may be paid.
        paid_from: source of payouts that are not a percentage of a meter.
        table: the paytables.
        needs: the player must first have placed one of these wagers; empty if none is needed.
        forfeited: the subsection under which a fold forfeits them; empty if a fold does not.
        collected: the subsection under which a losing wager is collected; empty if it is that of
            the table.
        divided: the subsection under which a jackpot on the dealer's hand is divided.
        meter: the meter that they feed.
        envy: their Envy Bonuses.
        draws: their payouts on draws.
        mini_royal: odds that may be added for a mini-royal.
        fourth_card: tables for a certain rank of a fourth card.
        readings: rankings from which a table chooses.
    """

    names: tuple[Name, ...]
    ranking: str
    cards: tuple[CardsOf, ...]
    placing: str
    lowest: str
    paid_from: PaidFrom
    table: tuple[PrintedTable, ...]
    needs: tuple[Name, ...] = ()
    forfeited: str = ""
    collected: str = ""
    divided: str = ""
    meter: MeterKind | None = None
    envy: Envy | None = None
    draws: DrawPays | None = None
    mini_royal: MiniRoyal | None = None
    fourth_card: FourthCard | None = None
    readings: Readings | None = None


class NotQualified(_Part, frozen=True):
    """Rule for a dealer's hand below ``below`` high: one main wager wins, the other is returned."""

    rule: str
    below: Literal["queen"]
    returns: Name


class Tie(_Part, frozen=True):
    """Rule for equal hands: the player is paid as the winner, or ``rule`` returns both wagers."""

    pays: bool
    rule: str = ""


class Bonus(_Part, frozen=True):
    """A payout besides the two main wagers, or instead of one, for a player who did not fold.

    Attributes:
        item: the line's item; if it is one of the two wagers, the payout replaces that wager's
            line.
        on: the wager of which it is a multiple.
        when: ``played``: always paid; ``not_lower``: paid if the player's hand is not lower than
            the dealer's; ``lower``: paid if it is lower.
        ranking: as in ``WagerTables``.
        lowest: as in ``WagerTables``.
        table: as in ``WagerTables``.
        choice: the name of the Rules Submission's choice; empty if there is none.
        procedure: the subsection about the two main wagers when this bonus is paid.
        returns: the main wager that is then returned; empty for none.
        mini_royal: as in ``WagerTables``.
    """

    item: Name
    on: Name
    when: Literal["played", "not_lower", "lower"]
    ranking: str
    lowest: str
    table: tuple[PrintedTable, ...]
    choice: str = ""
    procedure: str = ""
    returns: str = ""
    mini_royal: MiniRoyal | None = None


class Main(_Part, frozen=True):
    """The game against the dealer: one wager before the deal, and one after it to stay in.

    Attributes:
        stake: the wager before the deal.
        follow: the wager after it.
        times: allowed multiples of the stake for the second wager.
        placing: the subsection about placing both.
        asking: the subsection under which a player makes the second wager or forfeits the stake.
        ranking: the ranking that compares hands.
        highest: the name of the highest hand; royals need not have separate names.
        odds: the payout of either wager when it wins.
        odds_rule: the subsection of those odds.
        lower: the subsection under which the wagers of a lower hand are collected.
        tie: the rule for equal hands.
        not_qualified: the rule for a dealer's hand that does not qualify, if there is one.
        follow_pays: different payouts of the second wager when the dealer's hand qualifies.
        bonus: further payouts.
    """

    stake: Name
    follow: Name
    times: tuple[int, ...]
    placing: str
    asking: str
    ranking: str
    highest: str
    odds: str
    odds_rule: str
    lower: str
    tie: Tie
    not_qualified: NotQualified | None = None
    follow_pays: OneTable | None = None
    bonus: tuple[Bonus, ...] = ()


class Deal(_Part, frozen=True):
    """Number of cards for each position and the dealer, from one deck, and of positions."""

    rule: str
    deck_rule: str
    positions: int
    positions_rule: str
    hand: int
    dealer: int

    def judged(self, cards: CardsOf) -> tuple[int, ...]:
        """Return the number of judged cards from each source: the hand, the dealer, and so on."""
        return {
            "hand": (self.hand,),
            "hand_and_dealer": (self.hand, self.dealer),
            "hand_and_community": (self.hand, COMMUNITY_CARDS),
            "dealer_and_community": (self.dealer, COMMUNITY_CARDS),
            "hand_and_all_six": (self.hand, 1),
        }[cards]


class WagerLimit(_Part, frozen=True):
    """Limit of a wager to a multiple of another wager."""

    wager: Name
    at_most: int
    of: Name


class Version(_Part, frozen=True):
    """A version of the game that a Rules Submission may offer (649a.7(e))."""

    name: str
    rule: str
    bounds: tuple[WagerLimit, ...]


class Limit(_Part, frozen=True):
    """An aggregate payout limit per player and round.

    Attributes:
        choice: the name of the Rules Submission's choice.
        rule: the subsection.
        least: the lowest limit that a table may choose.
        covers: the subsections of the payouts that it limits.
        excluded: hands of those subsections whose payouts it does not limit.
    """

    choice: Name
    rule: str
    least: str
    covers: tuple[str, ...]
    excluded: tuple[str, ...] = ()


class Irregular(_Part, frozen=True):
    """Rules for void rounds and for exposed dealer cards; then only ``settled`` is settled."""

    void: str
    dealer_exposed: str
    settled: tuple[Name, ...]


class Chapter(_Part, frozen=True):
    """A chapter of 58 Pa. Code: its rules that affect money."""

    chapter: str
    game: Name
    title: str
    deal: Deal
    main: Main
    wager: tuple[WagerTables, ...]
    irregular: Irregular
    version: tuple[Version, ...] = ()
    limit: Limit | None = None
