"""Checks with the exact odds: what wagers give back, and what payout limits keep from players."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

import msgspec

from bonus.display import money, short_money
from bonus.law.meter_terms import tenths_text
from bonus.odds.odds_entries import FullTable, OddsEntry
from bonus.odds.offers import Offer
from bonus.odds.wager_odds import rare_top_award
from meters.floor.floor_file import Floor, Meter
from meters.selfcheck.check_result import Check, failure, judged, warning
from meters.selfcheck.floor_offers import (
    MeterChance,
    chance_ratio,
    floor_offers,
    meter_chances,
    shared_offers,
)
from meters.selfcheck.must_hit_by_entries import odds_of
from meters.selfcheck.odds_counting import count_entries


def return_checks(floor: Floor) -> Iterator[Check]:
    """Warn if a wager gives back more than is wagered, or its top award is too rare.

    The top award of a wager that feeds meters is too rare if it comes less than once in a hundred
    million deals (duty D22). The top awards of other wagers are not checked. A pattern that is paid
    and never comes is an error, and so are odds that cannot be counted: the other checks of odds
    leave these wagers out.

    These are the wagers of house games, and those that feed a must-hit-by meter: what this meter
    gives back is added. A wager that feeds meters is checked twice: at the seeds of its meters, and
    in the long run, when players win what wagers add to the meters. Each exact count takes some
    seconds.
    """
    hit_by = {wager for link in floor.link for meter in link.meter if meter.must_hit_by
              for wager in meter.wagers}  # fmt: skip
    offers = [
        offer
        for offer in floor_offers(floor)
        if offer.chapter.game in floor.games.digests or offer.wager in hit_by
    ]
    refused: list[tuple[Offer, str]] = []
    entries = count_entries(offers, "check", refused=refused) if offers else []
    for offer, why in refused:
        yield failure(f"odds of {offer.wager} in {offer.chapter.game}", why)
    unknown = [offer for offer, _ in refused]
    counted = [offer for offer in offers if offer not in unknown]
    for offer, entry in zip(counted, entries, strict=True):
        of = f"{entry.wager} in {entry.game}"
        ordered = offer.judged.ordered
        never = [
            line.hand
            for line in entry.hands
            if offer.tables and not ordered and line.payout.wins and not line.combinations
        ]
        for hand in never:
            why = "it never comes, because earlier patterns take its cards: change the order"
            yield Check(f"{hand} of {of}", holds=False, seen=why)
        rare = "" if never else rare_top_award(entry.hands, ordered=ordered)
        if entry.long_run and rare:
            yield warning(f"top award of {of}", rare)
        added = _most_added(floor, entry)
        back = 1 - entry.house_edge
        lasting = 1 - entry.long_run.house_edge if entry.long_run else back
        paytable = f" {entry.paytable}" if entry.paytable else ""
        if entry.smaller_wager:
            paytable += f" of {short_money(entry.smaller_wager)}"
        yield Check(
            f"return of {entry.wager}{paytable} in {entry.game}",
            holds=back + added <= 1 and lasting + added <= 1,
            seen=_return_text(entry, back, lasting, added),
            warns=True,
        )
        if entry.full_table:
            yield _at_full_table(entry, entry.full_table, paytable, added)


def _at_full_table(entry: OddsEntry, full: FullTable, paytable: str, added: Fraction) -> Check:
    back, lasting = 1 - full.house_edge, 1 - full.house_edge_long_run
    advice = ""
    if lasting + added > 1:
        advice = ": at a full table, the house can lose"
    elif back + added > 1:
        advice = ": at the seed and a full table, players can have the edge"
    if advice:
        advice += ", so let the bad beat begin at a higher hand, or change its parts"
    more = f", and {tenths_text(added)} more of must-hit-by meters" if added else ""
    return Check(
        f"return of {entry.wager}{paytable} in {entry.game} with {full.players} players",
        holds=not advice,
        seen=f"{full.returned}{more}{advice}",
        warns=True,
    )


def _most_added(floor: Floor, entry: OddsEntry) -> Fraction:
    """Return what must-hit-by meters give back of a wager, at the table where it is most."""
    return max(
        (
            sum(
                (
                    odds.return_of_wager
                    for meter in link.must_hit_by_of(table)
                    if entry.wager in meter.wagers and (odds := odds_of(meter))
                ),
                Fraction(0),
            )
            for link in floor.link
            for table in link.table
            if table.id in entry.tables
        ),
        default=Fraction(0),
    )


def _return_text(entry: OddsEntry, back: Fraction, lasting: Fraction, added: Fraction) -> str:
    if entry.long_run is None:
        wager = "a $1 wager" if entry.house_edge_by_wager else "the wager"
        loses = ": the house loses, so change the paytable" if back > 1 else ""
        return f"{tenths_text(back)} of {wager}{loses}"
    advice = ""
    if lasting > 1:
        advice = ": the house loses, so change the paytable, the reseed or the rates"
    elif lasting + added > 1:
        advice = ": together the house loses, so lower the minimum of the must-hit-by meter"
    elif back + added > 1:
        advice = ": at the seed, players have the edge, so change the paytable or the seed"
    alone = ", for a player who shares nothing" if entry.when_shared else ""
    more = f", and {tenths_text(added)} more of must-hit-by meters" if added else ""
    return (
        f"{tenths_text(back)} at the seed of its meters and {tenths_text(lasting)} in the long"
        f" run{alone}{more}{advice}"
    )


def chance_checks(floor: Floor) -> Iterator[Check]:
    """Check that a dollar wins a meter with the same probability everywhere (duty D21).

    With `chance_ratio_max`, the house accepts a difference.
    """
    for link in floor.link:
        meters, offers = shared_offers(floor, link)
        entries = count_entries(offers, "check", refused=[]) if offers else []
        for meter in meters:
            chances = meter_chances(link, meter, entries)
            yield Check(
                f"chances of {meter.meter_id} on {link.id}",
                holds=chance_ratio(chances) <= meter.chance_ratio_max,
                seen=_chances_text(meter, chances),
            )
            most = meter_chances(link, meter, entries, full_table=True)
            if most != chances:
                yield Check(
                    f"chances of {meter.meter_id} on {link.id} at full tables",
                    holds=chance_ratio(most) <= meter.chance_ratio_max,
                    seen=f"at most, {_chances_text(meter, most)}",
                    warns=True,
                )


def _chances_text(meter: Meter, chances: Sequence[MeterChance]) -> str:
    ratio = chance_ratio(chances)
    games = list(dict.fromkeys(each.game for each in chances))
    if ratio == 1:
        return f"a dollar has the same chance to win it at every wager of {', '.join(games)}"
    most, least = (
        f"{each.wager} of {each.game} (1 in {round(1 / each.of_a_dollar):,})"
        for each in (chances[0], chances[-1])
    )
    hundredths = ceil(ratio * 100)
    times = f"{hundredths // 100:,}.{hundredths % 100:02}".removesuffix(".00")
    said = f"a dollar is {times} times as likely to win it on {most} as on {least}"
    if ratio <= meter.chance_ratio_max:
        return f"{said}: chance_ratio_max accepts {meter.chance_ratio_max:,} times"
    return (
        f"{said}: give the games equal chances or meters of their own, or accept the difference"
        f" with chance_ratio_max = {ceil(ratio)}"
    )


def limit_checks(floor: Floor) -> Iterator[Check]:
    """Warn of a payout limit at which wagers add more than awards can pay (duty D3).

    The overflow then grows for ever, although it refills the meter after every award. If it goes to
    another meter, there is no warning: the players of that meter win it. Each game is counted as if
    nothing else fed the meter.
    """
    for link in floor.link:
        limited = [meter for meter in link.meter if meter.limit]
        tables = {table.id: table for table in link.table}
        kinds = {meter.kind for meter in limited}
        offers = [
            offer
            for offer in floor_offers(msgspec.structs.replace(floor, link=(link,)))
            if offer.tables and kinds.intersection(offer.tables.fed)
        ]
        entries = count_entries(offers, "check", refused=[]) if offers else []
        # With smaller wagers, a meter gets fewer reseeds, so the largest amount decides.
        entries = [entry for entry in entries if not entry.largest_wager]
        for meter in limited:
            least = max(
                (
                    _least_limit_cents(meter, entry)
                    for entry in entries
                    if any(meter.meter_id in tables[table].meters for table in entry.tables)
                ),
                default=0,
            )
            limit, problem = meter.limit or 0, None
            good = f"{money(limit)}; the awards can pay all that wagers add"
            if limit < least and meter.overflow_to:
                good = (
                    f"{money(limit)}; its awards pay less than wagers add, and the players of"
                    f" {meter.overflow_to} win the rest"
                )
            elif limit < least:
                problem = (
                    f"at {money(limit)} its awards pay less than wagers add, so its overflow grows"
                    f" for ever: set a limit of {money(ceil(least))} or more"
                )
            if full := [one.meter_id for one in link.meter if one.overflow_to == meter.meter_id]:
                good += f", not counting what comes from {' and '.join(full)}"
            yield judged(f"limit of {meter.meter_id} on {link.id}", problem, good, warns=True)


def _least_limit_cents(meter: Meter, entry: OddsEntry) -> Fraction:
    """Return the limit at which a game's wagers add as much as its awards pay, on average.

    A wager adds its two rates, and the reseed when its hand wins the whole meter. It takes away the
    percentages that its hand wins, with community shares, but without Envy Bonuses.
    """
    terms = meter.terms_in(entry.game)
    if entry.wager not in terms.wagers:
        return Fraction(0)
    added = Fraction(meter.wager * (terms.primary_bps + terms.reserve_bps), 10_000)
    taken = Fraction(0)
    for line in entry.hands:
        percent = line.percent_of(meter.kind)
        taken += line.chance * Fraction(percent, 100)
        if percent == 100:
            added += line.chance * terms.reseed_cents
    return added / taken if taken else Fraction(2**63)
