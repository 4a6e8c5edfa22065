from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from bonus.law.cells import Payout, Percent, read_cents, read_payout
from bonus.law.chapter_file import Envy, WagerTables
from bonus.odds.odds_entries import Drawn, HandLine, OddsEntry
from bonus.odds.offers import Offer
from bonus.settling.settlement_lines import written_percent
from meters.submission.contents import (
    AmountEdge,
    DrawFiling,
    EnvyRow,
    FoldingOdds,
    HandRow,
    LongRunOdds,
    MeterReturn,
    OutcomeRow,
    PercentageAward,
    SharedJackpot,
    StrategyOdds,
    WagerOdds,
)
from meters.submission.numbers import chance_of, share_of
from meters.submission.wager_rules import cells_of


def hand_rows(offer: Offer, entry: OddsEntry) -> tuple[HandRow, ...]:
    return tuple(
        HandRow(
            hand=line.hand,
            fourth_card=line.fourth_card,
            cells=cells_of(offer, line),
            combinations=line.combinations,
            of=line.of,
            chance=chance_of(_chance(line)),
        )
        for line in entry.hands
    )


def wager_odds(offer: Offer, entry: OddsEntry) -> WagerOdds:
    if offer.tables is None:
        return WagerOdds(
            house_edge=share_of(entry.house_edge),
            hit_frequency=chance_of(entry.hit_frequency),
            against_dealer=_strategy_odds(entry),
            notes=entry.note,
        )
    return _optional_odds(offer, offer.tables, entry)


def _optional_odds(offer: Offer, tables: WagerTables, entry: OddsEntry) -> WagerOdds:
    envy_return = next(iter(entry.envy_return.values()), None)
    return WagerOdds(
        house_edge=share_of(entry.house_edge),
        long_run=_long_run(entry),
        house_edge_by_amount=tuple(_by_amount(entry)),
        hit_frequency=chance_of(entry.hit_frequency),
        awards=tuple(_awards(offer, tables, entry)),
        meters=_meter_returns(offer, tables, entry),
        envy=tuple(_envy_rows(tables.envy, offer, entry)) if tables.envy else (),
        envy_return=share_of(envy_return) if envy_return else None,
        when_folding=_folding_odds(entry),
        draws=_draws(tables, entry),
        when_shared=tuple(
            SharedJackpot(
                players=each.players,
                house_edge=share_of(each.house_edge),
                house_edge_long_run=share_of(each.house_edge_long_run),
                break_even_cents=_only(each.break_even_meter),
            )
            for each in entry.when_shared
        ),
        notes=entry.note,
    )


def _chance(line: HandLine) -> Fraction:
    return Fraction(line.combinations, line.of)


def _payout(line: HandLine) -> Payout:
    return read_payout(line.pays)


def _only(by_wager: Mapping[str, int]) -> int:
    """Return the amount for the only wager of a meter. A floor file has one amount for a meter."""
    (amount,) = by_wager.values()
    return amount


def _long_run(entry: OddsEntry) -> LongRunOdds | None:
    lasting = entry.long_run
    if lasting is None:
        return None
    return LongRunOdds(
        house_edge=share_of(lasting.house_edge),
        fixed_return=share_of(lasting.fixed_return),
        contributions=share_of(lasting.contributions),
        reseeds=share_of(lasting.reseeds),
    )


def _by_amount(entry: OddsEntry) -> Iterator[AmountEdge]:
    for cents, edge in entry.house_edge_by_wager.items():
        lasting = entry.house_edge_long_run_by_wager.get(cents)
        yield AmountEdge(
            wager_cents=int(cents),
            house_edge=share_of(edge),
            house_edge_long_run=share_of(lasting) if lasting else None,
        )


def _strategy_odds(entry: OddsEntry) -> StrategyOdds:
    return StrategyOdds(
        strategy=entry.strategy,
        element_of_risk=share_of(entry.element_of_risk),
        average_wager=entry.average_wager,
        outcomes=tuple(
            OutcomeRow(
                outcome=each.outcome,
                combinations=each.combinations,
                of=each.of,
                chance=chance_of(Fraction(each.combinations, each.of)),
            )
            for each in entry.outcomes
        ),
    )


