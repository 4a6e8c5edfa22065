"""What was dealt in a round, in short: two tables cannot have the same cards in one round id."""

import hashlib
from typing import Final

import msgspec

from meters.wire.messages import Result

DEALT_KEPT: Final = 16_384
"""So many results of a link are remembered at most, each in the place of its ledger entry."""


def dealt_digest(event: Result) -> str:
    """A digest of a round's id and its cards; empty where no player's hand is in the result.

    Neither positions nor the order of cards are in it, so that a copy with either changed is found.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    told = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(told), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """The field that has the table and the entry of a result."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """The field that has the digest in an entry's place of the ring."""
    return f"s:{entry % DEALT_KEPT}"
