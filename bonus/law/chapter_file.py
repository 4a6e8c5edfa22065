"""Structure of a chapter's file: its game, its wagers, and their printed paytables.

A game of the house has a file of the same form. The page about game files is made from these types:
the text before ``Attributes:`` is about a section of the file, the rest about the section's keys.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from bonus.wagers import MUST_HIT_BY, BadBeatPart, PaidFrom

Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", description="name")]
Day = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", description='day, such as `"2026-12-01"`'
    ),
]
Rule = Annotated[str, msgspec.Meta(title="rule", description="section")]
"""A subsection of the chapter, or of the house's own rules."""
Cells = Annotated[str | tuple[str, ...], msgspec.Meta(description="cell, or list of cells")]
"""A row of a printed table: one cell, or a cell for each paytable that a casino can choose."""

Source = Annotated[PaidFrom, msgspec.Meta(description='`"table_inventory"`, `"game_account"`')]

CardsOf = Literal[
    "hand",
    "dealer",
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
    {"dealer", "hand_and_dealer", "hand_and_community_and_dealer", "dealer_and_community"}
)

OTHER: Final = "other"
"""What the dealer enters if no ``[[result]]`` came, and the hand that fits no ``[[pattern]]``."""

DECKS_MAX: Final = 8

_NAME_LENGTH_MAX: Final = 32
"""Longest name of a result or a pattern, for buttons and slips."""

