"""Dealer bot that stacks decks of every game."""

from collections.abc import Iterator, Sequence
from typing import Final

from bonus.cards import Card, parse_card
from bonus.law.games import chapter_games
from controllers.bots.bots import DealerBot, Laid
from controllers.bots.dealer import shuffle
from tests.games.stacks import STACKS, Deal, Dealt, deal_stack

_WINNERS_FIRST: Final = 0.7
"""Probability that the positions with a wager on a meter have the hands that win."""


class StackingBot(DealerBot):
    """Dealer bot whose stacked decks also win the meters of house games, in part and whole.

    The decks of the chapters' games are those of `DealerBot`.
    """

    def _deck(self, laid: Laid, *, all_six: bool) -> list[Card]:
        rules = self._layout.rules
        if rules.chapter.game in chapter_games():
            return super()._deck(laid, all_six=all_six)
        deck = shuffle(self._rng)
        if not self._stack_every or self._rng.randrange(self._stack_every):
            return deck
        fed = [
            position
            for position, wagers in laid.items()
            if any(rules.placings[wager].meters for wager in wagers)
        ]
        places = self._rng.sample(sorted(laid), len(laid))
        if self._rng.random() < _WINNERS_FIRST:
            places.sort(key=lambda position: position not in fed)
        deal = rules.chapter.deal
        return _with_first(
            deck, _in_order(deal_stack(self._rng.choice(STACKS), deal, places), deal)
        )


def _in_order(dealt: Dealt, deal: Deal) -> Iterator[Card]:
    """Yield the cards in the order of the deal: in turns with the dealer last, then for all."""
    piles: list[Sequence[str]] = [*(dealt.hands[place] for place in sorted(dealt.hands))]
    for turn in range(max(deal.hand, deal.dealer)):
        for pile in (*piles, dealt.dealer):
            if turn < len(pile):
                yield parse_card(pile[turn])
    yield from map(parse_card, dealt.community)


def _with_first(deck: list[Card], first: Iterator[Card]) -> list[Card]:
    top = list(first)
    return [*top, *(card for card in deck if card not in top)]
