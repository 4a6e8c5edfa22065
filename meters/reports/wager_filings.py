"""A wager in a submission: its rules, the cells of its chosen paytable, and its odds."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import starmap
from typing import Final

from bonus.display import money
from bonus.law.chapter_file import CardsOf, DrawPays, Envy, Main, WagerTables
from bonus.law.game_rankings import ranking_of
from bonus.law.paytables import read_cents, read_envy, read_payout
from bonus.odds.odds_entries import COMMUNITY_SHARE, Folding, HandLine, OddsEntry, TierOdds, exact
from bonus.odds.odds_words import one_in
from bonus.odds.offers import Offer, choose
from bonus.rounds import written_percent
from meters.reports import submission_contents as filed


def chance_of(number: Fraction) -> filed.ExactChance:
    return filed.ExactChance(exact=exact(number), one_in=one_in(number))


_MINI_ROYAL: Final = "mini_royal"
_WHEN_PAID: Final = {
    "played": "paid if the player does not fold",
    "not_lower": "paid if the player's hand is not lower",
    "lower": "paid if the player's hand is lower",
}


def rules_of(offer: Offer, validate_from_cents: int) -> tuple[filed.WagerRule, ...]:
    """Return the rules of an offered wager, without its paytable.

    `validate_from_cents` is the lowest amount of a win at odds that a floorperson must validate.
    """
    tables = offer.tables
    found = (
        _optional_rules(tables, offer.cards, validate_from_cents)
        if tables
        else _main_rules(offer.chapter.main_game)
    )
    return tuple(starmap(filed.WagerRule, found))


def validated_wins(validate_from_cents: int, least: str = "") -> str:
    """Return in words which wins a floorperson validates.

    `least` is the lowest odds that the rules of the wager name; empty if the rules name no odds.

    >>> validated_wins(0)
    'every win'
    >>> validated_wins(5_000, "500 for 1")
    'wins of $50.00 or more at 500 for 1 or more, and percentages of a meter'
    """
    odds = f" at {least} or more" if least else ""
    amount = f" of {money(validate_from_cents)} or more" if validate_from_cents else ""
    return f"wins{amount}{odds}, and percentages of a meter" if odds + amount else "every win"


def cells_of(offer: Offer, line: HandLine) -> tuple[filed.RuleCell, ...]:
    """Return the cells of a hand. Each has the subsection that prints it.

    The first cell is in the paytable that the casino chooses. In the game against the dealer, a
    hand can have cells of several bonuses.
    """
    rules = _cell_rules(offer, line)
    chosen = next(iter(rules)) if offer.tables or offer.chapter.main_bonuses else ""
    # Without bonuses, the line has the odds of the game against the dealer, which are a rule.
    pays = {chosen: line.pays, **line.beside} if chosen else line.beside
    paid = [item for item in pays if pays[item]]
    return tuple(filed.RuleCell(item=item, pays=pays[item], rule=rules[item]) for item in paid)


def _cell_rules(offer: Offer, line: HandLine) -> Mapping[str, str]:
    """Return subsections by paytable. The paytable that the casino chooses is the first."""
    tables = offer.tables
    if tables is None:
        return _main_cell_rules(offer, line)
    if offer.mini_royal and tables.mini_royal and line.hand == _MINI_ROYAL:
        return {offer.wager: tables.mini_royal.rule}
    fourth = tables.fourth_card
    if fourth and line.fourth_card == f"a {fourth.rank}":
        return {offer.wager: choose(fourth.table, offer.judged, offer.paytable).rule}
    choice = None if fourth else offer.paytable
    rules = {offer.wager: choose(tables.table, offer.judged, choice).rule}
    return rules | ({COMMUNITY_SHARE: tables.community.rule} if tables.community else {})


def _main_cell_rules(offer: Offer, line: HandLine) -> Mapping[str, str]:
    main = offer.chapter.main_game
    found: dict[str, str] = {}
    for bonus in sorted(main.bonus, key=lambda each: not each.choice):
        choice = offer.paytable if bonus.choice else None
        rule = choose(bonus.table, ranking_of(offer.chapter, bonus.ranking), choice).rule
        if offer.mini_royal and bonus.mini_royal and line.hand == _MINI_ROYAL:
            rule = bonus.mini_royal.rule
        found[bonus.choice or bonus.item] = rule
    if main.follow_pays:
        found[main.follow] = main.follow_pays.rule
    return found


def _main_rules(main: Main) -> Iterator[tuple[str, str, str]]:
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
    needs = f"only with {' or '.join(tables.needs)}" if tables.needs else ""
    yield "placing", needs, tables.placing
    count = tables.community_cards
    first = f", of which the first {count} community cards count" if count else ""
    yield "cards", f"{cards.replace('_', ' ')}{first}", ""
    if tables.forfeited:
        yield "fold", "a fold forfeits the wager", tables.forfeited
    if tables.collected:
        yield "losing wager", "collected", tables.collected
    if tables.divided:
        yield "jackpot on the dealer's hand", "divided equally", tables.divided
    if tables.community:
        text = "divided equally among all players who made the wager"
        yield "community share", text, tables.community.rule
    if beat := tables.bad_beat:
        dealer = beat.beaten_by == "dealer"
        by = "the dealer's hand" if dealer else "the hand of another player who made the wager"
        parts = ", ".join(f"{cell} for the {part}" for part, cell in beat.cells.items())
        first = "all other wins of the round are paid first"
        yield "bad beat", f"{beat.lowest} or higher, beaten by {by}: {parts}; {first}", beat.rule
    besides = "; percentages of a meter are hand pays" if tables.fed else ""
    yield "paid from", f"{tables.paid_from.value.replace('_', ' ')}{besides}", ""
    if tables.electronic:
        yield "wagering device", "electronic, without a value chip", ""
    if tables.validation:
        which = validated_wins(validate_from_cents, tables.validation.least)
        yield "validation by a floorperson", which, tables.validation.rule
        yield "cards stay on the table", "until a hand pay is paid", tables.validation.stays


def hand_rows(offer: Offer, entry: OddsEntry) -> tuple[filed.HandRow, ...]:
    return tuple(
        filed.HandRow.taken_from(line, cells=cells_of(offer, line), chance=chance_of(line.chance))
        for line in entry.hands
    )


def wager_odds(offer: Offer, entry: OddsEntry) -> filed.WagerOdds:
    tables = offer.tables
    return filed.WagerOdds(
        house_edge=entry.house_edge,
        long_run=entry.long_run,
        house_edge_by_amount=tuple(
            filed.AmountEdge(
                wager_cents=int(cents),
                house_edge=edge,
                house_edge_long_run=entry.house_edge_long_run_by_wager.get(cents),
            )
            for cents, edge in entry.house_edge_by_wager.items()
        ),
        hit_frequency=chance_of(entry.hit_frequency),
        awards=tuple(_awards(offer, tables, entry)) if tables else (),
        meters=tuple(_meter_returns(offer, tables, entry)) if tables and tables.fed else (),
        envy=tuple(_envy_rows(tables.envy, offer, entry)) if tables and tables.envy else (),
        envy_return=next(iter(entry.envy_return.values()), None),
        when_folding=_folding_odds(entry.when_folding) if entry.when_folding else None,
        draws=tuple(_draws(tables.draws, entry)) if tables and tables.draws else (),
        when_shared=tuple(
            filed.SharedJackpot.taken_from(each, break_even_cents=_only(each.break_even_meter))
            for each in entry.when_shared
        ),
        against_dealer=None if tables else _strategy_odds(entry),
        notes=entry.note,
    )


def _only(by_wager: Mapping[str, int]) -> int:
    # In a floor file, a meter has one amount for all its wagers.
    (amount,) = by_wager.values()
    return amount


def _strategy_odds(entry: OddsEntry) -> filed.StrategyOdds:
    return filed.StrategyOdds.taken_from(
        entry,
        average_wager=exact(entry.average_wager),
        outcomes=tuple(
            filed.OutcomeRow.taken_from(each, chance=chance_of(each.chance))
            for each in entry.outcomes
        ),
    )


def _awards(offer: Offer, tables: WagerTables, entry: OddsEntry) -> Iterator[filed.PercentageAward]:
    for line in entry.hands:
        for meter, won in line.payout.percents_of(tables.meter):
            yield filed.PercentageAward(
                hand=line.hand,
                percent=written_percent(won),
                meter=meter,
                rule=cells_of(offer, line)[0].rule,
                chance=chance_of(line.chance),
            )
    for part, cell in tables.bad_beat.cells.items() if tables.bad_beat else ():
        for meter, won in read_payout(cell).percents_of(tables.meter):
            if tables.bad_beat and entry.bad_beat:
                yield filed.PercentageAward(
                    hand=f"bad_beat_{part}",
                    percent=written_percent(won),
                    meter=meter,
                    rule=tables.bad_beat.rule,
                    chance=chance_of(entry.bad_beat.chance),
                )


def _meter_returns(
    offer: Offer, tables: WagerTables, entry: OddsEntry
) -> Iterator[filed.MeterReturn]:
    (wager_cents,) = offer.wagers_cents
    each_of: Sequence[tuple[str, OddsEntry | TierOdds]] = [
        (tier.meter, tier) for tier in entry.tiers
    ] or [(tables.meter, entry)]
    for meter, odds in each_of:
        won = [(line.percent_of(meter), line.chance) for line in entry.hands]
        if beat := entry.bad_beat:
            won.append((beat.percent_of(meter), beat.of_wager))
        whole = sum((chance for share, chance in won if share == 100), Fraction(0))
        seed_cents = _only(odds.seed_meter)
        yield filed.MeterReturn(
            meter=meter,
            seed_cents=seed_cents,
            meter_return=exact(odds.meter_return),
            return_at_seed=odds.meter_return * seed_cents / wager_cents,
            hit_chance=chance_of(sum((chance for share, chance in won if share), Fraction(0))),
            whole_chance=chance_of(whole) if whole else None,
            break_even_cents=_only(odds.break_even_meter),
            break_even_with_envy_cents=tuple(map(_only, odds.break_even_meter_with_envy)),
        )


def _envy_rows(envy: Envy, offer: Offer, entry: OddsEntry) -> Iterator[filed.EnvyRow]:
    # Of a smaller wager, the sums are in a schedule of its own, and the percentages are a part of
    # those of the largest wager.
    pays = {read_cents(schedule.wager): schedule.pays for schedule in envy.schedule}
    for cents in offer.wagers_cents:
        whole = pays.get(offer.largest_cents or cents, {})
        for line in entry.hands:
            share = whole.get(line.hand, "N/A")
            cell = pays.get(cents, whole)[line.hand] if share.startswith("$") else share
            if (brought := read_envy(cell)).wins:
                yield filed.EnvyRow(
                    hand=line.hand,
                    envy_cents=brought.sum_cents,
                    rule=envy.rule,
                    chance=chance_of(line.chance),
                    share="" if share.startswith("$") else offer.part_of(share),
                )


def _folding_odds(folding: Folding) -> filed.FoldingOdds:
    return filed.FoldingOdds.taken_from(
        folding,
        break_even_cents=_only(folding.break_even_meter),
        break_even_with_envy_cents=tuple(map(_only, folding.break_even_meter_with_envy)),
    )


def _draws(draws: DrawPays, entry: OddsEntry) -> Iterator[filed.DrawFiling]:
    for name, pays, drawn in (
        ("Magic Card", draws.magic_card, entry.magic_card),
        ("Lucky Bonus", draws.lucky_bonus, entry.lucky),
    ):
        if drawn:
            yield filed.DrawFiling.taken_from(
                drawn, name=name, pays=pays, rule=draws.rule, returns=drawn.wager_return
            )
