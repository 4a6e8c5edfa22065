"""What a paytable pays for each hand."""

from collections.abc import Iterable
from dataclasses import dataclass

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import PrintedTable
from bonus.law.paytables import (
    Payout,
    Paytable,
    chosen_of,
    rows_of,
    with_mini_royal,
)
from bonus.odds.hand_counts import Counts
from bonus.odds.odds_entries import HandLine
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
