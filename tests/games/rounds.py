"""Rounds of the house games: settled by pitlink, and random ones with frequent high hands."""

import json
import random
from typing import Any

import msgspec

from bonus.cards import DECK, card_name
from bonus.law.meter_terms import meter_terms
from bonus.settling.settle_round import settle_line
from meters.floor.game_files import read_games
from tests.games.naive import HOUSE

GAMES = read_games(HOUSE)


def settled_by_pitlink(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        msgspec.json.encode(settle_line(json.dumps(fields).encode(), GAMES))
    )
    return found


def random_round(game: str, rng: random.Random) -> dict[str, Any]:
    """Return a random round without a game against the dealer, of few suits and ranks."""
    chapter = GAMES[game]
    deal = chapter.deal
    # With few ranks and suits, high hands are frequent.
    lowest, suits = rng.choice(((0, 4), (5, 4), (8, 4), (7, 2), (8, 2)))
    low = [card for card in DECK if card // 4 >= lowest and card % 4 >= 4 - suits]
    deck = rng.sample(low, len(low))
    if rng.random() < 0.2:
        # A straight flush or royal flush of the first position and the community cards.
        top, suit = rng.choice((8, rng.randrange(4, 9))), rng.randrange(4)
        run = [card for card in DECK if top <= card // 4 < top + 5 and card % 4 == suit]
        deck = [card for card in deck if card not in run]
        shared = rng.sample(run, 5)
        deck = [*shared[deal.hand :], *deck, *shared[: deal.hand][::-1]]
    seats = (len(deck) - deal.dealer - deal.community) // deal.hand
    positions: list[dict[str, Any]] = []
    for number in sorted(rng.sample(range(1, deal.positions + 1), min(seats, deal.positions))):
        cards = [card_name(deck.pop()) for _ in range(deal.hand)]
        wagers = {
            name: rng.choice((500, 1500)) if not tables.fed else 100
            for tables in chapter.wager
            for name in tables.names
            if rng.random() < 0.7 and not tables.needs
        }
        if wagers:
            positions.append({"position": number, "cards": cards, "wagers": wagers})
    paytables = {"seven_progressive": "B"} if game == "lucky_seven" else {}
    played: dict[str, Any] = {"game": game, "paytables": paytables, "positions": positions}
    if deal.dealer:
        played["dealer"] = [card_name(deck.pop()) for _ in range(deal.dealer)]
    if deal.community:
        played["community"] = [card_name(deck.pop(0)) for _ in range(deal.community)]
    played["meters"] = {
        meter: {"wager": 100, "amount": rng.randrange(10_000, 9_000_000)}
        | ({"reserve": rng.randrange(90_000)} if _reserve(game, meter) else {})
        for meter in GAMES.meters.titles
        if any(meter in tables.fed for tables in chapter.wager)
    }
    for held in played["meters"].values():
        if rng.random() < 0.3:
            held |= {"limit": held["amount"], "overflow": rng.randrange(held["amount"])}
    return played


def _reserve(game: str, meter: str) -> bool:
    choice = "A" if meter == "seven_jackpot" else None
    return meter_terms(meter, 100, choice, game, GAMES).has_reserve
