"""Cards that win tiers in part and whole, also several at once, for games of all sizes of hands.

Each stack has the cards of positions and the cards that they share: the community cards, or the
dealer's if the game has none. A game takes as many as it deals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

DECK: Final = tuple(rank + suit for rank in "29364857TKJAQ" for suit in "cdhs")
"""All cards; the first ones form no high hand."""


class Deal(Protocol):
    @property
    def hand(self) -> int:
        """Cards of each position."""

    @property
    def dealer(self) -> int:
        """Cards of the dealer."""

    @property
    def community(self) -> int:
        """Community cards."""

    @property
    def results(self) -> tuple[str, ...]:
        """The results that take the place of cards; empty in a game of cards."""

    @property
    def decks(self) -> int:
        """How many decks are dealt."""


@dataclass(frozen=True)
class Stack:
    """Hands of two cards each that win together with the three `shared` cards.

    If a game deals fewer than three shared cards, the first hand has the rest of them.
    """

    hands: tuple[str, ...]
    shared: str


ROYAL: Final = Stack(("As Ks",), "Js Ts Qs")
STRAIGHT_FLUSH: Final = Stack(("9s 8s",), "Js Ts 7s")
STACKS: Final = (
    ROYAL,
    STRAIGHT_FLUSH,
    Stack(("Ah Kh", "9h 8h"), "Jh Th Qh"),
    Stack(("Qd 8d", "8c 7c"), "Jd Td 9d"),
    Stack(("9s 9d", "5c 5d"), "9h 9c 5s"),
    Stack(("4c 4d", "Ac Kc"), "4h Kd 4s"),
    Stack(("As Ks", "9s 8s"), "Js Ts Qs"),
    Stack(("6c 5c", "Jc Tc"), "9c 8c 7c"),
)
"""A stack with several hands wins several times in one round."""


@dataclass(frozen=True)
class Dealt:
    hands: Mapping[int, Sequence[str]]
    dealer: Sequence[str]
    community: Sequence[str]


def deal_stack(
    stack: Stack, deal: Deal, positions: Sequence[int], *, to_dealer: bool = False
) -> Dealt:
    """Deal a stack: the first positions have its hands, and all others have low cards.

    With `to_dealer`, the dealer has the first hand, and the first position what the dealer would
    have.
    """
    if deal.results:
        return _stacked_results(stack, deal, positions)
    if deal.decks > 1:
        return _stacked_decks(stack, deal, positions)
    if deal.hand == _SEVEN:
        return _stacked_sevens(stack, positions)
    shared = stack.shared.split()
    common = deal.community or deal.dealer
    hands = [hand.split() for hand in stack.hands]
    hands[0] += shared[common:]
    piles = {f"hand {position}": cards for position, cards in zip(positions, hands, strict=False)}
    piles["community" if deal.community else "dealer"] = shared[:common]
    if to_dealer:
        first = f"hand {positions[0]}"
        piles = {"dealer": hands[0], "community" if deal.community else first: shared[:common]}
    used = {card for cards in piles.values() for card in cards}
    low = iter([card for card in DECK if card not in used])

    def whole(pile: str, count: int) -> list[str]:
        cards = piles.get(pile, [])[:count]
        return [*cards, *(next(low) for _ in range(count - len(cards)))]

    community, dealer = whole("community", deal.community), whole("dealer", deal.dealer)
    return Dealt(
        {position: whole(f"hand {position}", deal.hand) for position in positions},
        dealer,
        community,
    )


_SEVEN: Final = 7
_BEST_SEVENS: Final = ("3s 4s 5s 6s 7s 8s 9s", "8d 9d Td Jk Qd Kd 7d")


def _stacked_sevens(stack: Stack, positions: Sequence[int]) -> Dealt:
    best = [hand.split() for hand in _BEST_SEVENS[: len(stack.hands)]]
    low = iter([card for card in DECK if not any(card in hand for hand in best)])
    rest = [[next(low) for _ in range(_SEVEN)] for _ in positions[len(best) :]]
    return Dealt(dict(zip(positions, [*best, *rest], strict=False)), [], [])


def _stacked_decks(stack: Stack, deal: Deal, positions: Sequence[int]) -> Dealt:
    """Return three equal cards, or three in a row of a suit, with the dealer's card."""
    shared = stack.shared.split()[0]
    suit, runs = shared[1], "A23456789TJQKA"
    at = runs.index(shared[0])
    best = ([shared] * 2, [runs[at + 1] + suit, runs[at + 2] + suit])
    hands = {
        position: (best[number] if number < len(stack.hands) else ["2c", "2d"])[: deal.hand]
        for number, position in enumerate(positions)
    }
    return Dealt(hands, [shared] * deal.dealer, [])


def _stacked_results(stack: Stack, deal: Deal, positions: Sequence[int]) -> Dealt:
    """Return results: a better one for each stack with fewer hands, and the last one elsewhere."""
    best = deal.results[len(stack.hands) - 1]
    hands = {
        position: [best if number < len(stack.hands) else deal.results[-1]] * deal.hand
        for number, position in enumerate(positions)
    }
    return Dealt(hands, [best] * deal.dealer, [])
