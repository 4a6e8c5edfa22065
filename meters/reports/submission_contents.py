"""Contents of a submission to the regulator, from which the JSON and the PDF are made.

Amounts are in cents, rates in basis points, and exact numbers are fractions such as ``"1/22100"``.
A ``Fraction`` of a wager has two forms in JSON: exact, and as a percentage with four decimals. A
rule is a subsection of 58 Pa. Code, or of the house's own rules.
"""

from fractions import Fraction
from typing import Final, Self

import msgspec

from bonus.law.chapter_file import Deal
from bonus.odds.odds_entries import LongRun, exact
from bonus.odds.odds_words import percent
from bonus.rounds import WrittenPercent

FORMAT: Final = 1
"""Version of the form of the JSON. It rises when a field changes its meaning or is removed."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of all parts of a submission."""

    @classmethod
    def taken_from(cls, source: object, /, **given: object) -> Self:
        """Make a part from the fields of the same names in `source`, and from those `given`.

        Raises:
            AttributeError, msgspec.ValidationError: a field is missing or has another type.
        """
        names = (name for name in cls.__struct_fields__ if name not in given)
        return msgspec.convert({name: getattr(source, name) for name in names} | given, cls)


class ExactChance(_Part, frozen=True, kw_only=True):
    """A probability; ``one_in`` is such as ``1 in 22,100``."""

    exact: str
    one_in: str


class FileDigest(_Part, frozen=True, kw_only=True):
    """A file with its SHA-256 in hexadecimal."""

    name: str
    sha256: str


class SoftwareDigest(_Part, frozen=True, kw_only=True):
    """The installed programs, with the digest over all files that `pitlink check` shows.

    ``from_wheel`` is false for a checkout, which has no recorded digests.
    """

    version: str
    files: int
    sha256: str
    from_wheel: bool


class RuleCell(_Part, frozen=True, kw_only=True):
    """A printed cell for a wager or bonus, such as ``35 to 1``, with its subsection."""

    item: str
    pays: str
    rule: str


class WagerRule(_Part, frozen=True):
    """A rule of a wager other than its paytable, about a subject such as ``placing``.

    ``text`` is the content that pitlink uses; empty if only the subsection is known.
    """

    subject: str
    text: str
    rule: str


class HandRow(_Part, frozen=True, kw_only=True):
    """A hand: its cells in the chosen paytables, and the number of deals with it, ``of`` all.

    ``fourth_card`` is for a Pair Bonus: ``a 2`` or ``not a 2``.
    """

    hand: str
    fourth_card: str
    cells: tuple[RuleCell, ...]
    combinations: int
    of: int
    chance: ExactChance


class OutcomeRow(_Part, frozen=True, kw_only=True):
    """An outcome of the game against the dealer under the optimal strategy."""

    outcome: str
    combinations: int
    of: int
    chance: ExactChance


class PercentageAward(_Part, frozen=True, kw_only=True):
    """A hand that wins a percentage of a meter, with the probability of the hand."""

    hand: str
    percent: WrittenPercent
    meter: str
    rule: str
    chance: ExactChance


class EnvyRow(_Part, frozen=True, kw_only=True):
    """An Envy Bonus. `chance` is the probability that one other player's hand is its hand."""

    hand: str
    envy_cents: int
    rule: str
    chance: ExactChance


class MeterReturn(_Part, frozen=True, kw_only=True):
    """The part of a wager's return that comes from one meter.

    Attributes:
        meter_return: the share of the meter that one wager wins on average; `return_at_seed` is
            that of the seed, as a share of the wager.
        hit_chance: the probability of a percentage of the meter; ``whole_chance`` is that of the
            whole meter, null if no hand wins it.
        break_even_cents: the lowest balance of the meter at which the house has no edge, with all
            other meters at their seeds; ``break_even_with_envy_cents`` with Envy Bonuses, for one
            to six other players.
    """

    meter: str
    seed_cents: int
    meter_return: str
    return_at_seed: Fraction
    hit_chance: ExactChance
    whole_chance: ExactChance | None
    break_even_cents: int
    break_even_with_envy_cents: tuple[int, ...]


