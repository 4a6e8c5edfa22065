"""The payouts of 649a.12, as the fixtures of `tests.law` have the printed tables.

Rows that pay nothing are left out. Odds are the number before "to 1" or "for 1"; amounts of
Envy Bonuses and of the Super Royal are cents. The terms of a meter over time, its seed, its reseed
and the part of each wager that raises it, are here for `tests.model` and `tests.chaos` as well.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from tests.law.printed_tables import NAMES, printed_cells

Table = dict[str, int]


def printed(subsection: str, form: str, amount: str | None = None) -> dict[str, Table]:
    """Return the cells of a table that have a form, by paytable; the form has the number."""
    tables: dict[str, Table] = {}
    for cell in printed_cells(subsection.partition(".")[0]):
        if (cell.subsection, cell.amount) == (subsection, amount):
            found = re.fullmatch(form, cell.cell.replace(",", ""))
            for name in NAMES[cell.hand] if found else ():
                tables.setdefault(cell.letter or "", {})[name] = int(found[1])  # type: ignore[index]
    return tables


TO_1, FOR_1, PERCENT, SUM, RATE = (
    r"(\d+) to 1", r"\$?(\d+)(?: for 1)?", r"(\d+)% of meter", r"\$(\d+)", r"(\d+)%",
)  # fmt: skip
ANTE_BONUS = {
    f"{table}-{letter}": odds
    for table in "bc"
    for letter, odds in printed(f"649a.12({table})", TO_1).items()
}
PAIR_PLUS = printed("649a.12(d)", TO_1)
SIX_CARD_BONUS = printed("649a.12(f)", TO_1)
SUPER_ROYALS = printed("649a.12(f)", SUM)["E"]
SUPER_ROYAL_DIAMONDS_CENTS = SUPER_ROYALS["super_royal_diamonds"] * 100
SUPER_ROYAL_CENTS = SUPER_ROYALS["super_royal"] * 100


@dataclass(frozen=True)
class MeterLaw:
    """The chapter's terms of one meter.

    Attributes:
        percent: hands that win so many percent of the meter.
        for_1: hands that win so many times the wager.
        seed, reseed: how many times the wager.
        primary, reserve: percent of each wager that goes to the meter and to its reserve. Where
            there is a reserve, the meter restarts from it.
        envy_cents: by the wager's cents, what a hand brings each other player with the wager.
        paid_from: where payouts come from that are no percentage.
        above: how many times the wager a meter of the house has when its rates change to the next
            two; 0 if they do not.
    """

    percent: Table
    for_1: Table
    seed: int
    reseed: int
    primary: int | Fraction
    reserve: int | Fraction = 0
    envy_cents: dict[int, Table] = field(default_factory=dict)
    paid_from: str = "table_inventory"
    above: int = 0
    primary_above: int | Fraction = 0
    reserve_above: int | Fraction = 0

    def shown(self, hand: str) -> str:
        """Return the hand that the table names. A royal that it does not name is a plain royal."""
        if hand == "royal_flush_spades" and hand not in self.percent:
            return "royal_flush"
        return hand


def _law(
    payouts: str, terms: str, envy: str | None, letter: str = "", paid_from: str = "table_inventory"
) -> MeterLaw:
    seeds, rates = printed(terms, FOR_1)[letter], printed(terms, RATE)[letter]
    return MeterLaw(
        percent=printed(payouts, PERCENT)[letter],
        for_1=printed(payouts, FOR_1)[letter],
        seed=seeds["seed"],
        reseed=seeds["reseed"],
        primary=rates["primary"],
        reserve=rates.get("reserve", 0),
        envy_cents={
            dollars * 100: {
                hand: sum_dollars * 100
                for hand, sum_dollars in printed(envy, SUM, f"${dollars}")[""].items()
            }
            for dollars in (1, 5)
        }
        if envy
        else {},
        paid_from=paid_from,
    )


PROGRESSIVE = {
    letter: _law("649a.12(e)(1)", "649a.12(e)(3)", "649a.12(e)(5)", letter) for letter in "AB"
}
FIVE_CARD = _law("649a.12(h)(1)", "649a.12(h)(3)", "649a.12(h)(5)")
HAND_BONUS = _law("649a.12(i)(1)", "649a.12(i)(4)", None, paid_from="game_account")
FIVE_OF_SIX = _law("649a.12(j)(1)", "649a.12(j)(3)", "649a.12(j)(5)")
METERS: dict[str, MeterLaw] = {
    "five_card_progressive": FIVE_CARD,
    "five_of_six_progressive": FIVE_OF_SIX,
    "five_card_hand_bonus": HAND_BONUS,
}
"""The meters whose paytable is not chosen."""

METER_OF = {
    "progressive": "progressive",
    "five_card_progressive": "five_card_progressive",
    "five_of_six_progressive": "five_of_six_progressive",
    "five_card_hand_bonus": "five_card_hand_bonus",
    "five_card_hand_bonus_dealer": "five_card_hand_bonus",
}
"""The meter that each wager feeds."""

MAGIC_CARD, LUCKY_BONUS = printed("649a.12(i)(3)", FOR_1)[""].values()
