"""The table's wagers and the service's replies in ledger entries, decoded once.

Several parts of a replay read the same message. The cache is as large as the rounds that are open
at the same time on a large link.
"""

from collections import Counter
from functools import lru_cache
from typing import Final

import msgspec

from meters.wire.messages import UNDECODED_WAGERS, Reply, WageredPositions, Wagers

_KEPT: Final = 4_096
_WAGERS: Final = msgspec.json.Decoder(Wagers)
_POSITIONS: Final = msgspec.json.Decoder(WageredPositions)
_REPLY: Final = msgspec.json.Decoder(Reply)


class PlacedWagers(msgspec.Struct, frozen=True):
    """The wagers of an event, without its sequence number, time and round.

    Attributes:
        text: the positions of the event as JSON.
        wagers: each wager, sorted: position, name, cents.
        counts: each different wager, by name and cents, with its number of positions.
    """

    text: bytes
    wagers: list[tuple[int, str, int]]
    counts: tuple[tuple[tuple[str, int], int], ...]


@lru_cache(_KEPT)
def wagers_in(event: bytes) -> Wagers:
    """Decode the wagers of a ledger entry.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: the event has no wagers.
    """
    return _WAGERS.decode(event)


@lru_cache(_KEPT)
def placed_in(event: bytes) -> PlacedWagers:
    """Return the wagers of a ledger entry, without what changes from round to round.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: the event has no wagers.
    """
    if event.count(b'"positions"') > 1 or b"\\" in event:
        wagers_in(event)  # each value must be valid, even if the event has another one after it
    return _placed(bytes(UNDECODED_WAGERS.decode(event).positions))


@lru_cache(_KEPT)
def _placed(positions: bytes) -> PlacedWagers:
    wagers = [
        (one.position, wager, cents)
        for one in _POSITIONS.decode(positions)
        for wager, cents in one.wagers.items()
    ]
    counts = Counter((wager, cents) for _, wager, cents in wagers)
    return PlacedWagers(positions, sorted(wagers), tuple(counts.items()))


@lru_cache(_KEPT)
def reply_in(reply: bytes) -> Reply:
    """Decode the reply of a ledger entry.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: it is not a reply.
    """
    return _REPLY.decode(reply)
