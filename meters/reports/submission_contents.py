"""Contents of a submission to the regulator, from which the JSON and the PDF are made.

Amounts are in cents, rates in basis points, and exact numbers are fractions such as ``"1/22100"``.
In JSON, a ``Fraction`` of a wager has two forms: the exact fraction, and a percentage with four
decimals. A rule is a subsection of 58 Pa. Code, or of the house's own rules.
"""

from fractions import Fraction
from typing import Final, Self

import msgspec

from bonus.law.chapter_file import Deal
from bonus.odds.odds_entries import LongRun, exact
from bonus.odds.odds_words import percent
from bonus.rounds import WrittenPercent
from meters.selfcheck.must_hit_by_entries import MustHitByEntry

FORMAT: Final = 1
"""Version of the JSON format. It rises when a field gets another meaning, or is removed."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    @classmethod
    def taken_from(cls, source: object, /, **given: object) -> Self:
        """Make a part from `given`, and from those fields of `source` that the part has too.

        Raises:
            AttributeError, msgspec.ValidationError: a field is missing or has another type.
        """
        names = (name for name in cls.__struct_fields__ if name not in given)
        return msgspec.convert({name: getattr(source, name) for name in names} | given, cls)


class ExactChance(_Part, frozen=True, kw_only=True):
    """A probability. ``one_in`` is a text such as ``1 in 22,100``."""

    exact: str
    one_in: str


class FileDigest(_Part, frozen=True, kw_only=True):
    """A file with its SHA-256 in hexadecimal."""

    name: str
    sha256: str


class SoftwareDigest(_Part, frozen=True, kw_only=True):
    """The installed programs. ``sha256`` is the digest over all files, as `pitlink check` shows it.

    A checkout has no recorded digests: ``from_wheel`` is then false.
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
    """A rule about a wager besides its paytable. ``subject`` is, for example, ``placing``.

    ``text`` is the content that pitlink uses; empty if only the subsection is known.
    """

    subject: str
    text: str
    rule: str


class HandRow(_Part, frozen=True, kw_only=True):
    """A hand, with its cells in the chosen paytables.

    ``combinations`` is the number of deals with the hand, and ``of`` the number of all deals. For a
    Pair Bonus, ``fourth_card`` is a text such as ``a 2`` or ``not a 2``.
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
    """A hand, or a part of a bad beat, that wins a percentage of a meter, with its probability.

    A bad beat is for a round of two players, or of one player if the dealer's hand beats theirs.
    """

    hand: str
    percent: WrittenPercent
    meter: str
    rule: str
    chance: ExactChance


class EnvyRow(_Part, frozen=True, kw_only=True):
    """An Envy Bonus: a fixed sum, or a `share` of meters such as ``2% of meter``.

    `chance` is the probability that one other player gets the hand.
    """

    hand: str
    envy_cents: int
    rule: str
    chance: ExactChance
    share: str = ""


class MeterReturn(_Part, frozen=True, kw_only=True):
    """The part of a wager's return that comes from one meter.

    Attributes:
        meter_return: which share of the meter one wager wins on average.
        return_at_seed: what one wager wins on average if the meter is at its seed, as a share of
            the wager.
        hit_chance: the probability that the hand of the wager wins a percentage of the meter.
        whole_chance: the probability that the hand wins the whole meter; null if no hand wins it. A
            community share counts as won by the hand that brings it. The bad beats that come for
            each wager, in a round of two players, are added to both.
        break_even_cents: the lowest balance of the meter at which the house has no edge. All other
            meters are at their seeds.
        break_even_with_envy_cents: this balance with Envy Bonuses, for one other player,
            for two, and so on.
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
    """Odds for a player who folds as the optimal strategy says. A fold forfeits the wager."""

    house_edge: Fraction
    house_edge_long_run: Fraction
    break_even_cents: int
    break_even_with_envy_cents: tuple[int, ...]


