"""Digests of dealt cards, to find two tables that report the same cards under one round id."""

import hashlib
from typing import Final

import msgspec

from meters.wire.messages import Result

DEALT_KEPT: Final = 16_384
"""The most results whose cards a link remembers.

The results are in a ring. The number of a result's ledger entry determines the place of the result
in the ring.
"""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards, empty if the result has no player's hand.

    Positions and the order of cards do not affect the digest. So a copied result is found even if
    its positions or the order of its cards were changed.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    content = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the Redis field that has the table and the ledger entry of a result's cards."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the Redis field for the place of a ledger entry in the ring of digests."""
    return f"s:{entry % DEALT_KEPT}"
