"""Rules of a wager for a submission: its citations, and the cells of its chosen paytable."""

from collections.abc import Iterator, Mapping
from typing import Final

from bonus.display import money
from bonus.law.chapter_file import CardsOf, Main, WagerTables
from bonus.odds.hand_payouts import choose
from bonus.odds.odds_entries import HandLine
from bonus.odds.offers import Offer
from meters.submission.contents import RuleCell, WagerRule

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
