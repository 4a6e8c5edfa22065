"""What a chapter's file says, part by part: its game, its wagers, and their printed tables."""

from typing import Annotated, Final, Literal

import msgspec

from bonus.wagers import MeterKind, PaidFrom

Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_]*\Z")]
Cells = str | tuple[str, ...]
"""A row of a table: a cell for each of its choices, or the one cell of a table without any."""

COMMUNITY_CARDS: Final = 2  # 649a.8(d)

CardsOf = Literal[
    "hand", "hand_and_dealer", "hand_and_community", "dealer_and_community", "hand_and_all_six"
]
"""What cards a wager's hand is formed of."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all parts of a chapter share."""


class Progression(_Part, frozen=True):
    """Seed, reseed and rates of a meter, by the wager it is for (649a.12(e)(3), (h)(3), ...)."""

    rule: str
    seed: Cells
    reseed: Cells
    primary: Cells
    reserve: Cells = "0%"


class PrintedTable(_Part, frozen=True):
    """Paytables as they are printed side by side: a row for each hand, a cell for each choice.

    Attributes:
        rule: the subsection.
        pays: the rows, highest hand first.
        choices: the choices of a Rules Submission that the columns stand for; none where the law
            leaves no choice.
        version: whether these tables go with a version of 649a.7(e) alone.
        progression: the meter's terms, where the table is a meter's.
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
    """Odds that may be added for a mini-royal, to the tables of one subsection (649a.12(g))."""

    rule: str
    among: str
    least: str


class EnvySchedule(_Part, frozen=True):
    """The Envy Bonuses for one wager amount."""

    wager: str
    pays: dict[str, str]


class Envy(_Part, frozen=True):
    """The Envy Bonuses of a wager, for the hands down to the lowest Qualifying Hand."""

    rule: str
    lowest: str
    schedule: tuple[EnvySchedule, ...]


class DrawPays(_Part, frozen=True):
    """What a wager pays on the draws of the table game system (649a.12(i)(3))."""

    rule: str
    magic_card: str
    lucky_bonus: str


class FourthCard(_Part, frozen=True):
    """Tables that a wager is paid by where a fourth card is of a rank (679a.12(f))."""

    rank: str
    table: tuple[PrintedTable, ...]


class Readings(_Part, frozen=True):
    """Rankings among which a table's choice decides, the default first (reading F12)."""

    choice: Name
    rankings: dict[str, str]


class WagerTables(_Part, frozen=True):
    """All that a chapter lays down for an optional wager, or for several with one table.

    Attributes:
        names: the wagers.
        ranking: the ranking of ``bonus.hands`` by which their hands are judged.
        cards: what cards each of them is judged on.
        placing: the subsection by which they are placed.
        lowest: the lowest hand that may be paid.
        paid_from: where payouts come from that are no percentage of a meter.
        table: the paytables.
        needs: the wagers of which the player must have placed one first; none where none.
        forfeited: the subsection by which a fold forfeits them, or empty: they survive it.
        collected: the subsection by which a losing one is collected; that of the table unless
            given.
        divided: the subsection by which a jackpot on the dealer's hand is divided.
        meter: the meter that they feed.
        envy: their Envy Bonuses.
        draws: what they pay on draws.
        mini_royal: odds that may be added for a mini-royal.
        fourth_card: tables for some rank of a fourth card.
        readings: rankings to choose among.
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
    """A dealer's hand lower than ``below`` high: one of the two wagers wins, the other returns."""

    rule: str
    below: Literal["queen"]
    returns: Name


class Tie(_Part, frozen=True):
    """Equal hands: the player is paid as for a higher one, or both wagers return by ``rule``."""

    pays: bool
    rule: str = ""


class Bonus(_Part, frozen=True):
    """A payout beside the two main wagers, or in place of one of them, for a player who stayed.

    Attributes:
        item: the line's item; where it is one of the two wagers, it takes that wager's line.
        on: the wager of which it is a multiple.
        when: whether it is paid whenever the player stayed, when he is not lower, or when lower.
        ranking: as a wager's.
        lowest: as a wager's.
        table: as a wager's.
        choice: the name of the Rules Submission's choice, empty where there is none.
        procedure: the subsection of what else becomes of the two wagers then.
        returns: which of them then returns, empty for none.
        mini_royal: as a wager's.
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
    """The game against the dealer: a stake before the deal, and a wager to stay in after it.

    Attributes:
        stake: the wager before the deal.
        follow: the wager that follows it.
        times: which multiples of the stake that may be.
        placing: the subsection of both.
        asking: the subsection by which a player follows or forfeits his stake.
        ranking: the ranking by which hands compare.
        highest: what the highest hand is called, which need not set the royals apart.
        odds: what a winning wager of either kind pays.
        odds_rule: the subsection of that.
        lower: the subsection by which a lower hand's wagers are collected.
        tie: what equal hands come to.
        not_qualified: what a dealer's hand too low comes to, where there is such.
        follow_pays: what the second wager pays instead when the dealer's hand qualifies.
        bonus: what is paid beside.
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
    """How many cards of one deck are dealt to whom, and how many positions a table may have."""

    rule: str
    deck_rule: str
    positions: int
    positions_rule: str
    hand: int
    dealer: int

    def judged(self, cards: CardsOf) -> tuple[int, ...]:
        """How many cards go to each holder of those that a wager is judged on."""
        return {
            "hand": (self.hand,),
            "hand_and_dealer": (self.hand, self.dealer),
            "hand_and_community": (self.hand, COMMUNITY_CARDS),
            "dealer_and_community": (self.dealer, COMMUNITY_CARDS),
            "hand_and_all_six": (self.hand, 1),
        }[cards]


class WagerLimit(_Part, frozen=True):
    """A wager may be at most so many times another."""

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
        least: the lowest limit that there may be.
        covers: the subsections whose payouts it covers.
        excluded: hands whose payouts it leaves out all the same.
    """

    choice: Name
    rule: str
    least: str
    covers: tuple[str, ...]
    excluded: tuple[str, ...] = ()


class Irregular(_Part, frozen=True):
    """Void rounds, and those in which a dealer's card was exposed: ``settled`` wagers stand."""

    void: str
    dealer_exposed: str
    settled: tuple[Name, ...]


class Chapter(_Part, frozen=True):
    """A chapter of 58 Pa. Code, as far as money depends on it."""

    chapter: str
    game: Name
    title: str
    deal: Deal
    main: Main
    wager: tuple[WagerTables, ...]
    irregular: Irregular
    version: tuple[Version, ...] = ()
    limit: Limit | None = None
