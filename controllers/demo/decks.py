"""Decks, sometimes stacked, and deals of simulated tables (649a.8(d), 679a.8(c), 682a.8(c)).

A game whose results are not cards has random results instead of a deck.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, NamedTuple

from bonus.cards import DECK, JOKER, RANKS, SUITS, Card, rank_of, suit_of
from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import DEALERS_ALONE, OF_COMMUNITY, OF_DEALER, Chapter, Deal
from bonus.law.game_rankings import deck_of, ranking_of
from bonus.law.results import chances_of
from controllers.table.state import Layout

_DRAWS_MAX: Final = 20_000
"""Limit on the draws of similar cards. A royal flush of spades takes 720 draws on average."""
_WAYS: Final = 10**12
"""A random result is drawn from so many equally likely numbers."""
_RANKS_FEWEST: Final = 2
_RANKS_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class DealtRound:
    """The cards on the table after the deal; None for cards that were not dealt.

    `fourth` has the additional card of each position with a Pair Bonus wager; `all_six` is the
    All-Six Bonus card.
    """

    hands: Mapping[int, tuple[Card, ...]]
    dealer: tuple[Card, ...]
    community: tuple[Card, ...] | None = None
    fourth: Mapping[int, Card] = field(default_factory=dict)
    all_six: Card | None = None


class StackedCards(NamedTuple):
    """Cards for a stacked deck, and how many of them each pile receives, in this order."""

    cards: Sequence[Card]
    hand: int
    dealer: int
    community: int
    all_six: int


def shuffle(rng: random.Random, decks: int, jokers: int = 0) -> list[Card]:
    cards = [*DECK] * decks + [JOKER] * jokers
    rng.shuffle(cards)
    return cards


def stack(
    rng: random.Random,
    stacked: StackedCards,
    positions: Sequence[int],
    winner: int,
    of: Deal,
    *,
    all_six: bool = False,
) -> list[Card]:
    """Return a deck with which `deal` gives the stacked cards to their piles.

    The position `winner` gets the stacked hand.
    """
    # Each of these cards has its turn as its number.
    others = shuffle(rng, of.decks, of.jokers)
    numbered = [*map(Card, range(len(others)))]
    turns = deal(numbered, positions, of, community=stacked.community > 0, all_six=all_six)
    places = [
        *turns.hands[winner][: stacked.hand],
        *turns.dealer[: stacked.dealer],
        *(turns.community or ())[: stacked.community],
    ]
    if stacked.all_six and turns.all_six is not None:
        places.append(turns.all_six)
    for card in stacked.cards:
        others.remove(card)
    chosen = dict(zip(places, stacked.cards, strict=True))
    return [chosen[turn] if turn in chosen else others.pop() for turn in numbered]


def deal(
    deck: Sequence[Card],
    positions: Sequence[int],
    of: Deal,
    *,
    community: bool,
    fourth: Collection[int] = (),
    all_six: bool = False,
) -> DealtRound:
    """Deal cards one at a time, clockwise from position 1; the dealer is last.

    If the dealer's hand has more cards than a player's hand, the dealer gets the other cards after
    all hands. Then the community cards are dealt (649a.8(d)). The positions in `fourth` receive an
    additional card (679a.8(c)). An All-Six Bonus card is dealt before all other cards (682a.8(c)).
    """
    hands: dict[int, list[Card]] = {position: [] for position in sorted(positions)}
    dealer: list[Card] = []
    cards = iter(deck)
    all_six_card = next(cards) if all_six else None
    for _ in range(of.hand):
        for hand in hands.values():
            hand.append(next(cards))
        if len(dealer) < of.dealer:
            dealer.append(next(cards))
    while len(dealer) < of.dealer:
        dealer.append(next(cards))
    shared = tuple(next(cards) for _ in range(of.community)) if community else None
    return DealtRound(
        {position: tuple(hand) for position, hand in hands.items()},
        tuple(dealer),
        shared,
        {position: next(cards) for position in sorted(fourth)},
        all_six_card,
    )


def exchange_cards(dealt: DealtRound, deck: Sequence[Card], of: Deal) -> DealtRound:
    """Let each position exchange cards for the next cards of the deck, after `deal`."""
    rest = iter(deck[of.hand * len(dealt.hands) :])
    kept = {position: kept_cards(cards, of.exchange) for position, cards in dealt.hands.items()}
    hands = {
        position: (*cards, *(next(rest) for _ in range(of.hand - len(cards))))
        for position, cards in kept.items()
    }
    return replace(dealt, hands=hands)


def kept_cards(cards: Sequence[Card], exchange: int) -> tuple[Card, ...]:
    """Return the cards that a simulated player keeps, by a simple rule that is not the best.

    The player keeps cards of equal ranks, and hands of which every card is part. Otherwise, the
    player keeps the cards of a flush that lacks one card, or the two highest cards.
    """
    ranking = "three_card" if len(cards) == 3 else "five_card"
    ranks = Counter(map(rank_of, cards))
    suits = Counter(map(suit_of, cards))
    kept = [card for card in cards if ranks[rank_of(card)] > 1]
    if not kept:
        suit, suited = suits.most_common(1)[0]
        if RANKINGS[ranking].of(cards) != "high_card":
            kept = [*cards]
        elif suited == len(cards) - 1:
            kept = [card for card in cards if suit_of(card) == suit]
    others = sorted((card for card in cards if card not in kept), key=rank_of, reverse=True)
    least = max(len(cards) - exchange, len(kept) or 2)
    return (*kept, *others[: least - len(kept)])


def random_results(
    rng: random.Random, game: Chapter, positions: Sequence[int], forced: tuple[int, str] | None
) -> DealtRound:
    """Return a random result for each position, or one for the table, each with its chance.

    `forced` is a position and its result, which is the table's result if the table has one.
    """
    numbers, chances = deck_of(game).numbers, chances_of(game)

    def result(position: int) -> tuple[Card, ...]:
        if forced and (forced[0] == position or game.deal.dealer):
            return (numbers[forced[1]],)
        at = Fraction(rng.randrange(_WAYS), _WAYS)
        for name, chance in chances.items():
            if at < chance:
                return (numbers[name],)
            at -= chance
        raise ValueError("the chances of the results are below 1")

    own = game.deal.hand > 0
    return DealtRound(
        {position: result(position) if own else () for position in sorted(positions)},
        () if own else result(0),
    )


def jackpot_hands(layout: Layout, wager: str) -> tuple[str, ...]:
    """Return the hands with which a wager wins a part of a meter, or brings others something."""
    terms = layout.terms.get(layout.rules.meters.meter_of.get(wager, ""))
    if terms is None:
        return ()
    return tuple(hand for hand, row in terms.rows.items() if row.percents or row.brings)


def stacked_hand(
    layout: Layout,
    wager: str,
    hand: str,
    rng: random.Random,
    plays: Callable[[Sequence[Card]], bool],
) -> StackedCards | None:
    """Return random cards that form `hand` in the ranking of the wager; None if none are found.

    `plays` returns whether a player with these cards in the hand stays in the round.
    """
    tables = layout.rules.meters.terms[wager]
    of = tables.cards[tables.names.index(wager)]
    judge = ranking_of(layout.rules.chapter, tables.ranking).of
    community = tables.community_cards or layout.deal.community
    sizes = (
        0 if of in DEALERS_ALONE else layout.deal.hand,
        layout.deal.dealer if of in OF_DEALER else 0,
        community if of in OF_COMMUNITY else 0,
        1 if of == "hand_and_all_six" else 0,
    )
    for _ in range(_DRAWS_MAX):
        cards = _similar_cards(rng, sum(sizes), layout.deal)
        own = cards[: sizes[0]]
        if judge(cards) == hand and (not own or plays(own)):
            return StackedCards(cards, *sizes)
    return None


def _similar_cards(rng: random.Random, count: int, of: Deal) -> list[Card]:
    """Return random cards of a few adjacent ranks and a few suits, which form high hands.

    If these are fewer than `count` cards, any other cards are added. A joker can be among them.
    """
    decks, jokers = of.decks, [JOKER] * of.jokers
    ranks = rng.randint(_RANKS_FEWEST, _RANKS_MOST + of.jokers)
    lowest = rng.randint(0, len(RANKS) - ranks)
    suits = rng.sample(range(len(SUITS)), rng.randint(1, len(SUITS)))
    similar = [
        card for card in DECK if lowest <= rank_of(card) < lowest + ranks and suit_of(card) in suits
    ]
    similar = similar * decks + jokers
    cards = rng.sample(similar, min(count, len(similar)))
    others = [card for card in (*DECK, *jokers) if card not in cards] * decks
    cards += rng.sample(others, count - len(cards))
    rng.shuffle(cards)
    return cards
