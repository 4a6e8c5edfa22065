"""Structure of a chapter's file: its game, its wagers, and their printed paytables."""

from typing import Annotated, Final, Literal

import msgspec

from bonus.wagers import PaidFrom

Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_]*\Z")]
Day = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")]
"""A day such as 2026-12-01."""
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
"""The cards that form the hand of a wager."""

OF_COMMUNITY: Final[frozenset[CardsOf]] = frozenset(
    {"hand_and_community", "hand_and_community_and_dealer", "dealer_and_community"}
)
"""The hands of wagers that have community cards."""

OF_DEALER: Final[frozenset[CardsOf]] = frozenset(
    {"hand_and_dealer", "hand_and_community_and_dealer", "dealer_and_community"}
)
"""The hands of wagers that have the dealer's cards."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base class of all parts of a chapter's file."""


class MeterTitle(_Part, frozen=True):
    """A meter of a game: the name in data, and the usual title above its amount, for patrons.

    The meters are in the order in which tables and displays show them.
    """

    name: Name
    title: str


class Progression(_Part, frozen=True):
    """The printed cells that contain the seed, the reseed and the rates of a meter.

    The seed and the reseed are multiples of the wager. The rates are percentages of the wager
    (649a.12(e)(3), (h)(3), ...).
    """

    rule: str
    seed: Cells
    reseed: Cells
    primary: Cells
    reserve: Cells = "0%"


class PrintedTable(_Part, frozen=True):
    """Paytables printed side by side: one row for each hand, one column for each paytable.

    Attributes:
        rule: the subsection with the paytables.
        pays: the rows by hand, the highest hand first.
        choices: the names of the columns. The casino chooses one column in its Rules Submission.
            Empty if the law leaves no choice.
        version: true if these paytables are those of the versions of the game under 649a.7(e): a
            table that plays a version chooses among them, and no other table does.
        progression: the seed and the rates of the meter; None if the paytables belong to no meter
            or to several meters.
        progressions: the same of several meters, by their names.
    """

    rule: str
    pays: dict[str, Cells]
    choices: tuple[str, ...] = ()
    version: bool = False
    progression: Progression | None = None
    progressions: dict[Name, Progression] = {}


class OneTable(_Part, frozen=True):
    """A single printed paytable, without a choice."""

    rule: str
    pays: dict[str, str]


class MiniRoyal(_Part, frozen=True):
    """Optional odds for a mini-royal (649a.12(g)).

    A casino table can add these odds to the paytables of one subsection. ``among`` is the
    subsection of the paytables. ``least`` are the lowest odds that the law allows.
    """

    rule: str
    among: str
    least: str


class EnvySchedule(_Part, frozen=True):
    """The Envy Bonus of each hand, for one amount of the wager."""

    wager: str
    pays: dict[str, str]


class Envy(_Part, frozen=True):
    """The Envy Bonuses of a wager.

    ``lowest`` is the lowest hand that brings an Envy Bonus. ``schedule`` has one part for each
    amount of the wager.
    """

    rule: str
    lowest: str
    schedule: tuple[EnvySchedule, ...]


class Validation(_Part, frozen=True):
    """Rules for a floorperson's decision on the wins of a wager that feeds a meter.

    A percentage of a meter always waits for a floorperson, and is a hand pay.

    Attributes:
        rule: the subsection about the wins that a floorperson validates.
        stays: the subsection about a hand pay. It says that the cards stay on the table.
        least: the lowest odds that a floorperson validates, such as ``500 for 1``. Empty if they
            validate every win.
    """

    rule: str
    stays: str
    least: str = ""


class DrawPays(_Part, frozen=True):
    """Payouts that the draws of the table game system add to a Five Card Hand Bonus wager.

    The draws are the Magic Card and the Lucky Bonus (649a.12(i)(3)).
    """

    rule: str
    magic_card: str
    lucky_bonus: str


class FourthCard(_Part, frozen=True):
    """Paytables of a wager for the case that the fourth card has a certain rank (679a.12(f))."""

    rank: str
    table: tuple[PrintedTable, ...]


class Readings(_Part, frozen=True):
    """Rankings of hands that the law allows for one wager (reading F12).

    Each casino table chooses one of these rankings.

    The first ranking is the default.
    """

    choice: Name
    rankings: dict[str, str]


