from math import comb

from bonus.cards import DECK
from bonus.law.chapter_file import FourthCard, WagerTables
from bonus.odds.enumerations import Enumerator, all_hands, with_further_card
from bonus.odds.hand_payouts import PaidHand, comes_back, paid_hands, paytable_of
from bonus.odds.notes import mini_royal_cell, optional_note
from bonus.odds.odds_entries import OddsEntry, decimal, exact
from bonus.odds.offers import Offer


def optional_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    """Return the odds of an optional wager that pays odds or fixed sums."""
    if tables.fourth_card:
        return _with_fourth_card(offer, tables, tables.fourth_card, counted)
    paytable = paytable_of(offer, tables.table, offer.paytable)
    groups = offer.chapter.deal.judged(tables.cards[tables.names.index(offer.wager)])
    deals = counted.get(all_hands(offer.ranking, groups)).deals
    hands = paid_hands(paytable, offer.ranking, deals)
    of = sum(deals.values())
    return _entry(offer, {"": hands}, of, (paytable.rule,))


def _with_fourth_card(
    offer: Offer, tables: WagerTables, fourth: FourthCard, counted: Enumerator
) -> OddsEntry:
    """Return the odds of a wager whose paytable the rank of the fourth card decides.

    679a.12(e), (f).
    """
    size = offer.chapter.deal.hand
    further = len(DECK) - size
    all_deals = counted.get(all_hands(offer.ranking, (size,))).deals
    deals = counted.get(with_further_card(tables, size, fourth.rank)).deals
    others = {hand: number * further - deals[hand] for hand, number in all_deals.items()}
    plain = paytable_of(offer, tables.table, None)
    chosen = paytable_of(offer, fourth.table, offer.paytable)
    of = comb(len(DECK), size) * further
    parts = {
        f"not a {fourth.rank}": paid_hands(plain, offer.ranking, others),
        f"a {fourth.rank}": paid_hands(chosen, offer.ranking, deals),
    }
    return _entry(offer, parts, of, (plain.rule, chosen.rule))


def _entry(
    offer: Offer, parts: dict[str, tuple[PaidHand, ...]], of: int, rules: tuple[str, ...]
) -> OddsEntry:
    """Return the odds of a wager from its hands.

    The keys of ``parts`` are texts about the fourth card, such as ``not a 2``; empty if the wager
    has none. ``of`` is the total number of deals.
    """
    paid = [hand for hands in parts.values() for hand in hands]
    edges = {cents: 1 - comes_back(paid, cents) / of for cents in offer.wagers_cents}
    edge = next(iter(edges.values()))
    sums = any(hand.payout.sum_cents for hand in paid)
    return OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=exact(edge),
        house_edge_decimal=decimal(edge),
        hands=tuple(hand.line(of, card) for card, hands in parts.items() for hand in hands),
        rule=", ".join(rules),
        mini_royal=mini_royal_cell(offer),
        reading=offer.reading,
        house_edge_by_wager=(
            {str(cents): exact(each) for cents, each in edges.items()} if sums else {}
        ),
        note=optional_note(offer, set(rules), sums=sums),
        tables=offer.at,
    )
