"""Digests of dealt cards. They show if two tables report the same cards under one round id."""

import hashlib
from typing import Final

import msgspec

from meters.wire.messages import Result

DEALT_KEPT: Final = 16_384
"""The greatest number of results whose cards a link remembers. The digests are in a ring: the
number of a result's ledger entry determines its place, where it replaces the oldest one."""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards; an empty text if the result has no player's hand.

    It does not depend on the positions of the hands or on the order of the cards, so that a copied
    result is found even if somebody changed these.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    content = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the field for a digest: its value is a table, and the number of the result's entry."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the field for the digest of a result's entry: one of `DEALT_KEPT`, used in turn."""
    return f"s:{entry % DEALT_KEPT}"
