"""The events that the load sends, built from parts that are encoded once.

Only the seq, the round and the cards change from one event to the next; the rest is ready as bytes.
The events are those of a table agent: seven positions by default, each with its patron.
"""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from bonus.cards import DECK, Card, card_name, parse_card
from bonus.hands.three import three_card_strength
from meters.process.clock import now_text
from meters.wire.messages import DealtPosition, WageredPosition
from tests.bench.floor import METERS, POSITIONS, WAGER_CENTS

_DEALS: Final = 4_096
_CARDS: Final = 3
_COMMUNITY: Final = 2
_QUEEN_SIX_FOUR: Final = three_card_strength([parse_card(name) for name in ("Qc", "6d", "4h")])


class EventWriter:
    def __init__(
        self, seed: int, positions: int = POSITIONS, meters: Sequence[str] = METERS
    ) -> None:
        at = self.at = self._encoded_at = now_text().encode()
        self._wagers = b'{"type":"wagers","at":"%b","positions":%b,"seq":%%d,"round":"R%%d"}' % (
            at,
            msgspec.json.encode(_wagered(positions, meters)),
        )
        self._void = b'{"type":"void","at":"%b","reason":"benchmark","seq":%%d,"round":"R%%d"}' % at
        rng = random.Random(seed)
        self._results = [
            b'{"type":"result","at":"%b",%b,"seq":%%d,"round":"R%%d"}'
            % (at, _deal(rng, positions, meters))
            for _ in range(_DEALS)
        ]
        self._dealt = 0

    def wagers(self, seq: int, round_number: int) -> bytes:
        return self._dated(self._wagers % (seq, round_number))

    def void(self, seq: int, round_number: int) -> bytes:
        return self._dated(self._void % (seq, round_number))

    def result(self, seq: int, round_number: int) -> bytes:
        self._dealt = (self._dealt + 1) % _DEALS
        return self._dated(self._results[self._dealt] % (seq, round_number))

    def _dated(self, event: bytes) -> bytes:
        return event.replace(self._encoded_at, self.at, 1)


def _wagered(positions: int, meters: Sequence[str]) -> list[WageredPosition]:
    wagers = dict.fromkeys(meters, WAGER_CENTS)
    return [
        WageredPosition(position=position, patron=f"p{position}", wagers=wagers)
        for position in range(1, positions + 1)
    ]


def _deal(rng: random.Random, count: int, meters: Sequence[str]) -> bytes:
    """Deal one round from a shuffled deck. A hand below queen-six-four folds."""
    deck = rng.sample(DECK, len(DECK))
    positions = [
        _dealt_position(position, deck[(position - 1) * _CARDS : position * _CARDS])
        for position in range(1, count + 1)
    ]
    rest = deck[count * _CARDS :]
    dealer, community = rest[:_CARDS], rest[_CARDS : _CARDS + _COMMUNITY]
    dealt = b'"positions":%b,"dealer":%b' % (
        msgspec.json.encode(positions),
        msgspec.json.encode(_names(dealer)),
    )
    if "five_card_progressive" not in meters:
        return dealt
    return b'%b,"community":%b' % (dealt, msgspec.json.encode(_names(community)))


def _dealt_position(position: int, cards: Sequence[Card]) -> DealtPosition:
    """Return a dealt position. No wager needs the cards of a folded hand (649a.11(b)(3))."""
    folded = three_card_strength(cards) < _QUEEN_SIX_FOUR
    return DealtPosition(
        position=position,
        patron=f"p{position}",
        cards=None if folded else _names(cards),
        folded=folded,
    )


def _names(cards: Sequence[Card]) -> list[str]:
    return [card_name(card) for card in cards]
