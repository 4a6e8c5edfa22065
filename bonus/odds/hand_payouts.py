"""What a paytable pays for each hand, and what it keeps in the long run.

Every micro that a wager adds to a meter or its reserve is won by a player some day: what rounding
to the cent leaves stays on the meter. So these rates cost the house as much as payouts at odds do.
A win of the whole meter costs it the reseed. The seed is paid once, and counts for nothing over
many wagers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import PrintedTable
from bonus.law.paytables import (
    Payout,
    Paytable,
    Percent,
    Rates,
    chosen_of,
    read_rate_bps,
    read_seed,
    rows_of,
    with_mini_royal,
)
from bonus.odds.hand_counts import Counts
from bonus.odds.odds_entries import HandLine, LongRun, decimal, exact
from bonus.odds.offers import Offer


@dataclass(frozen=True, slots=True)
class PaidHand:
    """A row of a paytable, or a hand that it does not pay, and the number of deals with it.

    ``cell`` is empty if the paytable does not have the hand.
    """

    hand: str
    cell: str
    payout: Payout
    deals: int

    def line(self, of: int, fourth_card: str = "") -> HandLine:
        return HandLine(
            hand=self.hand,
            combinations=self.deals,
            of=of,
            pays=self.cell,
            fourth_card=fourth_card,
        )


def choose(printed: Iterable[PrintedTable], ranking: str, choice: str | None) -> Paytable:
    """Return the paytable of a choice; another name is refused with ValueError."""
    paytable = chosen_of(printed, RANKINGS[ranking].names, choice)
    if paytable is None:
        raise ValueError(f"no paytable is called {choice}")
    return paytable


def paytable_of(offer: Offer, printed: Iterable[PrintedTable], choice: str | None) -> Paytable:
    """Return the paytable of an offered wager, including the mini-royal if one is added."""
    paytable = choose(printed, offer.ranking, choice)
    return with_mini_royal(paytable, offer.mini_royal) if offer.mini_royal else paytable


def paid_hands(paytable: Paytable, ranking: str, deals: Counts) -> tuple[PaidHand, ...]:
    """Return every hand of a ranking with its payout, the highest hand first.

    Hands that share a row of the paytable are combined, such as a royal that is paid as a straight
    flush.
    """
    found: dict[str, PaidHand] = {}
    for hand, (name, payout) in rows_of(paytable, RANKINGS[ranking].names).items():
        so_far = found[name].deals if name in found else 0
        number = so_far + deals.get(hand, 0)
        found[name] = PaidHand(name, paytable.cells.get(name, ""), payout, number)
    return tuple(found.values())


def comes_back(hands: Iterable[PaidHand], wager_cents: int) -> Fraction:
    """Return the sum of payouts over all deals, in units of the wager.

    It includes returned wagers, but no percentage of a meter.
    """
    back = Fraction(0)
    for hand in hands:
        each = hand.payout.times + hand.payout.stake_back
        back += hand.deals * (each + Fraction(hand.payout.sum_cents, wager_cents))
    return back


_BPS = 10_000


def long_run(
    fixed_return: Fraction,
    hands: Sequence[PaidHand],
    of: int,
    rates: Mapping[str, Rates],
    *,
    shares: int = 1,
) -> LongRun:
    """Return the house edge in the long run, and its parts.

    ``fixed_return`` is the average payout besides percentages of meters, in units of the wager.
    ``rates`` are by meter; the name is empty if the wager feeds one. ``shares`` is the number of
    players who divide a win of the meter, and so cost one reseed.
    """
    added_bps = sum(
        read_rate_bps(each.primary) + read_rate_bps(each.reserve) for each in rates.values()
    )
    contributions = Fraction(added_bps, _BPS)
    reseeds = sum(
        (
            chance_of(hands, of, meter, 100) * read_seed(each.reseed) / shares
            for meter, each in rates.items()
        ),
        Fraction(0),
    )
    edge = 1 - fixed_return - contributions - reseeds
    return LongRun(
        house_edge=exact(edge),
        house_edge_decimal=decimal(edge),
        fixed_return=exact(fixed_return),
        contributions=exact(contributions),
        reseeds=exact(reseeds),
    )


def chance_of(hands: Sequence[PaidHand], of: int, meter: str, least: Percent) -> Fraction:
    """Return the probability that a wager wins ``least`` percent of a meter, or more."""
    deals = sum(hand.deals for hand in hands if percent_of(hand.payout, meter) >= least)
    return Fraction(deals, of)


def percent_of(payout: Payout, meter: str) -> Percent:
    """Return the percentage of a meter in a payout; the name of a wager's only meter is empty."""
    if not meter:
        return payout.percent
    return next((percent for name, percent in payout.percents if name == meter), 0)


def mini_royal_cell(offer: Offer) -> str:
    return f"{offer.mini_royal:,} to 1" if offer.mini_royal else ""


def main_note(offer: Offer, paytable: Paytable | None) -> str:
    notes = []
    versions = offer.chapter.version
    if paytable and versions:
        rule = versions[0].rule.rpartition("(")[0]
        which = "with" if paytable.version else "without"
        notes.append(f"This paytable is for tables {which} a version of {rule}.")
    return " ".join([*notes, *_limit(offer, {offer.chapter.main_game.odds_rule})])


def optional_note(offer: Offer, rules: set[str], *, sums: bool) -> str:
    """Return the notes about the house edge of an optional wager that feeds no meter.

    ``rules`` are the subsections of its paytables. ``sums`` is true if they pay fixed sums.
    """
    notes = []
    if offer.tables and offer.tables.forfeited:
        notes.append(
            f"A player who folds forfeits this wager ({offer.tables.forfeited}); the edge is for"
            " the paytable alone."
        )
    if sums:
        dollars = offer.wagers_cents[0] // 100
        notes.append(
            f"With fixed sums, the edge depends on the wager: it is for a ${dollars} wager."
        )
    return " ".join([*notes, *_limit(offer, rules)])


def _limit(offer: Offer, rules: set[str]) -> list[str]:
    limit = offer.chapter.limit
    if limit and rules & set(limit.covers):
        return [f"Without the aggregate payout limit of {limit.rule}."]
    return []
