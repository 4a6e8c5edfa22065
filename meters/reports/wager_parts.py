"""A wager of a submission as a part of its PDF: facts, hands, odds and meters."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bonus.display import money, short_money
from bonus.odds.odds_entries import exact
from bonus.odds.odds_words import GameNames, percent, plain_name
from meters.reports.report_document import Fact, ReportPart, ReportSection, Row, columns
from meters.reports.submission_contents import GameFiling, WagerFiling, WagerOdds


def wager_part(game: GameFiling, wager: WagerFiling) -> ReportPart:
    paytable = f", paytable {wager.paytable}" if wager.paytable else ""
    names = GameNames({}, game.titles)
    results = bool(game.results)
    sections = [*_game_sections(names, wager, results=results), *_odds_sections(names, wager.odds)]
    facts = list(_facts(game, wager))
    return ReportPart("", f"{game.title}: {wager.title}{paytable}", facts, sections)


def _facts(game: GameFiling, wager: WagerFiling) -> Iterator[Fact]:
    odds = wager.odds
    yield "Name in files", wager.wager
    yield "Tables", ", ".join(wager.tables)
    if wager.wager_cents is not None:
        yield "Wager", short_money(wager.wager_cents)
    if wager.feeds:
        fed = (f"{game.titles[each.kind]} of link {each.link}" for each in wager.feeds)
        yield "Feeds", ", ".join(fed)
    yield from _edge_facts(odds)
    yield "Hit frequency", f"{odds.hit_frequency.one_in}, exactly {odds.hit_frequency.exact}"
    if odds.envy_return:
        yield "Envy Bonuses", f"{_share(odds.envy_return)} for each other player"
    if folding := odds.when_folding:
        yield (
            "If the player folds",
            (
                f"{_share(folding.house_edge)} at the seed, and"
                f" {_share(folding.house_edge_long_run)} in the long run, under the optimal"
                " strategy of the game;"
                f" {_break_even(folding.break_even_cents, folding.break_even_with_envy_cents)}"
            ),
        )
    for draw in odds.draws:
        often = f"one round in {draw.every:,}" if draw.every else "never drawn"
        yield draw.name, f"{draw.pays} ({draw.rule}), {often}, returns {_share(draw.returns)}"
    if strategy := odds.against_dealer:
        yield "Element of risk", _share(strategy.element_of_risk)
        yield "Average wager", f"{strategy.average_wager} of the first wager"
        yield "Optimal strategy", " ".join(strategy.strategy)
    if odds.notes:
        yield "Notes", odds.notes


def _edge_facts(odds: WagerOdds) -> Iterator[Fact]:
    of = " of the first wager" if odds.against_dealer else " of the wager"
    if odds.meters:
        of += ", with each meter at its seed and the contributions lost"
    yield "House edge", f"{_share(odds.house_edge)}{of}"
    if lasting := odds.long_run:
        # Envy Bonuses that are percentages of a meter are paid from what players have wagered.
        only_shares = odds.envy and all(each.share for each in odds.envy)
        less = "" if only_shares else "; Envy Bonuses reduce it"
        yield "House edge, long run", f"{_share(lasting.house_edge)} of the wager{less}"
        yield "Paid at odds", f"{_share(lasting.fixed_return)}, with fixed sums and draws"
        added = "with their reserves: players win all of it later"
        yield "Added to meters", f"{_share(lasting.contributions)}, {added}"
        paid = "paid by the house when a whole meter is won"
        yield "Reseeds", f"{_share(lasting.reseeds)}, {paid}"
    for each in odds.house_edge_by_amount:
        words = _share(each.house_edge)
        if each.house_edge_long_run:
            words += f"; in the long run {_share(each.house_edge_long_run)}"
        yield f"with {short_money(each.wager_cents)}", words


def _share(share: Fraction) -> str:
    return f"{percent(share)}, exactly {exact(share)}"


def _break_even(alone_cents: int, with_envy_cents: Sequence[int]) -> str:
    envy = ", ".join(map(money, with_envy_cents))
    return f"break-even {money(alone_cents)}" + (
        f"; with Envy Bonuses, for 1, 2 and more other players: {envy}" if envy else ""
    )


def _game_sections(
    names: GameNames, wager: WagerFiling, *, results: bool
) -> Iterator[ReportSection]:
    yield ReportSection(
        "Rules",
        columns("Subject 1.5 | Text 4 | Rule 1.5"),
        [(plain_name(each.subject), plain_name(each.text), each.rule) for each in wager.rules],
    )
    title, deals = "Paytable, with the deals of each hand", " | >Deals 1.1 | >of 1.2"
    if results:
        title, deals = "Paytable, with the chance of each result", ""
    yield ReportSection(
        title,
        columns(f"Hand 1.9 | Pays as 1.9 | Cell 2.2 | Rule 1.1{deals} | >Chance 1.4"),
        list(_hand_rows(names, wager, results=results)),
    ).only_used
    if wager.odds.against_dealer:
        yield ReportSection(
            "Outcomes under the optimal strategy",
            columns("Outcome 2 | >Deals 1 | >of 1 | >Chance 1"),
            [
                (plain_name(one.outcome), f"{one.combinations:,}", f"{one.of:,}", one.chance.one_in)
                for one in wager.odds.against_dealer.outcomes
            ],
        )


def _hand_rows(names: GameNames, wager: WagerFiling, *, results: bool) -> Iterator[Row]:
    several = any(cell.item != wager.wager for hand in wager.hands for cell in hand.cells)
    for hand in wager.hands:
        name = ", ".join(filter(None, (plain_name(hand.hand), hand.fourth_card)))
        deals = () if results else (f"{hand.combinations:,}", f"{hand.of:,}")
        figures = (*deals, hand.chance.one_in)
        if not hand.cells:
            yield (name, "", "nothing", "", *figures)
        for cell in hand.cells:
            pays_as = plain_name(cell.item) if several else ""
            yield (name, pays_as, names.cell(cell.pays), cell.rule, *figures)
            name, figures = "", tuple("" for _ in figures)


def _odds_sections(names: GameNames, odds: WagerOdds) -> Iterator[ReportSection]:
    if odds.awards:
        yield ReportSection(
            "Hands that win a percentage of a meter",
            columns(
                "Hand 2 | Rule 1.2 | Meter 2 | >Percentage 1 | >Exact probability 2 | >Chance 1.5"
            ),
            [
                (
                    plain_name(each.hand),
                    each.rule,
                    names.meter(each.meter),
                    f"{each.percent}%",
                    each.chance.exact,
                    each.chance.one_in,
                )
                for each in odds.awards
            ],
        )
    if odds.meters:
        yield from _meter_sections(names, odds)
    if odds.envy:
        yield ReportSection(
            "Envy Bonuses, for each other player with the wager",
            columns("Hand 2 | Rule 1.2 | >Pays 1 | >Exact probability 2 | >Chance 1.5"),
            [
                (
                    plain_name(each.hand),
                    each.rule,
                    names.cell(each.share) or money(each.envy_cents),
                    each.chance.exact,
                    each.chance.one_in,
                )
                for each in odds.envy
            ],
        )
    if odds.when_shared:
        yield ReportSection(
            "Players who divide a jackpot on the dealer's hand",
            columns(">Players 1 | >House edge 1.5 | >Exactly 4 | >Long run 1.5 | >Break-even 2"),
            [
                (
                    str(each.players),
                    percent(each.house_edge),
                    exact(each.house_edge),
                    percent(each.house_edge_long_run),
                    money(each.break_even_cents),
                )
                for each in odds.when_shared
            ],
        )


def _meter_sections(names: GameNames, odds: WagerOdds) -> Iterator[ReportSection]:
    yield ReportSection(
        "Return of each meter",
        columns("Meter 2 | >Seed 1.5 | >Returns at the seed 1.5 | >Exactly 3"),
        [
            (
                names.meter(each.meter),
                money(each.seed_cents),
                percent(each.return_at_seed),
                exact(each.return_at_seed),
            )
            for each in odds.meters
        ],
    )
    yield ReportSection(
        "Probability to win each meter",
        columns("Meter 2 | >In part or whole 1.5 | >Exactly 2 | >Whole 1.5 | >Exactly 2"),
        [
            (
                names.meter(each.meter),
                each.hit_chance.one_in,
                each.hit_chance.exact,
                each.whole_chance.one_in if each.whole_chance else "never",
                each.whole_chance.exact if each.whole_chance else "",
            )
            for each in odds.meters
        ],
    )
    alone = "Without Envy Bonuses" if odds.envy else "Break-even"
    yield ReportSection(
        "Break-even of each meter",
        columns(
            "Meter 2 | With Envy Bonuses, for 1, 2 and more other players 4"
            f" | >{alone} 1.7 | >Share won by a wager 2"
        ),
        [
            (
                names.meter(each.meter),
                ", ".join(map(money, each.break_even_with_envy_cents)),
                money(each.break_even_cents),
                each.meter_return,
            )
            for each in odds.meters
        ],
    ).only_used
