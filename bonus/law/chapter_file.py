"""Structure of a chapter's file: its game, its wagers, and their printed paytables."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from bonus.wagers import PaidFrom

Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_]*\Z")]
Day = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")]
Rule = Annotated[str, msgspec.Meta(title="rule")]
"""A subsection of the chapter, or of the house's own rules."""
Cells = str | tuple[str, ...]
"""A row of a printed table: one cell for each paytable that a casino can choose."""

CardsOf = Literal[
    "hand",
    "hand_and_dealer",
    "hand_and_community",
    "hand_and_community_and_dealer",
    "dealer_and_community",
    "hand_and_all_six",
]

OF_COMMUNITY: Final[frozenset[CardsOf]] = frozenset(
    {"hand_and_community", "hand_and_community_and_dealer", "dealer_and_community"}
)

OF_DEALER: Final[frozenset[CardsOf]] = frozenset(
    {"hand_and_dealer", "hand_and_community_and_dealer", "dealer_and_community"}
)


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class MeterTitle(_Part, frozen=True):
    """A meter of a game: its name in data, and its usual title for patrons, in the order shown."""

    name: Name
    title: str


class Progression(_Part, frozen=True):
    """The printed cells of a meter: seed, reseed and rates (649a.12(e)(3), (h)(3), ...).

    Seeds are multiples of the wager, rates percentages of it.
    """

    rule: Rule
    seed: Cells
    reseed: Cells
    primary: Cells
    reserve: Cells = "0%"


class PrintedTable(_Part, frozen=True):
    """Paytables printed side by side, a column each; the row of the highest hand is first.

    Attributes:
        choices: the names of the columns, of which the casino chooses one in its Rules Submission;
            empty if the law leaves no choice.
        version: true if only a table that plays a version of the game under 649a.7(e) chooses among
            these paytables.
        progression: the seed and the rates of the only meter; ``progressions`` has those of
            several.
    """

    rule: Rule
    pays: dict[str, Cells]
    choices: tuple[str, ...] = ()
    version: bool = False
    progression: Progression | None = None
    progressions: dict[Name, Progression] = {}


class OneTable(_Part, frozen=True):
    rule: Rule
    pays: dict[str, str]


class MiniRoyal(_Part, frozen=True):
    """Optional odds for a mini-royal, ``least`` or more, in paytables of ``among`` (649a.12(g))."""

    rule: Rule
    among: str
    least: str


class EnvySchedule(_Part, frozen=True):
    wager: str
    pays: dict[str, str]


class Envy(_Part, frozen=True):
    """The Envy Bonuses of a wager, for hands down to ``lowest``."""

    rule: Rule
    lowest: str
    schedule: tuple[EnvySchedule, ...]


class Validation(_Part, frozen=True):
    """Rules for a floorperson's decision on the wins of a wager that feeds a meter.

    A percentage of a meter always waits for a floorperson, and is a hand pay. ``rule`` is about the
    wins that they validate, ``stays`` about a hand pay, during which the cards stay on the table.
    ``least`` are the lowest odds that they validate, such as ``500 for 1``; empty for every win.
    """

    rule: Rule
    stays: Rule
    least: str = ""


class DrawPays(_Part, frozen=True):
    """Payouts that the draws add to a Five Card Hand Bonus wager (649a.12(i)(3))."""

    rule: Rule
    magic_card: str
    lucky_bonus: str


class FourthCard(_Part, frozen=True):
    """Paytables of a wager for the case that the fourth card has a certain rank (679a.12(f))."""

    rank: str
    table: tuple[PrintedTable, ...]


class Readings(_Part, frozen=True):
    """Rankings that the law allows for one wager (reading F12); the first is the default."""

    choice: Name
    rankings: dict[str, str]


class WagerTables(_Part, frozen=True):
    """Terms of an optional wager in a chapter, or of several wagers that share paytables.

    ``cards`` and ``short`` have one entry for each of ``names``. A wager feeds no meter, the one in
    ``meter``, or the several in ``meters`` (tiers, the highest first).

    Attributes:
        title: the name of the wager for people; empty if it follows from the name in ``names``.
        placing: the subsection about placing the wagers.
        lowest: the lowest hand that the law allows to be paid.
        paid_from: the source of payouts that are not a percentage of a meter.
        needs: other wagers, of which the player must first have placed one.
        forfeited: the subsection under which a fold forfeits the wagers; empty if it does not.
        collected: the subsection under which a losing wager is collected, if not that of the
            paytable.
        divided: the subsection under which a jackpot on the dealer's hand is divided.
        short: the shortest names for people; empty if the wagers feed no meter.
        electronic: true if the wagers are placed without chips, on an electronic device.
    """

    names: tuple[Name, ...]
    ranking: str
    cards: tuple[CardsOf, ...]
    placing: Rule
    lowest: str
    paid_from: PaidFrom
    table: tuple[PrintedTable, ...]
    title: str = ""
    needs: tuple[Name, ...] = ()
    forfeited: Rule = ""
    collected: Rule = ""
    divided: Rule = ""
    meter: str = ""
    meters: tuple[Name, ...] = ()
    short: tuple[str, ...] = ()
    electronic: bool = False
    validation: Validation | None = None
    envy: Envy | None = None
    draws: DrawPays | None = None
    mini_royal: MiniRoyal | None = None
    fourth_card: FourthCard | None = None
    readings: Readings | None = None

    @property
    def fed(self) -> tuple[str, ...]:
        return self.meters or ((self.meter,) if self.meter else ())

    @property
    def cells(self) -> Iterator[str]:
        for table in self.table:
            for row in table.pays.values():
                yield from (row,) if isinstance(row, str) else row