class WagerTables(_Part, frozen=True):
    """Terms of an optional wager in a chapter, or of several wagers that share paytables.

    Attributes:
        names: the names of the wagers.
        title: the name of the wager for people. Empty if it follows from the name in ``names``.
        ranking: the name of the ranking in ``bonus.hands`` that judges the hands of the wagers.
        cards: the cards that form the hand, for each wager.
        placing: the subsection about placing the wagers.
        lowest: the lowest hand that the law allows to be paid.
        paid_from: the source of payouts that are not a percentage of a meter.
        table: the paytables.
        needs: other wagers, of which the player must first have placed one. Empty if none is
            needed.
        forfeited: the subsection under which a fold forfeits the wagers. Empty if a fold does not
            forfeit them.
        collected: the subsection under which a losing wager is collected. Empty if settlement lines
            name the subsection of the paytable instead.
        divided: the subsection under which a jackpot on the dealer's hand is divided. Empty if the
            wagers have no jackpot on the dealer's hand.
        meter: the name of the meter that the wagers feed; empty if they feed no meter, or several.
        meters: the names of the meters (tiers) if they feed several, the highest first.
        short: the shortest names of the wagers for people, for a table's panel. Empty if the wagers
            feed no meter.
        electronic: true if the wagers are placed without chips, on an electronic device.
        validation: rules for a floorperson's decision on wins; None if the wagers feed no meter.
        envy: the Envy Bonuses; None if there are none.
        draws: the payouts for the Magic Card and the Lucky Bonus; None if there are none.
        mini_royal: the optional odds for a mini-royal; None if there are none.
        fourth_card: the paytables for a certain rank of a fourth card; None if there are none.
        readings: the rankings from which a casino table chooses; None if there is no choice.
    """

    names: tuple[Name, ...]
    ranking: str
    cards: tuple[CardsOf, ...]
    placing: str
    lowest: str
    paid_from: PaidFrom
    table: tuple[PrintedTable, ...]
    title: str = ""
    needs: tuple[Name, ...] = ()
    forfeited: str = ""
    collected: str = ""
    divided: str = ""
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
        """Names of the meters that the wagers feed."""
        return self.meters or ((self.meter,) if self.meter else ())


class NotQualified(_Part, frozen=True):
    """Rule for a dealer's hand that does not qualify.

    ``below`` is the queen: a dealer's hand qualifies if it is a queen high or better.

    If the dealer's hand does not qualify, one main wager wins. The other main wager is returned.
    ``returns`` is the name of the wager that is returned.
    """

    rule: str
    below: Literal["queen"]
    returns: Name


class Tie(_Part, frozen=True):
    """Rule for a player's hand that is equal to the dealer's hand.

    If ``pays`` is true, the player is paid as the winner. If ``pays`` is false, both main wagers
    are returned under the subsection ``rule``.
    """

    pays: bool
    rule: str = ""


