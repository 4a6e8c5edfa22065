"""Texts that show patrons what each hand wins (duty D1).

The texts use the present terms of the link. The present terms include every change of a paytable
that one person proposed and another person confirmed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bonus.display import hand_words, short_money
from bonus.law.meter_terms import Row
from meters.floor.floor_file import Meter


@dataclass(frozen=True, slots=True)
class Pay:
    """A line of a paytable: a hand, its win, and its Envy Bonus for other players.

    A win that is not a percentage is an amount in dollars, for one wager of the meter.
    """

    hand: str
    wins: str
    envy: str


def pays_of(meter: Meter) -> Iterator[Pay]:
    """Yield one paytable line for each winning hand, highest hand first.

    The Magic Card and the Lucky Bonus, which are drawn by chance, come last.
    """
    for row in _paying(meter):
        wins = " + ".join(_wins(meter, row))
        yield Pay(hand_words(row.hand), wins, short_money(row.envy_cents) if row.envy_cents else "")
    terms = meter.terms
    if meter.magic_card_every:
        yield Pay("Magic Card", _dollars(meter, terms.magic_card_for_1), "")
    if meter.lucky_every:
        yield Pay("Lucky Bonus", _dollars(meter, terms.lucky_bonus_for_1), "")


def winners_of(meter: Meter) -> str:
    """Return the hands that win a percentage of the meter, as one line of text.

    A display can break the line between words, but not before a percentage.
    """
    won = [
        f"{hand_words(row.hand)}\N{NO-BREAK SPACE}{row.percent_of(meter.kind)}%"
        for row in _paying(meter)
        if row.percent_of(meter.kind)
    ]
    return "Wins: " + "; ".join(won)


def _paying(meter: Meter) -> Iterator[Row]:
    """Yield one paytable row for each hand that wins something from the meter.

    If a hand has several rows, only its first row is yielded. A wager can feed several meters. What
    it pays at odds is shown with the first of them only.
    """
    seen: set[str] = set()
    terms = meter.terms
    first = meter.games.meters.terms[terms.wagers[0]].fed[0] == meter.kind
    for row in terms.rows.values():
        fixed = first and (row.for_1 or row.sum_cents)
        if (row.percent_of(meter.kind) or fixed) and row.hand not in seen:
            seen.add(row.hand)
            yield row


def _wins(meter: Meter, row: Row) -> Iterator[str]:
    if percent := row.percent_of(meter.kind):
        yield f"{percent}% of the meter"
    if fixed_cents := row.fixed_cents(meter.wager):
        yield short_money(fixed_cents)


def _dollars(meter: Meter, for_1: int) -> str:
    """Return the text of a win in dollars: `for_1` times the wager of the meter."""
    return short_money(for_1 * meter.wager)