def _percents(payout: Payout, tables: WagerTables) -> Sequence[tuple[str, Percent]]:
    return ((tables.meter, payout.percent),) if payout.percent else payout.percents


def _awards(offer: Offer, tables: WagerTables, entry: OddsEntry) -> Iterator[PercentageAward]:
    for line in entry.hands:
        for meter, percent in _percents(_payout(line), tables):
            yield PercentageAward(
                hand=line.hand,
                percent=written_percent(percent),
                meter=meter,
                rule=cells_of(offer, line)[0].rule,
                chance=chance_of(_chance(line)),
            )


def _meter_returns(offer: Offer, tables: WagerTables, entry: OddsEntry) -> tuple[MeterReturn, ...]:
    if entry.tiers:
        return tuple(
            _meter_return(
                offer, tables, entry, tier.meter,
                (_only(tier.seed_meter), tier.meter_return, _only(tier.break_even_meter),
                 tier.break_even_meter_with_envy),
            )
            for tier in entry.tiers
        )  # fmt: skip
    if not tables.fed:
        return ()
    figures = (
        _only(entry.seed_meter), entry.meter_return, _only(entry.break_even_meter),
        entry.break_even_meter_with_envy,
    )  # fmt: skip
    return (_meter_return(offer, tables, entry, tables.meter, figures),)


def _meter_return(
    offer: Offer,
    tables: WagerTables,
    entry: OddsEntry,
    meter: str,
    figures: tuple[int, str, int, Sequence[Mapping[str, int]]],
) -> MeterReturn:
    """Return a meter's part of the return.

    `figures` are seed, meter return, and break-even without and with Envy Bonuses.
    """
    seed_cents, meter_return, break_even_cents, with_envy = figures
    won = [
        (percent, _chance(line))
        for line in entry.hands
        for name, percent in _percents(_payout(line), tables)
        if name == meter
    ]
    whole = sum((chance for percent, chance in won if percent == 100), Fraction(0))
    (wager_cents,) = offer.wagers_cents
    return MeterReturn(
        meter=meter,
        seed_cents=seed_cents,
        meter_return=meter_return,
        return_at_seed=share_of(Fraction(meter_return) * seed_cents / wager_cents),
        hit_chance=chance_of(sum((chance for _, chance in won), Fraction(0))),
        whole_chance=chance_of(whole) if whole else None,
        break_even_cents=break_even_cents,
        break_even_with_envy_cents=tuple(map(_only, with_envy)),
    )


def _envy_rows(envy: Envy, offer: Offer, entry: OddsEntry) -> Iterator[EnvyRow]:
    for schedule in envy.schedule:
        if read_cents(schedule.wager) in offer.wagers_cents:
            for line in entry.hands:
                if line.hand in schedule.pays:
                    yield EnvyRow(
                        hand=line.hand,
                        envy_cents=read_cents(schedule.pays[line.hand]),
                        rule=envy.rule,
                        chance=chance_of(_chance(line)),
                    )


def _folding_odds(entry: OddsEntry) -> FoldingOdds | None:
    folding = entry.when_folding
    if folding is None:
        return None
    return FoldingOdds(
        house_edge=share_of(folding.house_edge),
        house_edge_long_run=share_of(folding.house_edge_long_run),
        break_even_cents=_only(folding.break_even_meter),
        break_even_with_envy_cents=tuple(map(_only, folding.break_even_meter_with_envy)),
    )


def _draws(tables: WagerTables, entry: OddsEntry) -> tuple[DrawFiling, ...]:
    draws = tables.draws
    if draws is None or entry.magic_card is None or entry.lucky is None:
        return ()

    def filing(name: str, cell: str, drawn: Drawn) -> DrawFiling:
        return DrawFiling(
            name=name,
            pays=cell,
            rule=draws.rule,
            every=drawn.every,
            returns=share_of(drawn.wager_return),
        )

    return (
        filing("Magic Card", draws.magic_card, entry.magic_card),
        filing("Lucky Bonus", draws.lucky_bonus, entry.lucky),
    )
