"""Cards for stacked decks: hands that win a percentage of a meter, in every game."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from bonus.cards import DECK, RANKS, SUITS, Card, rank_of, suit_of
from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import OF_COMMUNITY, OF_DEALER, CardsOf
from controllers.bots.dealer import StackedHand
from controllers.table.state import Layout

_TRIES: Final = 20_000
"""Limit of the tries to find the cards of a hand.

The rarest, the royal flush of spades, takes 720 tries on average.
"""
_RANKS_FEWEST: Final = 2
_RANKS_MOST: Final = 6


def jackpot_hands(layout: Layout, wager: str) -> tuple[str, ...]:
    """Return the hands with which a wager wins a percentage of a meter or brings an Envy Bonus.

    There are none if the table has no meter for the wager.
    """
    terms = layout.terms.get(layout.rules.meters.meter_of.get(wager, ""))
    if terms is None:
        return ()
    return tuple(hand for hand, row in terms.rows.items() if row.percents or row.envy_cents)


def stacked_hand(
    layout: Layout,
    wager: str,
    hand: str,
    rng: random.Random,
    plays: Callable[[Sequence[Card]], bool],
) -> StackedHand | None:
    """Return random cards that form `hand` in the ranking of the wager, if any are found.

    `plays` says whether a player with these cards does not fold.
    """
    tables = layout.rules.meters.terms[wager]
    of = tables.cards[tables.names.index(wager)]
    judge = RANKINGS[tables.ranking].of
    sizes = _sizes(layout, of)
    for _ in range(_TRIES):
        cards = _similar_cards(rng, sum(sizes))
        if judge(cards) == hand:
            stacked = _dealt_as(cards, sizes)
            if not stacked.hand or plays(stacked.hand):
                return stacked
    return None


def _sizes(layout: Layout, of: CardsOf) -> tuple[int, int, int, int]:
    return (
        0 if of == "dealer_and_community" else layout.hand_cards,
        layout.dealer_cards if of in OF_DEALER else 0,
        layout.community_cards if of in OF_COMMUNITY else 0,
        1 if of == "hand_and_all_six" else 0,
    )


def _dealt_as(cards: Sequence[Card], sizes: tuple[int, int, int, int]) -> StackedHand:
    hand, dealer, community, all_six = sizes
    rest = iter(cards)
    return StackedHand(
        tuple(next(rest) for _ in range(hand)),
        tuple(next(rest) for _ in range(dealer)),
        tuple(next(rest) for _ in range(community)),
        next(rest) if all_six else None,
    )


def _similar_cards(rng: random.Random, count: int) -> list[Card]:
    """Return random cards of a few adjacent ranks and a few suits, because they form high hands.

    If there are too few such cards, any others are added.
    """
    ranks = rng.randint(_RANKS_FEWEST, _RANKS_MOST)
    lowest = rng.randint(0, len(RANKS) - ranks)
    suits = rng.sample(range(len(SUITS)), rng.randint(1, len(SUITS)))
    similar = [
        card for card in DECK if lowest <= rank_of(card) < lowest + ranks and suit_of(card) in suits
    ]
    cards = rng.sample(similar, min(count, len(similar)))
    others = [card for card in DECK if card not in cards]
    cards += rng.sample(others, count - len(cards))
    rng.shuffle(cards)
    return cards
