"""The table's wagers and the service's replies in ledger entries, decoded once.

Several parts of a replay read the same message. The cache is as large as the rounds that are open
at the same time on a large link. Each function raises a `msgspec.DecodeError` or
`UnicodeDecodeError` if the text is not what it decodes.
"""

from collections import Counter
from functools import lru_cache
from typing import Final

import msgspec

from bonus.settling.settlement_lines import Line
from meters.wire.messages import (
    Reply,
    UndecodedCorrection,
    UndecodedWagers,
    WagerCorrection,
    WageredPosition,
    Wagers,
)

_KEPT: Final = 4_096
_KEPT_RESULTS: Final = 4
"""Count of decoded results. Only the replay of the same entry needs the result again."""
_WAGERS: Final = msgspec.json.Decoder(Wagers | WagerCorrection)
_UNDECODED: Final = msgspec.json.Decoder(UndecodedWagers | UndecodedCorrection)
_CORRECTION: Final = msgspec.json.Decoder(WagerCorrection)
_POSITIONS: Final = msgspec.json.Decoder(list[WageredPosition])
_REPLY: Final = msgspec.json.Decoder(Reply)


class PlacedWagers(msgspec.Struct, frozen=True):
    """The wagers of an event, without its sequence number, time and round.

    `text` are the positions as JSON. `wagers` are sorted: position, name, cents. `counts` has each
    different wager, by name and cents, with its number of positions.
    """

    text: bytes
    positions: list[WageredPosition]
    wagers: list[tuple[int, str, int]]
    counts: tuple[tuple[tuple[str, int], int], ...]


class SettledReply(msgspec.Struct, frozen=True):
    """The reply to a result. `paid` are the settlement lines that pay an amount or a percentage."""

    reply: Reply
    paid: tuple[Line, ...]
    has_envy: bool


@lru_cache(_KEPT)
def wagers_in(event: bytes) -> Wagers | WagerCorrection:
    """Decode the event of a ledger entry that has the wagers of a round."""
    decoded: Wagers | WagerCorrection = _WAGERS.decode(event)
    return decoded


@lru_cache(_KEPT)
def placed_in(event: bytes) -> PlacedWagers:
    """Return the wagers of a ledger entry, without what changes from round to round."""
    if event.count(b'"positions"') > 1 or b"\\" in event:
        wagers_in(event)  # each value must be valid, even if the event has another one after it
    decoded = _UNDECODED.decode(event)
    placed = _placed(bytes(decoded.positions))
    if not placed.positions and isinstance(decoded, UndecodedWagers):
        raise msgspec.ValidationError("the event has no wagers")
    return placed


def correction_of_wager(event: bytes) -> WagerCorrection:
    return _CORRECTION.decode(event)


@lru_cache(_KEPT)
def _placed(positions: bytes) -> PlacedWagers:
    decoded = _POSITIONS.decode(positions)
    wagers = [
        (one.position, wager, cents) for one in decoded for wager, cents in one.wagers.items()
    ]
    counts = Counter((wager, cents) for _, wager, cents in wagers)
    return PlacedWagers(positions, decoded, sorted(wagers), tuple(counts.items()))


@lru_cache(_KEPT)
def reply_in(reply: bytes) -> Reply:
    return _REPLY.decode(reply)


@lru_cache(_KEPT_RESULTS)
def settled_in(reply: bytes) -> SettledReply:
    decoded = _REPLY.decode(reply)
    paid = tuple([line for line in decoded.lines or () if line.paid or line.percent])
    return SettledReply(decoded, paid, any(line.envy_of is not None for line in paid))