class FoldingOdds(_Part, frozen=True, kw_only=True):
    """Odds for a player who folds under the optimal strategy, which forfeits the wager."""

    house_edge: Fraction
    house_edge_long_run: Fraction
    break_even_cents: int
    break_even_with_envy_cents: tuple[int, ...]


class DrawFiling(_Part, frozen=True, kw_only=True):
    """The Magic Card or the Lucky Bonus, drawn in one of `every` rounds on average; 0 for never.

    `returns` is the average payout as a share of the wager.
    """

    name: str
    pays: str
    rule: str
    every: int
    returns: Fraction


class SharedJackpot(_Part, frozen=True, kw_only=True):
    """Odds of a wager on the dealer's hand if several players divide a jackpot."""

    players: int
    house_edge: Fraction
    house_edge_long_run: Fraction
    break_even_cents: int


class AmountEdge(_Part, frozen=True, kw_only=True):
    """House edge for one amount of a wager whose paytable has fixed sums."""

    wager_cents: int
    house_edge: Fraction
    house_edge_long_run: Fraction | None


class StrategyOdds(_Part, frozen=True, kw_only=True):
    """Figures of a game against the dealer under the optimal strategy.

    ``element_of_risk`` is the house edge as a share of the average total wager, and
    ``average_wager`` that total as a multiple of the first wager.
    """

    strategy: tuple[str, ...]
    element_of_risk: Fraction
    average_wager: str
    outcomes: tuple[OutcomeRow, ...]


class WagerOdds(_Part, frozen=True, kw_only=True):
    """Exact odds of a wager with its chosen paytable.

    Attributes:
        house_edge: the house edge with every meter at its seed, and the contributions lost. For a
            game against the dealer, it is a share of the first wager under the optimal strategy.
        long_run: null for a wager that feeds no meter.
        hit_frequency: the probability that the wager wins. For a game against the dealer: that the
            hand is played and at least one of the two wagers wins, without regard to bonuses.
        envy_return: the average Envy Bonus from the hand of one other player, as a share of the
            wager.
        when_folding: null if they are not computed.
        notes: the limits of these figures.
    """

    house_edge: Fraction
    long_run: LongRun | None = None
    house_edge_by_amount: tuple[AmountEdge, ...] = ()
    hit_frequency: ExactChance
    awards: tuple[PercentageAward, ...] = ()
    meters: tuple[MeterReturn, ...] = ()
    envy: tuple[EnvyRow, ...] = ()
    envy_return: Fraction | None = None
    when_folding: FoldingOdds | None = None
    draws: tuple[DrawFiling, ...] = ()
    when_shared: tuple[SharedJackpot, ...] = ()
    against_dealer: StrategyOdds | None = None
    notes: str = ""


class FedMeter(_Part, frozen=True, kw_only=True):
    link: str
    meter: str
    kind: str


class WagerFiling(_Part, frozen=True, kw_only=True):
    """A wager with its chosen paytable, and the tables that offer it so.

    The game against the dealer has the name of its first wager. `paytable` is null and `reading`
    empty if the rules leave no choice. `wager_cents` is null if the wager feeds no meter. `hands`
    are all hands, the highest first.
    """

    wager: str
    title: str
    tables: tuple[str, ...]
    paytable: str | None
    reading: str
    wager_cents: int | None
    rules: tuple[WagerRule, ...]
    hands: tuple[HandRow, ...]
    feeds: tuple[FedMeter, ...]
    odds: WagerOdds


class TableChoice(_Part, frozen=True, kw_only=True):
    """An option that a table has chosen where the rules leave a choice, with its subsection."""

    name: str
    option: str
    rule: str


class GameTable(_Part, frozen=True, kw_only=True):
    """A table. `not_offered` are wagers for which it has chosen no paytable, or has no meter."""

    table: str
    asset: str
    link: str
    positions: int
    choices: tuple[TableChoice, ...]
    not_offered: tuple[str, ...]


class GameFiling(_Part, frozen=True, kw_only=True):
    """A game that tables of the floor play.

    Attributes:
        titles: the names for people of its wagers, and of the meters that its tables feed.
        source: ``58 Pa. Code`` or ``house rules``.
        chapter: the chapter, or the house's own name of its rules.
        effective: the first day of play; ``expires`` is the last. Null if the file has none.
        text: the full text of a game file of the house; null for a chapter.
    """

    game: str
    title: str
    titles: dict[str, str]
    source: str
    chapter: str
    effective: str | None
    expires: str | None
    file: FileDigest
    text: str | None
    deal: Deal
    tables: tuple[GameTable, ...]
    wagers: tuple[WagerFiling, ...]


