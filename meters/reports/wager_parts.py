from collections.abc import Iterator, Sequence
from fractions import Fraction

from bonus.display import money, short_money
from bonus.odds.odds_entries import LongRun, exact
from bonus.odds.odds_words import GameNames, percent, plain_name
from meters.reports.report_document import (
    Column,
    Fact,
    ReportPart,
    ReportSection,
    numbers,
    only_used,
)
from meters.reports.submission_contents import GameFiling, StrategyOdds, WagerFiling, WagerOdds


def wager_part(game: GameFiling, wager: WagerFiling) -> ReportPart:
    paytable = f", paytable {wager.paytable}" if wager.paytable else ""
    return ReportPart(
        "",
        f"{game.title}: {wager.title}{paytable}",
        list(_facts(game, wager)),
        list(_sections(GameNames({}, game.titles), wager)),
    )


def _facts(game: GameFiling, wager: WagerFiling) -> Iterator[Fact]:
    odds = wager.odds
    yield "Name in files", wager.wager
    yield "Tables", ", ".join(wager.tables)
    if wager.wager_cents is not None:
        yield "Wager", short_money(wager.wager_cents)
    if wager.feeds:
        yield (
            "Feeds",
            ", ".join(f"{game.titles[each.kind]} of link {each.link}" for each in wager.feeds),
        )
    yield "House edge", f"{share_words(odds.house_edge)}{_edge_words(odds)}"
    if odds.long_run:
        yield from _long_run_facts(odds.long_run)
    for each in odds.house_edge_by_amount:
        lasting = each.house_edge_long_run
        yield (
            f"with {short_money(each.wager_cents)}",
            share_words(each.house_edge)
            + (f"; in the long run {share_words(lasting)}" if lasting else ""),
        )
    yield "Hit frequency", f"{odds.hit_frequency.one_in}, exactly {odds.hit_frequency.exact}"
    if odds.envy_return:
        yield "Envy Bonuses", f"{share_words(odds.envy_return)} for each other player"
    if odds.when_folding:
        folding = odds.when_folding
        yield (
            "If the player folds",
            (
                f"{share_words(folding.house_edge)} at the seed, and"
                f" {share_words(folding.house_edge_long_run)} in the long run, under the optimal"
                " strategy of the game;"
                f" {_break_even(folding.break_even_cents, folding.break_even_with_envy_cents)}"
            ),
        )
    for draw in odds.draws:
        often = f"one round in {draw.every:,}" if draw.every else "never drawn"
        yield draw.name, f"{draw.pays} ({draw.rule}), {often}, returns {share_words(draw.returns)}"
    if odds.against_dealer:
        yield from _strategy_facts(odds.against_dealer)
    if odds.notes:
        yield "Notes", odds.notes


def share_words(share: Fraction) -> str:
    return f"{percent(share)}, exactly {exact(share)}"


def _long_run_facts(odds: LongRun) -> Iterator[Fact]:
    yield "House edge, long run", f"{share_words(odds.house_edge)} of the wager, less Envy Bonuses"
    yield "Paid at odds", f"{share_words(odds.fixed_return)}, with fixed sums and draws"
    yield (
        "Added to meters",
        f"{share_words(odds.contributions)}, with their reserves: players win all of it later",
    )
    yield "Reseeds", f"{share_words(odds.reseeds)}, paid by the house when a whole meter is won"


def _edge_words(odds: WagerOdds) -> str:
    if odds.meters:
        return " of the wager, with each meter at its seed and the contributions lost"
    return " of the first wager" if odds.against_dealer else " of the wager"


def _strategy_facts(odds: StrategyOdds) -> Iterator[Fact]:
    yield "Element of risk", share_words(odds.element_of_risk)
    yield "Average wager", f"{odds.average_wager} of the first wager"
    yield "Optimal strategy", " ".join(odds.strategy)


def _break_even(alone_cents: int, with_envy_cents: Sequence[int]) -> str:
    envy = ", ".join(map(money, with_envy_cents))
    return f"break-even {money(alone_cents)}" + (
        f"; with Envy Bonuses and 1 to {len(with_envy_cents)} other players: {envy}" if envy else ""
    )


def _sections(names: GameNames, wager: WagerFiling) -> Iterator[ReportSection]:
    odds = wager.odds
    yield ReportSection(
        "Rules",
        (Column("Subject", 1.5), Column("Text", 4), Column("Rule", 1.5)),
        [(plain_name(each.subject), plain_name(each.text), each.rule) for each in wager.rules],
    )
    yield _hands(names, wager)
    if odds.against_dealer:
        yield _outcomes(odds.against_dealer)
    if odds.awards:
        yield _awards(names, odds)
    if odds.meters:
        yield from _meters(names, odds)
    if odds.envy:
        yield _envy(odds)
    if odds.when_shared:
        yield _shared(odds)