class DrawFiling(_Part, frozen=True, kw_only=True):
    """The Magic Card or the Lucky Bonus. `every` is the average number of rounds per draw.

    If `every` is 0, there is no draw. `returns` is the average payout as a share of the wager.
    """

    name: str
    pays: str
    rule: str
    every: int
    returns: Fraction


class SharedJackpot(_Part, frozen=True, kw_only=True):
    """Odds of a wager on the dealer's hand if `players` divide a jackpot."""

    players: int
    house_edge: Fraction
    house_edge_long_run: Fraction
    break_even_cents: int


class AmountEdge(_Part, frozen=True, kw_only=True):
    """House edge for one amount of a wager with fixed sums in its paytable."""

    wager_cents: int
    house_edge: Fraction
    house_edge_long_run: Fraction | None


class StrategyOdds(_Part, frozen=True, kw_only=True):
    """Figures of a game against the dealer under the optimal strategy.

    ``average_wager`` is the average total wager as a multiple of the first wager.
    ``element_of_risk`` is the house edge as a share of this total.
    """

    strategy: tuple[str, ...]
    element_of_risk: Fraction
    average_wager: str
    outcomes: tuple[OutcomeRow, ...]


class WagerOdds(_Part, frozen=True, kw_only=True):
    """Exact odds of a wager with its chosen paytable.

    Attributes:
        house_edge: the house edge if every meter is at its seed and the contributions are lost. For
            a game against the dealer, it is a share of the first wager under the optimal strategy.
        long_run: null if the wager feeds no meter.
        hit_frequency: the probability that the wager wins. In a game against the dealer, a win
            means that the player does not fold and at least one of the two wagers wins. Bonuses do
            not count.
        envy_return: the average Envy Bonus for the hand of one other player, as a share of the
            wager. Percentages count for meters at their seeds.
        when_folding: null if it is not computed.
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
    """A wager with its chosen paytable, and the tables that offer the wager with this paytable.

    The game against the dealer has the name of its first wager. If the rules leave no choice,
    `paytable` is null and `reading` is empty. If the wager feeds no meter, `wager_cents` is null.
    `hands` has all hands, the highest first.
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
    """An option of the rules that was chosen for a table, with the option's subsection."""

    name: str
    option: str
    rule: str


class GameTable(_Part, frozen=True, kw_only=True):
    """A table. `not_offered` has the wagers for which the table has no paytable, or no meter."""

    table: str
    asset: str
    link: str
    positions: int
    choices: tuple[TableChoice, ...]
    not_offered: tuple[str, ...]


class GameFiling(_Part, frozen=True, kw_only=True):
    """A game that tables of the floor play.

    Attributes:
        titles: for each wager of the game, and for each meter that its tables feed, the name for
            people.
        source: ``58 Pa. Code`` or ``house rules``.
        chapter: the chapter, or the house's own name of its rules.
        effective: the first day of play; null if the file has none.
        expires: the last day of play; null if the file has none.
        text: the full text of a game file of the house; null for a chapter.
        results: the results that the dealer enters, if the game has results and no cards.
        chances: where the chances of these results come from: a calculation, or a declaration.
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
    results: tuple[str, ...]
    chances: str
    tables: tuple[GameTable, ...]
    wagers: tuple[WagerFiling, ...]


class MeterFeed(_Part, frozen=True, kw_only=True):
    """A game that feeds a meter, with the printed cells of seed, reseed and rates.

    `tables` has the tables of the link that play this game and feed the meter. `with_meters` has
    the other meters that the same wagers feed (tiers). `above` is the amount from which the rates
    are `primary_above` and `reserve_above`; empty if the rates do not change.
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
    above: str
    primary_above: str
    reserve_above: str


class DollarChance(_Part, frozen=True, kw_only=True):
    """The probability that a dollar wins a meter if it is wagered on `wager` (duty D21).

    If a hand wins a percentage of the meter, only this percentage of its probability counts.
    """

    game: str
    wager: str
    tables: tuple[str, ...]
    chance: ExactChance


