"""Digests of the dealt cards: two tables cannot have the same cards under one round id."""

import hashlib
from typing import Final

import msgspec

from meters.wire.messages import Result

DEALT_KEPT: Final = 16_384
"""Results that a link remembers at most. Each has the place of its ledger entry in a ring."""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards; empty if no player's hand is in the result.

    Positions and the order of cards are not in it, so a copy with either changed is found.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    told = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(told), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the field that has the table and the entry of a result."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the field that has the digest at an entry's place in the ring."""
    return f"s:{entry % DEALT_KEPT}"
