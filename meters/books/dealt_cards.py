"""Digests of dealt cards. They show if two tables report the same cards under one round id."""

import hashlib
from typing import Final

import msgspec

from meters.wire.messages import Result

DEALT_KEPT: Final = 16_384
"""The greatest number of results whose cards a link remembers.

The digests are in a ring: a new digest replaces the oldest one. The number of a result's ledger
entry determines the place in the ring.
"""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards; an empty text if the result has no player's hand.

    The digest does not depend on the positions of the hands or on the order of the cards. So a
    copied result is found even if somebody changed the positions or the order.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    content = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the name of the Redis field for a digest of dealt cards.

    The value of the field names the table that reported these cards, and the number of the result's
    ledger entry.
    """
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the name of the Redis field that remembers the digest of a result.

    A link has `DEALT_KEPT` such fields. They are used one after the other; after the last field,
    the first one is used again. `entry` is the number of the result's ledger entry.
    """
    return f"s:{entry % DEALT_KEPT}"
