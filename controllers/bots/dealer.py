"""Decks and deals of simulated tables, under 649a.8(d), 679a.8(c) and 682a.8(c)."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bonus.cards import DECK, Card


@dataclass(frozen=True, slots=True)
class DealtRound:
    """The cards on the table after the deal.

    `fourth` has the additional card of each position with a Pair Bonus wager, `all_six` the All-Six
    Bonus card. What was not dealt is None.
    """

    hands: Mapping[int, tuple[Card, ...]]
    dealer: tuple[Card, ...]
    community: tuple[Card, ...] | None = None
    fourth: Mapping[int, Card] = field(default_factory=dict)
    all_six: Card | None = None


@dataclass(frozen=True, slots=True)
class StackedHand:
    """Cards that a stacked deck deals to one player, to the dealer, and as community cards."""

    hand: tuple[Card, ...] = ()
    dealer: tuple[Card, ...] = ()
    community: tuple[Card, ...] = ()
    all_six: Card | None = None

    @property
    def cards(self) -> tuple[Card, ...]:
        all_six = () if self.all_six is None else (self.all_six,)
        return (*self.hand, *self.dealer, *self.community, *all_six)


def shuffle(rng: random.Random) -> list[Card]:
    """Return a shuffled deck, in the order in which it is dealt."""
    deck = list(DECK)
    rng.shuffle(deck)
    return deck


def stack(
    rng: random.Random,
    stacked: StackedHand,
    positions: Sequence[int],
    winner: int,
    *,
    hand_cards: int = 3,
    dealer_cards: int = 3,
    all_six: bool = False,
) -> list[Card]:
    """Return a deck for `deal` with which the position `winner` receives the cards of a hand."""
    # If the deck is dealt in its own order, each card is the number of its turn.
    turns = deal(
        DECK,
        positions,
        community=len(stacked.community),
        hand_cards=hand_cards,
        dealer_cards=dealer_cards,
        all_six=all_six,
    )
    places = StackedHand(
        turns.hands[winner][: len(stacked.hand)],
        turns.dealer[: len(stacked.dealer)],
        turns.community or (),
        None if stacked.all_six is None else turns.all_six,
    )
    deck = shuffle(rng)
    for turn, card in zip(places.cards, stacked.cards, strict=True):
        other = deck.index(card)
        deck[turn], deck[other] = deck[other], deck[turn]
    return deck


def deal(
    deck: Sequence[Card],
    positions: Sequence[int],
    *,
    community: int,
    hand_cards: int = 3,
    dealer_cards: int = 3,
    fourth: Collection[int] = (),
    all_six: bool = False,
) -> DealtRound:
    """Deal cards one at a time, clockwise from position 1; the dealer is last.

    The dealer's cards in excess of `hand_cards`, and then the `community` cards, are dealt after
    the hands (649a.8(d)). The positions in `fourth` receive an additional card (679a.8(c)). An
    All-Six Bonus card comes before all other cards (682a.8(c)).
    """
    hands: dict[int, list[Card]] = {position: [] for position in sorted(positions)}
    dealer: list[Card] = []
    cards = iter(deck)
    all_six_card = next(cards) if all_six else None
    for _ in range(hand_cards):
        for hand in hands.values():
            hand.append(next(cards))
        if len(dealer) < dealer_cards:
            dealer.append(next(cards))
    while len(dealer) < dealer_cards:
        dealer.append(next(cards))
    shared = tuple(next(cards) for _ in range(community)) if community else None
    return DealtRound(
        {position: tuple(hand) for position, hand in hands.items()},
        tuple(dealer),
        shared,
        {position: next(cards) for position in sorted(fourth)},
        all_six_card,
    )
