"""A wager in a submission: its rules, the cells of its chosen paytable, and its odds."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from bonus.display import money
from bonus.law.chapter_file import CardsOf, Envy, Main, WagerTables
from bonus.law.paytables import Payout, Percent, read_cents, read_payout
from bonus.odds.hand_payouts import choose
from bonus.odds.odds_entries import Drawn, HandLine, OddsEntry, exact
from bonus.odds.odds_words import one_in, percent
from bonus.odds.offers import Offer
from bonus.settling.settlement_lines import written_percent
from meters.submission.contents import (
    AmountEdge,
    DrawFiling,
    EnvyRow,
    ExactChance,
    ExactShare,
    FoldingOdds,
    HandRow,
    LongRunOdds,
    MeterReturn,
    OutcomeRow,
    PercentageAward,
    RuleCell,
    SharedJackpot,
    StrategyOdds,
    WagerOdds,
    WagerRule,
)


def share_of(number: Fraction | str) -> ExactShare:
    value = Fraction(number)
    return ExactShare(exact=exact(value), percent=percent(value))


def chance_of(number: Fraction | str) -> ExactChance:
    value = Fraction(number)
    return ExactChance(exact=exact(value), one_in=one_in(value))


_MINI_ROYAL: Final = "mini_royal"
_WHEN_PAID: Final = {
    "played": "paid if the player does not fold",
    "not_lower": "paid if the player's hand is not lower",
    "lower": "paid if the player's hand is lower",
}


def rules_of(offer: Offer, validate_from_cents: int) -> tuple[WagerRule, ...]:
    """Return the rules of an offered wager other than its paytable.

    The facility validates wins at odds from `validate_from_cents`.
    """
    tables = offer.tables
    found = (
        _optional_rules(tables, tables.cards[tables.names.index(offer.wager)], validate_from_cents)
        if tables
        else _main_rules(offer.chapter.main_game)
    )
    return tuple(WagerRule(subject=subject, text=text, rule=rule) for subject, text, rule in found)


def validated_wins(validate_from_cents: int, least: str = "") -> str:
    """Return which wins a floorperson validates.

    `least` are the lowest odds that the rules of the wager name, if any.

    >>> validated_wins(0)
    'every win'
    >>> validated_wins(5_000, "500 for 1")
    'wins at 500 for 1 or more of $50.00 or more, and percentages of a meter'
    """
    odds = f" at {least} or more" if least else ""
    amount = f" of {money(validate_from_cents)} or more" if validate_from_cents else ""
    return f"wins{odds}{amount}, and percentages of a meter" if odds + amount else "every win"


def cells_of(offer: Offer, line: HandLine) -> tuple[RuleCell, ...]:
    """Return the cells of a hand, each with the subsection that has it.

    The first is that of the paytable that the casino chooses. A hand in the game against the dealer
    can have cells of several bonuses.
    """
    rules = _cell_rules(offer, line)
    chosen = next(iter(rules)) if offer.tables or offer.chapter.main_bonuses else ""
    # Without a bonus, the line has the odds of the game against the dealer: they are a rule of it.
    pays = {chosen: line.pays, **line.beside} if chosen else line.beside
    return tuple(
        RuleCell(item=item, pays=cell, rule=rules[item]) for item, cell in pays.items() if cell
    )


def _cell_rules(offer: Offer, line: HandLine) -> Mapping[str, str]:
    """Return the subsection of each paytable that can have a cell for a hand.

    The first one is the paytable that the casino chooses.
    """
    tables = offer.tables
    if tables is None:
        return _main_cell_rules(offer, line)
    if offer.mini_royal and tables.mini_royal and line.hand == _MINI_ROYAL:
        return {offer.wager: tables.mini_royal.rule}
    fourth = tables.fourth_card
    if fourth and line.fourth_card == f"a {fourth.rank}":
        return {offer.wager: choose(fourth.table, offer.ranking, offer.paytable).rule}
    choice = None if fourth else offer.paytable
    return {offer.wager: choose(tables.table, offer.ranking, choice).rule}


def _main_cell_rules(offer: Offer, line: HandLine) -> Mapping[str, str]:
    main = offer.chapter.main_game
    found: dict[str, str] = {}
    for bonus in sorted(main.bonus, key=lambda each: not each.choice):
        choice = offer.paytable if bonus.choice else None
        rule = choose(bonus.table, bonus.ranking, choice).rule
        if offer.mini_royal and bonus.mini_royal and line.hand == _MINI_ROYAL:
            rule = bonus.mini_royal.rule
        found[bonus.choice or bonus.item] = rule
    if main.follow_pays:
        found[main.follow] = main.follow_pays.rule
    return found


def _main_rules(main: Main) -> Iterator[tuple[str, str, str]]:
    """Yield subject, text and subsection of the rules of the game against the dealer."""
    times = " or ".join(map(str, main.times))
    yield "placing", f"{main.stake}, then {main.follow}", main.placing
    yield "decision", f"{main.follow} is {times} times the {main.stake}, or a fold", main.asking
    yield "odds", f"{main.stake} and {main.follow} pay {main.odds}", main.odds_rule
    yield "lower hand", "both wagers are collected", main.lower
    tie = "the player is paid" if main.tie.pays else "both wagers are returned"
    yield "equal hand", tie, main.tie.rule
    if main.not_qualified:
        below = f"a dealer's hand below {main.not_qualified.below} high"
        returned = f"{below}: {main.not_qualified.returns} is returned, the other wager wins"
        yield "dealer does not qualify", returned, main.not_qualified.rule
    if main.follow_pays:
        replaced = f"{main.follow} pays its paytable if the dealer's hand qualifies"
        yield f"{main.follow} paytable", replaced, main.follow_pays.rule
    for bonus in main.bonus:
        returned = f"; {bonus.returns} is returned" if bonus.returns else ""
        paid = f"a multiple of {bonus.on}, {_WHEN_PAID[bonus.when]}{returned}"
        yield bonus.choice or bonus.item, paid, bonus.procedure


def _optional_rules(
    tables: WagerTables, cards: CardsOf, validate_from_cents: int
) -> Iterator[tuple[str, str, str]]:
    """Yield subject, text and subsection of the rules of an optional wager."""
    needs = f"only with {' or '.join(tables.needs)}" if tables.needs else ""
    yield "placing", needs, tables.placing
    yield "cards", cards.replace("_", " "), ""
    if tables.forfeited:
        yield "fold", "a fold forfeits the wager", tables.forfeited
    if tables.collected:
        yield "losing wager", "collected", tables.collected
    if tables.divided:
        yield "jackpot on the dealer's hand", "divided equally", tables.divided
    besides = ", except percentages: hand pays" if tables.fed else ""
    yield "paid from", f"{tables.paid_from.value.replace('_', ' ')}{besides}", ""
    if tables.electronic:
        yield "wagering device", "electronic, without a value chip", ""
    if tables.validation:
        which = validated_wins(validate_from_cents, tables.validation.least)
        yield "validation by a floorperson", which, tables.validation.rule
        yield "cards stay on the table", "until a hand pay is paid", tables.validation.stays


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
        for meter, won in _percents(_payout(line), tables):
            yield PercentageAward(
                hand=line.hand,
                percent=written_percent(won),
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