class NotQualified(_Part, frozen=True):
    """Rule if a dealer's hand does not qualify: one main wager wins, ``returns`` is returned."""

    rule: Rule
    below: Literal["queen"]
    returns: Name


class Tie(_Part, frozen=True):
    """Rule for equal hands: a win of the player, or both wagers are returned under ``rule``."""

    pays: bool
    rule: Rule = ""


class Bonus(_Part, frozen=True):
    """A bonus against the dealer, for a player who did not fold: besides a main wager or instead.

    Attributes:
        item: its name in settlement lines. If it is the name of a main wager, the bonus replaces
            the line of that wager.
        on: the main wager of whose amount the bonus is a multiple.
        when: ``played``: always paid. ``not_lower`` and ``lower``: paid if the player's hand is not
            lower, or lower, than the dealer's hand.
        lowest: the lowest hand that the law allows to be paid.
        choice: the name of the choice of the paytable in a Rules Submission; empty if there is
            none.
        procedure: the subsection about the two main wagers when the bonus is paid.
        returns: the main wager that is then returned; empty if none is.
    """

    item: Name
    on: Name
    when: Literal["played", "not_lower", "lower"]
    ranking: str
    lowest: str
    table: tuple[PrintedTable, ...]
    choice: str = ""
    procedure: Rule = ""
    returns: str = ""
    mini_royal: MiniRoyal | None = None


class Main(_Part, frozen=True):
    """The game against the dealer: ``stake`` before the deal, and ``follow`` after it, or a fold.

    Attributes:
        times: the allowed amounts of the second wager, as multiples of the first.
        placing: the subsection about placing both wagers.
        asking: the subsection under which a player makes the second wager or forfeits the first.
        highest: the name of the highest hand; royals need not have separate names.
        odds: the odds at which each of the two wagers is paid when it wins.
        lower: the subsection under which the wagers are collected if the player's hand is lower.
        not_qualified: None if every dealer's hand qualifies.
        follow_pays: payouts of the second wager that replace ``odds`` when the dealer qualifies.
    """

    stake: Name
    follow: Name
    times: tuple[int, ...]
    placing: Rule
    asking: Rule
    ranking: str
    highest: str
    odds: str
    odds_rule: Rule
    lower: Rule
    tie: Tie
    not_qualified: NotQualified | None = None
    follow_pays: OneTable | None = None
    bonus: tuple[Bonus, ...] = ()


class Deal(_Part, frozen=True):
    """Numbers of positions and of cards from one deck; ``hand`` cards for each position."""

    rule: Rule
    deck_rule: Rule
    positions: int
    positions_rule: Rule
    hand: int
    dealer: int
    community: int = 0

    def judged(self, cards: CardsOf) -> tuple[int, ...]:
        """Return how many cards of each source form the hand that decides a wager."""
        return {
            "hand": (self.hand,),
            "hand_and_dealer": (self.hand, self.dealer),
            "hand_and_community": (self.hand, self.community),
            "hand_and_community_and_dealer": (self.hand, self.community, self.dealer),
            "dealer_and_community": (self.dealer, self.community),
            "hand_and_all_six": (self.hand, 1),
        }[cards]


class WagerLimit(_Part, frozen=True):
    wager: Name
    at_most: int
    of: Name


class Version(_Part, frozen=True):
    """A version of the game that a casino can offer, and its limits for wagers (649a.7(e))."""

    name: str
    rule: Rule
    bounds: tuple[WagerLimit, ...]


class Limit(_Part, frozen=True):
    """An aggregate payout limit per player and round.

    Attributes:
        choice: the name of the limit in a Rules Submission.
        least: the lowest limit that a casino table can choose.
        covers: the subsections of the payouts that are limited.
        excluded: hands in these paytables whose payouts are not limited.
    """

    choice: Name
    rule: Rule
    least: str
    covers: tuple[Rule, ...]
    excluded: tuple[str, ...] = ()


class Irregular(_Part, frozen=True):
    """The subsections about a void round, and about one in which a dealer's card was exposed.

    ``settled`` are the wagers that are then settled.
    """

    void: Rule
    dealer_exposed: Rule
    settled: tuple[Name, ...]


class Chapter(_Part, frozen=True):
    """The rules of one game, without rules that do not affect money.

    ``chapter`` is the chapter of 58 Pa. Code, or the house's own name of its rules. The game can be
    played from ``effective`` to ``expires``, both days included. ``main`` is None without a game
    against the dealer.
    """

    chapter: str
    game: Name
    title: str
    deal: Deal
    wager: tuple[WagerTables, ...]
    irregular: Irregular
    effective: Day | None = None
    expires: Day | None = None
    main: Main | None = None
    meter: tuple[MeterTitle, ...] = ()
    version: tuple[Version, ...] = ()
    limit: Limit | None = None

    @property
    def main_game(self) -> Main:
        """The game against the dealer; a ValueError if the file has none."""
        if self.main is None:
            raise ValueError(f"{self.game} has no game against the dealer")
        return self.main

    @property
    def main_wagers(self) -> tuple[str, ...]:
        return (self.main.stake, self.main.follow) if self.main else ()

    @property
    def main_bonuses(self) -> tuple[Bonus, ...]:
        return self.main.bonus if self.main else ()

    @property
    def asking(self) -> str:
        """Subsection about the players' decision after the deal, or about the deal."""
        return self.main.asking if self.main else self.deal.rule
