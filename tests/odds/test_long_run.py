"""The long run: players win what their wagers add to a meter, and the house pays the reseeds."""

from fractions import Fraction
from math import sqrt
from random import Random

import pytest

from bonus.law.chapter_file import Chapter
from bonus.law.games import read_chapter
from bonus.odds.enumerations import Enumerator
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from tests.rules.test_chapters import PRINTED

MICROS = 10_000
"""Micros in a cent."""


ABOVE = """
[wager.table.progression.above]
amount = "$120 for 1"
primary = "10%"
reserve = "21%"
"""


def often_won(reseed: str, above: str) -> Chapter:
    """Return chapter 649a with a meter that is won often, in part by a flush, and has a reserve."""
    text = PRINTED["649a"].read_text("utf-8")
    for was, becomes in (
        ('["100% of meter", "100% of meter"]\nmini_royal =', '"100% of meter"\nmini_royal ='),
        ('["500 for 1", "500 for 1"]', '"100% of meter"'),
        ('["70 for 1", "100 for 1"]', '"100% of meter"'),
        ('["60 for 1", "90 for 1"]', '"10% of meter"'),
        ('["6 for 1", "N/A"]', '"2 for 1"'),
        ('choices = ["A", "B"]\n[wager.table.pays]\nmini', "[wager.table.pays]\nmini"),
        ('["$1,000 for 1", "$1,000 for 1"]\nr', '"$100 for 1"\nr'),
        ('["$1,000 for 1", "$1,000 for 1"]\np', f'"{reseed}"\np'),
        ('["14%", "20%"]\n', f'"23%"\nreserve = "8%"\n{above}'),
    ):
        assert was in text, was
        text = text.replace(was, becomes, 1)
    return read_chapter(text)


@pytest.mark.slow
@pytest.mark.parametrize(("reseed", "above"), [("$40 for 1", ""), ("$0", ""), ("$40 for 1", ABOVE)])
def test_wagers_at_random_lose_the_edge_of_the_long_run(
    reseed: str, above: str, counted: Enumerator
) -> None:
    """A meter is played for a long time, in cash, and the house keeps the edge of the long run.

    What the players win of the meter is what they added, the seed and the reseeds, less what it
    holds at the end. So the error has two parts: the luck of payouts at odds and of reseeds, whose
    variance for one wager is known, and the seed and the amount at the end, which are shared by
    all wagers.
    """
    offers = offers_of(often_won(reseed, above), {"ante_bonus": 5, "pair_plus": 40}, DrawOdds())
    entry = entry_of(next(each for each in offers if each.wager == "progressive"), counted)
    wager_cents, wagers, rng = 100, 400_000, Random(649)
    reseed_cents = 4_000 if "40" in reseed else 0
    lines = {line.hand: line for line in entry.hands}
    whole = {hand for hand, line in lines.items() if line.pays == "100% of meter"}
    part = {hand for hand, line in lines.items() if line.pays == "10% of meter"}
    odds_cents = dict.fromkeys(lines, 0) | {"straight": 2 * wager_cents}
    assert lines["straight"].pays == "2 for 1"
    meter_micros, reserve_micros, paid_cents = 10_000 * MICROS, 0, 0
    weights = [line.combinations for line in lines.values()]
    for hand in rng.choices(list(lines), weights, k=wagers):
        rates = (10, 21) if above and meter_micros >= 12_000 * MICROS else (23, 8)
        meter_micros += wager_cents * MICROS * rates[0] // 100
        reserve_micros += wager_cents * MICROS * rates[1] // 100
        percent = 100 if hand in whole else 10 if hand in part else 0
        won_cents = meter_micros * percent // (100 * MICROS)
        meter_micros -= won_cents * MICROS
        paid_cents += won_cents + odds_cents[hand]
        if hand in whole:
            meter_micros += reseed_cents * MICROS + reserve_micros
            reserve_micros = 0
    kept = 1 - Fraction(paid_cents, wagers * wager_cents)
    of = entry.hands[0].of
    costs = {hand: odds_cents[hand] + (reseed_cents if hand in whole else 0) for hand in lines}
    square = sum(lines[hand].combinations * cost * cost for hand, cost in costs.items())
    luck = sqrt(square / of / wagers) / wager_cents
    unpaid = (10_000 * MICROS + meter_micros + reserve_micros) / (MICROS * wager_cents * wagers)
    tolerance = 4 * luck + unpaid
    assert entry.long_run is not None
    assert abs(float(kept - Fraction(entry.long_run.house_edge))) < tolerance
    # The edge at the seed is another one, beyond any luck.
    assert abs(float(kept - Fraction(entry.house_edge))) > 5 * tolerance