def _hands(names: GameNames, wager: WagerFiling) -> ReportSection:
    """Return the list of hands. A hand that several paytables pay has a row for each."""
    rows = []
    several = any(cell.item != wager.wager for hand in wager.hands for cell in hand.cells)
    for hand in wager.hands:
        name = (
            f"{plain_name(hand.hand)}, {hand.fourth_card}"
            if hand.fourth_card
            else plain_name(hand.hand)
        )
        figures = (f"{hand.combinations:,}", f"{hand.of:,}", hand.chance.one_in)
        if not hand.cells:
            rows.append((name, "", "nothing", "", *figures))
        for at, cell in enumerate(hand.cells):
            known = figures if at == 0 else ("", "", "")
            rows.append(
                (
                    name if at == 0 else "",
                    plain_name(cell.item) if several else "",
                    names.cell(cell.pays),
                    cell.rule,
                    *known,
                )
            )
    return only_used(ReportSection(
        "Paytable, with the deals of each hand",
        (
            Column("Hand", 1.9), Column("Pays as", 1.9), Column("Cell", 2.2), Column("Rule", 1.1),
            numbers("Deals", 1.1), numbers("of", 1.2), numbers("Chance", 1.4),
        ),
        rows,
    ))  # fmt: skip


def _outcomes(odds: StrategyOdds) -> ReportSection:
    return ReportSection(
        "Outcomes under the optimal strategy",
        (Column("Outcome", 2), numbers("Deals"), numbers("of"), numbers("Chance")),
        [
            (plain_name(each.outcome), f"{each.combinations:,}", f"{each.of:,}", each.chance.one_in)
            for each in odds.outcomes
        ],
    )


def _awards(names: GameNames, odds: WagerOdds) -> ReportSection:
    return ReportSection(
        "Hands that win a percentage of a meter",
        (
            Column("Hand", 2), Column("Rule", 1.2), Column("Meter", 2), numbers("Percentage"),
            numbers("Exact probability", 2), numbers("Chance", 1.5),
        ),
        [
            (plain_name(each.hand), each.rule, names.meter(each.meter), f"{each.percent}%",
             each.chance.exact, each.chance.one_in)
            for each in odds.awards
        ],
    )  # fmt: skip


def _meters(names: GameNames, odds: WagerOdds) -> Iterator[ReportSection]:
    yield ReportSection(
        "Return of each meter",
        (
            Column("Meter", 2), numbers("Seed", 1.5), numbers("Returns at the seed", 1.5),
            numbers("Exactly", 3),
        ),
        [
            (
                names.meter(each.meter), money(each.seed_cents), percent(each.return_at_seed),
                exact(each.return_at_seed),
            )
            for each in odds.meters
        ],
    )  # fmt: skip
    yield ReportSection(
        "Probability to win each meter",
        (
            Column("Meter", 2), numbers("In part or whole", 1.5), numbers("Exactly", 2),
            numbers("Whole", 1.5), numbers("Exactly", 2),
        ),
        [
            (
                names.meter(each.meter), each.hit_chance.one_in, each.hit_chance.exact,
                each.whole_chance.one_in if each.whole_chance else "never",
                each.whole_chance.exact if each.whole_chance else "",
            )
            for each in odds.meters
        ],
    )  # fmt: skip
    yield only_used(ReportSection(
        "Break-even of each meter",
        (
            Column("Meter", 2), Column("With Envy Bonuses, for 1 to 6 other players", 4),
            numbers("Without Envy Bonuses" if odds.envy else "Break-even", 1.7),
            numbers("Share won by a wager", 2),
        ),
        [
            (
                names.meter(each.meter),
                ", ".join(map(money, each.break_even_with_envy_cents)),
                money(each.break_even_cents), each.meter_return,
            )
            for each in odds.meters
        ],
    ))  # fmt: skip


def _envy(odds: WagerOdds) -> ReportSection:
    return ReportSection(
        "Envy Bonuses, for each other player with the wager",
        (Column("Hand", 2), Column("Rule", 1.2), numbers("Pays"), numbers("Exact probability", 2),
         numbers("Chance", 1.5)),
        [
            (plain_name(each.hand), each.rule, money(each.envy_cents), each.chance.exact,
             each.chance.one_in)
            for each in odds.envy
        ],
    )  # fmt: skip


def _shared(odds: WagerOdds) -> ReportSection:
    return ReportSection(
        "Players who divide a jackpot on the dealer's hand",
        (numbers("Players"), numbers("House edge", 1.5), numbers("Exactly", 4),
         numbers("Long run", 1.5), numbers("Break-even", 2)),
        [
            (str(each.players), percent(each.house_edge), exact(each.house_edge),
             percent(each.house_edge_long_run), money(each.break_even_cents))
            for each in odds.when_shared
        ],
    )  # fmt: skip