class MeterFeed(_Part, frozen=True, kw_only=True):
    """A game that feeds a meter, with the printed cells of seed, reseed and rates.

    `tables` are those of the link that feed the meter with this game, and `with_meters` the other
    meters that the same wagers feed (tiers).
    """

    game: str
    wagers: tuple[str, ...]
    tables: tuple[str, ...]
    with_meters: tuple[str, ...]
    rule: str
    seed: str
    reseed: str
    primary: str
    reserve: str


class DollarChance(_Part, frozen=True, kw_only=True):
    """The chance of a dollar wagered to win a meter, at one wager (duty D21).

    A part of the meter counts as that part of a chance.
    """

    game: str
    wager: str
    tables: tuple[str, ...]
    chance: ExactChance


class MeterFiling(_Part, frozen=True, kw_only=True):
    """A meter of a link, with its parameters.

    Attributes:
        meter: the name of the meter on its link; ``kind`` is that in the rules.
        reseed_cents: the balance after a win of the whole meter, without the reserve.
        limit_cents: the payout limit; null if there is none.
        contribution_max_cents: the largest contribution of one event; null if there is no limit.
        magic_card_every: the average number of rounds per Magic Card; 0 for never, and null if the
            meter has no draws. ``lucky_every`` is the same for the Lucky Bonus.
        dollar_chances: the chance of a dollar at each wager that feeds the meter, the highest
            first.
        chance_ratio: how many times the lowest of these chances the highest is, and
            `chance_ratio_max` the ratio that the house accepts.
    """

    meter: str
    kind: str
    title: str
    wager_cents: int
    paytable: str | None
    seed_cents: int
    reseed_cents: int
    primary_bps: int
    reserve_bps: int
    limit_cents: int | None
    contribution_max_cents: int | None
    magic_card_every: int | None
    lucky_every: int | None
    feeds: tuple[MeterFeed, ...]
    dollar_chances: tuple[DollarChance, ...]
    chance_ratio: str
    chance_ratio_max: int


class LinkedTable(_Part, frozen=True, kw_only=True):
    table: str
    asset: str
    game: str
    positions: int
    meters: tuple[str, ...]


class LinkFiling(_Part, frozen=True, kw_only=True):
    """A link. `configuration_sha256` is the digest under which its settings are approved."""

    link: str
    name: str
    configuration_sha256: str
    meters: tuple[MeterFiling, ...]
    tables: tuple[LinkedTable, ...]


class FacilitySettings(_Part, frozen=True, kw_only=True):
    """Settings of the facility that concern money and decisions.

    A win at fixed odds below `validate_from_cents` needs no floorperson. Null: no win needs tax
    documents; two people must reject each hand pay.
    """

    validate_from_cents: int
    tax_documents_above_cents: int | None
    two_people_reject_above_cents: int | None
    confirm_corrections: bool
    require_all_hands: bool
    day_starts: str


class AddedByHouse(_Part, frozen=True, kw_only=True):
    """What the house must add. `game` is empty if the whole submission needs it."""

    game: str
    what: str
    rule: str


class Submission(_Part, frozen=True, kw_only=True):
    """A whole submission. ``date`` is by the facility's clock."""

    format: int = FORMAT
    facility: str
    date: str
    timezone: str
    demonstration: bool
    software: SoftwareDigest
    floor_file: FileDigest
    settings: FacilitySettings
    games: tuple[GameFiling, ...]
    links: tuple[LinkFiling, ...]
    added_by_house: tuple[AddedByHouse, ...]


def submission_json(submission: Submission) -> bytes:
    """Return a submission as JSON text. Equal submissions have the same text."""
    return msgspec.json.format(msgspec.json.encode(submission, enc_hook=_share), indent=2) + b"\n"


def _share(of_wager: Fraction) -> dict[str, str]:
    return {"exact": exact(of_wager), "percent": percent(of_wager)}