DEALERS_ALONE: Final[frozenset[CardsOf]] = frozenset({"dealer", "dealer_and_community"})
"""Cards that are the same for every position."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class MeterTitle(_Part, frozen=True):
    """A meter of the game. Tables and displays show the meters in the order of the file.

    Attributes:
        name: the name in paytables, floor files and data. A meter that several games feed has the
            same name in all these games.
        title: the usual name for patrons.
    """

    name: Name
    title: str


class RatesAbove(_Part, frozen=True):
    """Other rates of a meter from an amount on: less to the meter, and more to its reserve.

    The amount of the meter before an event decides the rates of all wagers of the event. Each key
    is one cell, or a list with a cell for each choice.

    Attributes:
        amount: the amount of the meter for each dollar of the wager, in the form of ``seed``. It is
            above the seed and the reseed.
        primary: the part of each wager for the meter: less than under ``amount``.
        reserve: the part of each wager for the reserve. Both parts together are as much as under
            ``amount``.
    """

    amount: Cells
    primary: Cells
    reserve: Cells


class Progression(_Part, frozen=True):
    """Seed, reseed and rates of a meter: each is one cell, or a list with a cell for each choice.

    Attributes:
        rule: the section about seed and rates.
        seed: the first amount of the meter for each dollar of the wager, such as ``$1,000 for 1``.
        reseed: the amount after a win of the whole meter, in the form of ``seed``, or ``$0``. The
            reserve is added to this amount.
        primary: the part of each wager for the meter, such as ``14%`` or ``2.25%``. All rates of a
            wager together are less than 100%.
        reserve: the part of each wager for the reserve of the meter.
    """

    rule: Rule
    seed: Cells
    reseed: Cells
    primary: Cells
    reserve: Cells = "0%"
    above: RatesAbove | None = None


class PrintedTable(_Part, frozen=True):
    """One paytable, or several paytables side by side.

    Attributes:
        rule: the section of the paytable.
        pays: the payout of each hand, from the highest hand down to ``lowest``.
        choices: the names of the paytables, of which the house chooses one. Each row of ``pays``
            then has a list with a cell for each name.
        version: true if only tables that play a ``[[version]]`` choose among these paytables.
        progressions: if the wager feeds several meters, the seed and the rates of each, by name.
    """

    rule: Rule
    pays: dict[str, Cells]
    choices: tuple[str, ...] = ()
    version: bool = False
    progression: Progression | None = None
    progressions: dict[Name, Progression] = {}


class OneTable(_Part, frozen=True):
    """Payouts of ``follow`` that replace ``odds`` if the dealer's hand qualifies.

    Attributes:
        rule: the section of the payouts.
        pays: the payout of each hand of ``ranking``.
    """

    rule: Rule
    pays: dict[str, str]


class MiniRoyal(_Part, frozen=True):
    """Odds that the house can add for a mini-royal (649a.12(g)).

    Attributes:
        rule: the section about these odds.
        among: the section of the paytables to which the house can add these odds.
        least: the lowest odds, such as ``5 to 1``.
    """

    rule: Rule
    among: str
    least: str


class EnvySchedule(_Part, frozen=True):
    """The Envy Bonuses for one amount of the wager. Amounts without a schedule are not allowed.

    Attributes:
        wager: the amount, such as ``$1``.
        pays: for each hand, from the first hand of the paytable down to ``lowest``, a fixed sum, a
            percentage of a meter, such as ``2% of meter``, or ``N/A`` for no Envy Bonus.
    """

    wager: str
    pays: dict[str, str]


class Envy(_Part, frozen=True):
    """The Envy Bonuses of a wager that feeds a meter. A player who folded gets Envy Bonuses too.

    Attributes:
        rule: the section about Envy Bonuses.
        lowest: the lowest hand that brings an Envy Bonus. For wagers on patterns or results, leave
            it out.
    """

    rule: Rule
    schedule: tuple[EnvySchedule, ...]
    lowest: str = ""


class Community(_Part, frozen=True):
    """Parts of the meter that all players divide equally who made the wager at the table.

    The holder of the hand divides it too, if they made the wager. A player at several positions of
    a table gets one share. The percentage is of the same amount as the holder's own.

    Attributes:
        rule: the section about the community share.
        pays: for each hand that brings a community share, a percentage of a meter, such as ``10%
            of meter``.
        among: ``link`` if the players at the other tables of the link divide it too: those who made
            this wager in a round that is not over yet.
    """

    rule: Rule
    pays: dict[str, str]
    among: Literal["table", "link"] = "table"


class BadBeat(_Part, frozen=True):
    """Parts of the meter that are won when a high hand is beaten by a higher hand.

    Each part is a percentage of what the meter holds after the last position is paid. Together,
    they are at most 100%. Players with equal hands divide the part of their hand.

    Attributes:
        rule: the section about the bad beat.
        lowest: the lowest hand that counts when it is beaten. The paytable must pay this hand and
            every higher hand.
        loser: a percentage of a meter, such as ``50% of meter``, for the player with the highest
            hand that is beaten.
        winner: for the player with the highest hand. Leave it out if the dealer's hand beats the
            player's.
        table: for all players who made the wager at the table, the two above too, divided equally.
        beaten_by: ``players``: the hand of another player who made the wager. ``dealer``: the
            dealer's hand, which has as many cards as the player's.
    """

    rule: Rule
    lowest: str
    loser: str
    winner: str = ""
    table: str = ""
    beaten_by: Literal["players", "dealer"] = "players"

    @property
    def cells(self) -> dict[BadBeatPart, str]:
        """The percentages by who wins them; a part that nobody wins is left out."""
        parts: dict[BadBeatPart, str] = {
            "loser": self.loser, "winner": self.winner, "table": self.table,
        }  # fmt: skip
        return {part: cell for part, cell in parts.items() if cell}


class Validation(_Part, frozen=True):
    """The decisions of floorpersons. A wager that feeds a meter needs this section.

    A percentage of a meter always waits for a floorperson, and is a hand pay: until it is paid, the
    table accepts no wagers that feed meters.

    Attributes:
        rule: the section about wins that a floorperson validates.
        stays: the section about cards that stay on the table until a hand pay is paid.
        least: the lowest odds that a floorperson validates, such as ``500 for 1``. If this is left
            out, a floorperson validates every win.
    """

    rule: Rule
    stays: Rule
    least: str = ""


class DrawPays(_Part, frozen=True):
    """Payouts that draws add to a wager on the player's and the dealer's hand (649a.12(i)(3)).

    The wager has two names, and ``cards = ["hand_and_community", "dealer_and_community"]``. Only
    one wager of a file can have draws.

    Attributes:
        rule: the section about the draws.
        magic_card: the odds that a Magic Card pays, such as ``20 for 1``.
        lucky_bonus: the odds that a Lucky Bonus pays.
    """

    rule: Rule
    magic_card: str
    lucky_bonus: str


class FourthCard(_Part, frozen=True):
    """Other paytables for the case that the fourth card has a certain rank (679a.12(f)).

    Attributes:
        rank: the rank, such as ``2`` or ``A``.
    """

    rank: str
    table: tuple[PrintedTable, ...]


class Readings(_Part, frozen=True):
    """Rankings among which a table chooses for the wager (reading F12).

    Attributes:
        choice: the name of the choice under ``paytables`` in the floor file.
        rankings: the name of each option, with its ranking. The first option is the default, and
            must have the ranking of the wager.
    """

    choice: Name
    rankings: dict[str, str]


class WagerTables(_Part, frozen=True):
    """A wager beside the main game. It feeds no meter, one meter or several meters.

    Attributes:
        names: the name in data. Wagers with the same paytables can share a section: ``cards`` and
            ``short`` then have an entry for each name.
        ranking: how the hands are judged: a ranking below, the ``ranking`` of patterns, or
            ``results`` in a game with ``[[result]]``.
        cards: the cards that form the hand. In a game with ``[[result]]``, ``dealer`` is the one
            result of the table, and ``hand`` the position's own.
        placing: the section about placing the wager.
        paid_from: the source of payouts that are not a percentage of a meter: the chips at the
            table, or the player's electronic account.
        lowest: the lowest hand that a paytable can pay. For wagers on patterns or results, whose
            paytables list any of them, leave it out.
        title: the name for people, the same in all games. If this is left out, people see the words
            of the name.
        needs: the player must have placed one of these wagers first.
        forfeited: the section under which a fold forfeits the wager. If this is left out, a fold
            changes nothing.
        collected: the section under which a losing wager is collected, if this is not the section
            of the paytable.
        divided: the section under which players divide a percentage of the meter that the dealer's
            cards or the table's result win. A wager on them that feeds a meter needs it.
        meter: the only meter that the wager feeds.
        meters: the meters (tiers) that the wager feeds, the highest first, if there are several.
        short: the short name on the panel. A wager that feeds meters needs it; no other wager can
            have it.
        electronic: true if the wager is placed without a chip. Only a wager that feeds meters
            can be electronic.
        community_cards: how many community cards count, in the order of the deal: ``3`` for a wager
            on the flop. If this is left out, all of them count. In both cases, all of them must be
            dealt before the round is settled.
    """

    names: tuple[Name, ...]
    ranking: str
    cards: tuple[CardsOf, ...]
    placing: Rule
    paid_from: Source
    table: tuple[PrintedTable, ...]
    lowest: str = ""
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
    community_cards: Annotated[int, msgspec.Meta(ge=1)] = 0
    community: Community | None = None
    bad_beat: BadBeat | None = None

    @property
    def fed(self) -> tuple[str, ...]:
        return self.meters or ((self.meter,) if self.meter else ())

    @property
    def cells(self) -> Iterator[str]:
        for table in self.table:
            for row in table.pays.values():
                yield from (row,) if isinstance(row, str) else row


class NotQualified(_Part, frozen=True):
    """A dealer's hand that does not qualify: one wager is returned, and the other wager wins.

    This section is only for the ranking ``three_card``. Without it, every dealer's hand qualifies.

    Attributes:
        rule: the section about hands that do not qualify.
        below: a hand below this card, which must be the queen, does not qualify.
        returns: the wager that is returned: the name of ``stake`` or ``follow``.
    """

    rule: Rule
    below: Literal["queen"]
    returns: Name


class Tie(_Part, frozen=True):
    """The result if the hands of the player and the dealer are equal.

    Attributes:
        pays: true if the player wins; false if both wagers are returned.
        rule: the section under which the wagers are returned. Leave it out if ``pays`` is true.
    """

    pays: bool
    rule: Rule = ""


class Bonus(_Part, frozen=True):
    """A bonus on one of the two wagers, for players who did not fold.

    Attributes:
        item: the name in settlements. If it is the name of ``stake`` or ``follow``, the bonus
            replaces the line of this wager.
        on: the bonus is a multiple of the amount of this wager.
        when: ``played``: always. ``lower``: only if the player's hand is lower than the dealer's.
            ``not_lower``: only if the player's hand is not lower.
        ranking: how the hand is judged for the bonus.
        lowest: the lowest hand that a paytable can pay.
        choice: the name of the choice under ``paytables`` in the floor file, if the paytables have
            ``choices``.
        procedure: the section about the two wagers when the bonus is paid.
        returns: the wager that is returned when the bonus is paid.
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
    """The game against the dealer: ``stake`` before the deal, then ``follow`` or a fold.

    Attributes:
        stake: the name of the wager before the deal.
        follow: the name of the wager after the deal.
        times: the allowed amounts of ``follow``, as multiples of ``stake``, such as ``[1, 2, 3]``.
        placing: the section about placing both wagers.
        asking: the section under which a player makes the second wager or forfeits the first.
        ranking: how the hands are compared: ``three_card`` or ``four_card``.
        highest: the highest hand that has a name of its own in this game.
        odds: what each of the two wagers pays when it wins, such as ``1 to 1``.
        odds_rule: the section about these odds.
        lower: the section under which both wagers are collected if the player's hand is lower.
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
    """The cards of the deal. In a game with ``[[result]]``, results take their place.

    Attributes:
        rule: the section about the deal.
        deck_rule: the section about the deck, or about the dice, the wheel or another device.
        positions: the number of positions, at most 99.
        positions_rule: the section about the positions.
        hand: the number of cards for each position, at most 7. With results: 1 if each position has
            a result of its own, otherwise 0.
        dealer: the number of cards for the dealer, at most 7. With results: 1 if the whole table
            has one result, otherwise 0.
        community: the number of community cards, at most 7.
        decks: the number of decks of 52 cards, at most 8. With several decks, every wager is on a
            ``[[pattern]]``.
        jokers: 1 if the one deck has a joker. Then every wager has the ranking ``pai_gow``.
        exchange: how many of the cards a player can exchange once for cards of the deck. Wagers are
            then on the player's final hand, with the ranking ``three_card`` or ``five_card``.
    """

    rule: Rule
    deck_rule: Rule
    positions: int
    positions_rule: Rule
    hand: int
    dealer: int
    community: int = 0
    decks: int = 1
    jokers: int = 0
    exchange: int = 0

    def judged(self, cards: CardsOf, community_cards: int) -> tuple[int, ...]:
        """Return how many cards of each source form the hand that decides a wager.

        ``community_cards`` is that of the wager: 0 if all of them count.
        """
        community = community_cards or self.community
        return {
            "hand": (self.hand,),
            "dealer": (self.dealer,),
            "hand_and_dealer": (self.hand, self.dealer),
            "hand_and_community": (self.hand, community),
            "hand_and_community_and_dealer": (self.hand, community, self.dealer),
            "dealer_and_community": (self.dealer, community),
            "hand_and_all_six": (self.hand, 1),
        }[cards]


class Chances(_Part, frozen=True):
    """How the results of a game come about: by dice, by a wheel, by cards, or in another way.

    Write exactly one key, except ``hits_soft_17``. With ``source``, each result has a ``chance``
    that the house declares: odds and submission say so. The others let pitlink calculate the
    chances.

    Attributes:
        source: where the declared chances come from, such as a laboratory's report.
        dice: the number of dice with six sides, at most 5.
        pockets: the pockets of a wheel, all equally likely.
        baccarat_decks: the number of full decks of a baccarat table, at most 8, with the drawing
            rules of punto banco.
        blackjack_decks: the number of full decks from which a blackjack dealer draws, at most 8.
            The chances are as if no player drew a card.
        hits_soft_17: with ``blackjack_decks``, true if the dealer draws to a 17 with an ace that
            counts 11.
    """

    source: str = ""
    dice: int = 0
    pockets: tuple[str, ...] = ()
    baccarat_decks: int = 0
    blackjack_decks: int = 0
    hits_soft_17: bool = False


class BaccaratResult(_Part, frozen=True):
    """Outcomes of baccarat: those that fit all keys that are written.

    Attributes:
        winner: the hand that wins, or ``tie``.
        cards: the possible numbers of cards of the winning hand; in a tie, of both hands together.
        total: the possible totals of the winning hand, or of both hands in a tie.
        margin: the possible differences between the two totals.
    """

    winner: Literal["", "player", "banker", "tie"] = ""
    cards: tuple[int, ...] = ()
    total: tuple[int, ...] = ()
    margin: tuple[int, ...] = ()


class BlackjackResult(_Part, frozen=True):
    """Final hands of a blackjack dealer: those that fit all keys that are written.

    Attributes:
        cards: the possible numbers of cards.
        total: the possible totals; a total above 21 is a bust.
        bust: true for every total above 21.
    """

    cards: tuple[int, ...] = ()
    total: tuple[int, ...] = ()
    bust: bool = False


class GameResult(_Part, frozen=True):
    """A result that the dealer enters in place of cards.

    Everything else is the result ``other``: the panel has a button for it too. So the results must
    leave it a chance.

    Attributes:
        name: the name in data and paytables. People see its words: ``dragon_7`` is *Dragon 7*.
        chance: with ``source``, the probability as a fraction, such as ``1/38``.
        rolls: with ``dice``, the rolls with this result, such as ``6-5`` (in any order) or ``sum
            7``. A roll belongs to the first result that names it.
        pockets: with ``pockets``, those with this result. A pocket belongs to the first result that
            names it.
        baccarat: with ``baccarat_decks``, the outcomes with this result, such as ``{ winner =
            "banker", cards = [3], total = [7] }``. An outcome belongs to the first result that it
            fits.
        blackjack: with ``blackjack_decks``, the dealer's hands with this result, such as ``{ bust =
            true, cards = [5] }``. A hand belongs to the first result that it fits.
    """

    name: Name
    chance: str = ""
    rolls: tuple[str, ...] = ()
    pockets: tuple[str, ...] = ()
    baccarat: BaccaratResult | None = None
    blackjack: BlackjackResult | None = None


class CardsHave(_Part, frozen=True):
    """What cards have in common, or which they are. All keys that are written must hold.

    Attributes:
        cards: some of the cards, in any order, each with its ranks, then its suits: ``Ah``, ``A``,
            ``TJQK`` (one card of these ranks) or ``h`` (a heart).
        of_a_kind: how many cards have equal ranks: ``[2]`` is exactly a pair, ``[3]`` three of a
            kind, ``[2, 2]`` two pairs.
        same: what all of the cards share.
        sequence: true if the ranks follow one another; an ace is high or low.
        blackjack_total: the possible totals as at blackjack: face cards count 10, and an ace 11, or
            1 if the total would be above 21.
        baccarat_total: the possible totals as at baccarat: the last digit of the sum, in which face
            cards count 10 and an ace 1.
    """

    cards: tuple[str, ...] = ()
    of_a_kind: tuple[int, ...] = ()
    same: Literal["", "suit", "color"] = ""
    sequence: bool = False
    blackjack_total: tuple[int, ...] = ()
    baccarat_total: tuple[int, ...] = ()


class Pattern(_Part, frozen=True):
    """A hand that the house describes by ``all``, or by ``hand`` and ``dealer``.

    Cards that fit several patterns of a ranking form the first of them. Cards that fit none are
    ``other``, which pays nothing.

    Attributes:
        ranking: the name of the ranking to which the pattern belongs. A wager with this ``ranking``
            is on its patterns.
        name: the name in data and paytables. People see its words: ``suited_trips`` is *suited
            trips*.
        all: what all cards of the wager have.
        hand: what the player's cards have, in a wager with ``cards = ["hand_and_dealer"]``.
        dealer: what the dealer's cards have, in such a wager.
    """

    ranking: Name
    name: Name
    all: CardsHave | None = None
    hand: CardsHave | None = None
    dealer: CardsHave | None = None


def name_problem(name: str) -> str:
    """Return why a result or a pattern cannot have this name; empty if it can."""
    if len(name) > _NAME_LENGTH_MAX:
        return f"has more than {_NAME_LENGTH_MAX} characters"
    if name in {OTHER, MUST_HIT_BY} or name.endswith("_or_lower"):
        return "has a meaning"
    return ""


class WagerLimit(_Part, frozen=True):
    """A limit for one wager, as a multiple of another wager.

    Attributes:
        wager: the wager that is limited.
        at_most: the largest multiple.
        of: the other wager.
    """

    wager: Name
    at_most: int
    of: Name


class Version(_Part, frozen=True):
    """A version of the game that a table can play, with limits for its wagers (649a.7(e)).

    Attributes:
        name: what a table writes for ``version`` under ``paytables``.
        rule: the section about the version.
    """

    name: str
    rule: Rule
    bounds: tuple[WagerLimit, ...]


class Limit(_Part, frozen=True):
    """A limit for one player's winnings in a round, which a table can set.

    Attributes:
        choice: the name of the limit under ``paytables`` in the floor file.
        rule: the section about the limit.
        least: the lowest limit that a table can set, such as ``$25,000``.
        covers: the sections of the payouts that count towards the limit.
        excluded: hands whose payouts do not count.
    """

    choice: Name
    rule: Rule
    least: str
    covers: tuple[Rule, ...]
    excluded: tuple[str, ...] = ()


class Irregular(_Part, frozen=True):
    """Rounds that are void, or in which a card of the dealer was seen too early.

    Attributes:
        void: the section about a void round.
        dealer_exposed: the section about a round in which a card of the dealer was seen too early.
        settled: the wagers without a meter that are settled even after a card was seen too early.
    """

    void: Rule
    dealer_exposed: Rule
    settled: tuple[Name, ...]


class Chapter(_Part, frozen=True, kw_only=True):
    """The rules of one game that affect money.

    Without a game against the dealer, leave ``main`` out.

    Attributes:
        chapter: the chapter of 58 Pa. Code, or the house's own name of its rules.
        game: the name of the game in floor files and rounds.
        title: the name for people.
        effective: the first day of play, by the facility's clock.
        expires: the last day of play.
    """

    chapter: str
    game: Name
    title: str
    effective: Day | None = None
    expires: Day | None = None
    meter: tuple[MeterTitle, ...] = ()
    deal: Deal
    chances: Chances | None = None
    result: tuple[GameResult, ...] = ()
    pattern: tuple[Pattern, ...] = ()
    wager: tuple[WagerTables, ...]
    irregular: Irregular
    main: Main | None = None
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
    def first_community_cards(self) -> tuple[int, ...]:
        """The numbers of first community cards that wagers are on; each once, in rising order."""
        return tuple(sorted({tables.community_cards for tables in self.wager} - {0}))

    @property
    def community_ordered(self) -> bool:
        """True if the order of the community cards matters: a wager is on the first of them."""
        return bool(self.first_community_cards)

    @property
    def asking(self) -> str:
        """The subsection about the player's decision after the deal, or else about the deal."""
        return self.main.asking if self.main else self.deal.rule
