"""The links of a floor for a submission: meters with their parameters, and tables (605a.8)."""

from collections.abc import Iterator, Sequence

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import Chapter, WagerTables
from bonus.law.paytables import Rates, chosen_of
from bonus.odds.odds_entries import OddsEntry, exact
from meters.books.approved_configuration import LinkConfiguration
from meters.floor.floor_file import Floor, Link, Meter
from meters.odds.meter_chances import chance_ratio, meter_chances
from meters.submission.contents import (
    DollarChance,
    LinkedTable,
    LinkFiling,
    MeterFeed,
    MeterFiling,
)
from meters.submission.numbers import chance_of


def link_filings(floor: Floor, entries: Sequence[OddsEntry]) -> tuple[LinkFiling, ...]:
    """Return the links in the order of the floor file; `entries` are the odds of all its wagers."""
    return tuple(
        LinkFiling(
            link=link.id,
            name=link.name,
            configuration_sha256=LinkConfiguration.of(floor, link).digest,
            meters=tuple(_meter_filing(link, meter, entries) for meter in link.meter),
            tables=tuple(
                LinkedTable(
                    table=table.id,
                    asset=table.asset,
                    game=table.game,
                    positions=table.positions,
                    meters=table.meters,
                )
                for table in link.table
            ),
        )
        for link in floor.link
    )


def _meter_filing(link: Link, meter: Meter, entries: Sequence[OddsEntry]) -> MeterFiling:
    terms = meter.terms
    chances = meter_chances(link, meter, entries)
    return MeterFiling(
        meter=meter.meter_id,
        kind=meter.kind,
        title=meter.title,
        wager_cents=meter.wager,
        paytable=meter.paytable,
        seed_cents=terms.seed_cents,
        reseed_cents=terms.reseed_cents,
        primary_bps=terms.primary_bps,
        reserve_bps=terms.reserve_bps,
        limit_cents=meter.limit,
        contribution_max_cents=meter.contribution_max,
        magic_card_every=meter.magic_card_every if meter.has_draws else None,
        lucky_every=meter.lucky_every if meter.has_draws else None,
        feeds=tuple(_feeds(link, meter)),
        dollar_chances=tuple(
            DollarChance(
                game=each.game,
                wager=each.wager,
                tables=each.tables,
                chance=chance_of(each.of_a_dollar),
            )
            for each in chances
        ),
        chance_ratio=exact(chance_ratio(chances)),
        chance_ratio_max=meter.chance_ratio_max,
    )


def _feeds(link: Link, meter: Meter) -> Iterator[MeterFeed]:
    """Yield the games whose tables feed a meter, or else the first game that has it.

    The parameters of a meter that no table feeds are those of this game.
    """
    games = meter.fed_in or (meter.games.with_meter(meter.kind)[0].game,)
    for game in games:
        wager = _feeding(meter.games[game], meter.kind)
        rates = _rates(wager, meter)
        yield MeterFeed(
            game=game,
            wagers=wager.names,
            tables=tuple(
                table.id
                for table in link.table
                if table.game == game and meter.meter_id in table.meters
            ),
            with_meters=tuple(kind for kind in wager.fed if kind != meter.kind),
            rule=rates.rule,
            seed=rates.seed,
            reseed=rates.reseed,
            primary=rates.primary,
            reserve=rates.reserve,
        )


def _feeding(chapter: Chapter, kind: str) -> WagerTables:
    return next(wager for wager in chapter.wager if kind in wager.fed)


def _rates(wager: WagerTables, meter: Meter) -> Rates:
    """Return the printed seed and rates; the floor file's check ensures the paytable."""
    paytable = chosen_of(wager.table, RANKINGS[wager.ranking].names, meter.paytable)
    if paytable is None:
        raise ValueError(f"{meter.kind} has no paytable {meter.paytable}")
    return paytable.rates[meter.kind if wager.meters else ""]
