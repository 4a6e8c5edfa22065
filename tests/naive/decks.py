"""Decks for random rounds: well shuffled, or stacked so that rare hands are frequent."""

from itertools import product
from random import Random

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK = [rank + suit for rank, suit in product(RANKS, SUITS)]


def suited_run(rng: Random) -> list[str]:
    """Return six to nine neighboring cards of one suit, half of the time up to the ace."""
    size = rng.randint(6, 9)
    low = 13 - size if rng.random() < 0.6 else rng.randint(0, 13 - size)
    suit = rng.choice(SUITS)
    return [rank + suit for rank in RANKS[low : low + size]][::-1]


def low_run(rng: Random) -> list[str]:
    suits = rng.sample(SUITS, rng.randint(1, 2))
    return [rank + suit for suit in suits for rank in "A23456"]


def whole_ranks(rng: Random) -> list[str]:
    """Return all cards of two to four ranks: quads, full houses, trips against trips."""
    ranks = rng.sample(RANKS, rng.randint(2, 4))
    if rng.random() < 0.4:
        ranks[0] = "A"
    return [rank + suit for rank in dict.fromkeys(ranks) for suit in SUITS]


def neighbours(rng: Random) -> list[str]:
    """Return all cards of three or four neighboring ranks: straights, straight flushes, ties."""
    size = rng.randint(3, 4)
    low = 13 - size if rng.random() < 0.5 else rng.randint(0, 13 - size)
    return [rank + suit for rank in RANKS[low : low + size] for suit in SUITS]


def mini_royals(rng: Random) -> list[str]:
    return [rank + suit for suit in rng.sample(SUITS, rng.randint(2, 4)) for rank in "AKQ"]


def same_color(rng: Random) -> list[str]:
    suits = rng.choice(["dh", "cs"])
    return [card for card in DECK if card[1] in suits]


def one_suit(rng: Random) -> list[str]:
    suit = rng.choice(SUITS)
    return [card for card in DECK if card[1] == suit]


def low_dealer(rng: Random) -> list[str]:
    """Return small cards, with which the dealer is likely not to qualify."""
    return rng.sample([card for card in DECK if card[0] in "23456789TJ"], 12)


STACKS = (
    suited_run, suited_run, low_run, whole_ranks, neighbours, mini_royals, same_color, one_suit,
    low_dealer,
)  # fmt: skip


def random_deck(rng: Random) -> list[str]:
    """Return the 52 cards, shuffled much or little. Half of the decks have a stack on top."""
    rest = DECK.copy()
    rng.shuffle(rest)
    if rng.random() < 0.5:
        return rest
    stack = rng.choice(STACKS)(rng)
    how = rng.random()
    if how < 0.4:
        rng.shuffle(stack)
    elif how < 0.7:
        # Two cards change places: all but a few hands stay what they were.
        first, second = rng.randrange(len(stack)), rng.randrange(len(stack))
        stack[first], stack[second] = stack[second], stack[first]
    return stack + [card for card in rest if card not in stack]


def deal(rng: Random, sizes: dict[str, int]) -> dict[str, list[str]]:
    """Deal hands of given sizes. The order in which they come off the deck is random too."""
    deck = random_deck(rng)
    names = list(sizes)
    rng.shuffle(names)
    dealt: dict[str, list[str]] = {}
    for name in names:
        hand, deck = deck[: sizes[name]], deck[sizes[name] :]
        rng.shuffle(hand)
        dealt[name] = hand
    return dealt