class Bonus(_Part, frozen=True):
    """A bonus in the game against the dealer, for a player who did not fold.

    It is paid in addition to the payouts of the two main wagers, or instead of one of these
    payouts.

    Attributes:
        item: the name of the bonus in settlement lines. If it is the name of a main wager, the
            bonus replaces the line of that wager.
        on: the name of a main wager. The bonus is a multiple of its amount.
        when: ``played``: the bonus is always paid. ``not_lower``: it is paid if the player's hand
            is not lower than the dealer's hand. ``lower``: it is paid if the player's hand is
            lower.
        ranking: the name of the ranking in ``bonus.hands`` that judges the hand.
        lowest: the lowest hand that the law allows to be paid.
        table: the paytables.
        choice: the name that a Rules Submission uses for the choice of the paytable. Empty if there
            is no choice.
        procedure: the subsection that says what happens to the two main wagers when the bonus is
            paid.
        returns: the main wager that is returned when the bonus is paid. Empty if none is returned.
        mini_royal: the optional odds for a mini-royal; None if there are none.
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
    """The game against the dealer: one wager before the deal, and one wager after the deal.

    A player who does not make the second wager folds.

    Attributes:
        stake: the name of the first wager, before the deal.
        follow: the name of the second wager, after the deal.
        times: the allowed amounts of the second wager, as multiples of the first wager.
        placing: the subsection about placing both wagers.
        asking: the subsection under which a player makes the second wager or forfeits the first
            wager.
        ranking: the name of the ranking that compares hands.
        highest: the name of the highest hand; royals need not have separate names.
        odds: the odds at which each of the two wagers is paid when it wins.
        odds_rule: the subsection with these odds.
        lower: the subsection under which the wagers are collected if the player's hand is lower.
        tie: the rule for equal hands.
        not_qualified: the rule for a dealer's hand that does not qualify; None if every hand
            qualifies.
        follow_pays: payouts of the second wager that replace ``odds`` when the dealer's hand
            qualifies; None if ``odds`` always apply.
        bonus: the bonuses.
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
    """Numbers of positions and cards in the deal from one deck.

    ``positions`` is the number of positions. ``hand`` is the number of cards for each position.
    ``dealer`` is the number of cards for the dealer, or 0. ``community`` is the number of community
    cards, or 0.
    """

    rule: str
    deck_rule: str
    positions: int
    positions_rule: str
    hand: int
    dealer: int
    community: int = 0

    def judged(self, cards: CardsOf) -> tuple[int, ...]:
        """Return how many cards of each source form the hand that decides a wager.

        The possible sources are the player's hand, the dealer's hand, the community cards and the
        All-Six Bonus card.
        """
        return {
            "hand": (self.hand,),
            "hand_and_dealer": (self.hand, self.dealer),
            "hand_and_community": (self.hand, self.community),
            "hand_and_community_and_dealer": (self.hand, self.community, self.dealer),
            "dealer_and_community": (self.dealer, self.community),
            "hand_and_all_six": (self.hand, 1),
        }[cards]


class WagerLimit(_Part, frozen=True):
    """Limit of one wager as a multiple of another wager.

    The amount of ``wager`` must not be more than ``at_most`` times the amount of the wager ``of``.
    """

    wager: Name
    at_most: int
    of: Name


class Version(_Part, frozen=True):
    """A version of the game that a casino can offer through its Rules Submission (649a.7(e)).

    ``bounds`` are the limits that the version sets for wagers.
    """

    name: str
    rule: str
    bounds: tuple[WagerLimit, ...]


class Limit(_Part, frozen=True):
    """An aggregate payout limit per player and round.

    Attributes:
        choice: the name of the limit in a Rules Submission.
        rule: the subsection about the limit.
        least: the lowest limit that a casino table is allowed to choose.
        covers: the subsections of the payouts that are limited.
        excluded: hands in the paytables of these subsections. The payouts of these hands are not
            limited.
    """

    choice: Name
    rule: str
    least: str
    covers: tuple[str, ...]
    excluded: tuple[str, ...] = ()


class Irregular(_Part, frozen=True):
    """Rules for a void round, and for a round in which a dealer's card was exposed.

    ``void`` and ``dealer_exposed`` are the subsections with these rules. ``settled`` are the wagers
    that are settled although a dealer's card was exposed.
    """

    void: str
    dealer_exposed: str
    settled: tuple[Name, ...]


class Chapter(_Part, frozen=True):
    """The rules of one game, without rules that do not affect money.

    ``chapter`` is the chapter of 58 Pa. Code with the rules, or the house's own name of its rules.
    ``effective`` is the first day on which the game can be played, and ``expires`` the last; None
    if there is no such limit. ``main`` is None if the file has no game against the dealer.
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
        """The game against the dealer.

        Raises:
            ValueError: the file has no such game.
        """
        if self.main is None:
            raise ValueError(f"{self.game} has no game against the dealer")
        return self.main

    @property
    def main_wagers(self) -> tuple[str, ...]:
        """Names of the two main wagers; empty if the game has none."""
        return (self.main.stake, self.main.follow) if self.main else ()

    @property
    def main_bonuses(self) -> tuple[Bonus, ...]:
        """Bonuses in the game against the dealer."""
        return self.main.bonus if self.main else ()

    @property
    def asking(self) -> str:
        """Subsection about the players' decision after the deal, or about the deal."""
        return self.main.asking if self.main else self.deal.rule