class MeterFiling(_Part, frozen=True, kw_only=True):
    """A meter of a link, with its parameters.

    Attributes:
        meter: the name of the meter on its link.
        kind: the name of the meter in the rules.
        reseed_cents: the balance after a win of the whole meter, without the reserve.
        limit_cents: the payout limit; null if there is none.
        contribution_max_cents: the most that the wagers of one round at one table can add; null if
            there is no limit.
        magic_card_every: the average number of rounds per Magic Card. 0: there is no draw; null:
            the meter can have no draws.
        lucky_every: the average number of rounds per Lucky Bonus. 0: there is no draw; null: the
            meter can have no draws.
        dollar_chances: the chance of a dollar at each wager that feeds the meter, the highest
            first.
        chance_ratio: the highest of these chances, divided by the lowest.
        chance_ratio_max: the highest ratio that the house accepts.
        threshold_cents: the balance from which the rates are `primary_above_bps` and
            `reserve_above_bps`; null if the rates do not change.
        primary_above_bps: what a wager adds to the meter from that balance.
        reserve_above_bps: what a wager adds to the reserve from that balance.
        overflow_to: the meter that gets what is above the payout limit; null if it waits in the
            meter's own overflow.
        smaller_wagers_cents: the smaller amounts of a wager, which win a proportional part of each
            percentage; empty if all wagers have one amount.
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
    threshold_cents: int | None
    primary_above_bps: int
    reserve_above_bps: int
    overflow_to: str | None = None
    smaller_wagers_cents: tuple[int, ...] = ()


class LinkedTable(_Part, frozen=True, kw_only=True):
    table: str
    asset: str
    game: str
    positions: int
    meters: tuple[str, ...]


class PromotionFiling(_Part, frozen=True, kw_only=True):
    """A promotion: at certain times, the house adds money to a meter of the link.

    Attributes:
        promotion: the id of the promotion.
        meter: the id of the meter.
        adds_cents: what the house adds at each start; null if it adds a part of each wager.
        raises: the part of each wager that the house adds from the start to the end, such as
            ``"5%"``; null if it adds a sum.
        days: the days of the week on which it starts.
        starts: the time of day at which it starts, by the facility's clock.
        ends: the time of day at which it ends; on the next day if this is not after `starts`.
        first: the first day on which it starts; null if the floor file has none.
        last: the last day on which it starts; null if the floor file has none.
    """

    promotion: str
    name: str
    meter: str
    adds_cents: int | None
    raises: str | None
    days: tuple[str, ...]
    starts: str
    ends: str
    first: str | None
    last: str | None


class LinkFiling(_Part, frozen=True, kw_only=True):
    """A link. `configuration_sha256` is the digest of its settings, which people approve."""

    link: str
    name: str
    configuration_sha256: str
    meters: tuple[MeterFiling, ...]
    tables: tuple[LinkedTable, ...]
    must_hit_by: tuple[MustHitByEntry, ...] = ()
    promotions: tuple[PromotionFiling, ...] = ()


class FacilitySettings(_Part, frozen=True, kw_only=True):
    """Settings of the facility that concern money and decisions.

    A win at fixed odds below `validate_from_cents` needs no floorperson, unless another win of the
    same hand waits. For a win of `tax_documents_from_cents` or more, pitlink asks for tax
    documents; if this field is null, pitlink never asks. If `two_people_reject_above_cents` is
    null, two people must reject each hand pay.
    """

    validate_from_cents: int
    tax_documents_from_cents: int | None
    two_people_reject_above_cents: int | None
    confirm_corrections: bool
    require_all_hands: bool
    day_starts: str


class AddedByHouse(_Part, frozen=True, kw_only=True):
    """What the house must add for a game. If `game` is empty, it is for the whole submission."""

    game: str
    what: str
    rule: str


class Submission(_Part, frozen=True, kw_only=True):
    """A whole submission. ``date`` is the day on which it is made, by the facility's clock."""

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
    return msgspec.json.format(msgspec.json.encode(submission, enc_hook=_share), indent=2) + b"\n"


def _share(of_wager: Fraction) -> dict[str, str]:
    return {"exact": exact(of_wager), "percent": percent(of_wager)}
