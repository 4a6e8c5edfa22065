"""The chain over a ledger's entries: each has a digest over its content and the digest before.

A person who changes, omits or inserts an entry has to rewrite all later ones. The seal that is kept
outside the store shows even that (duties D17, D20).
"""

import hashlib
from collections.abc import Iterable
from typing import Final

CHAIN: Final = "chain"
"""The field of an entry that holds its digest. It is the last field."""


def link_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the digest of an entry that follows the one with the digest `previous`.

    It is SHA-1, because a script in Redis can compute that in the same step in which it writes the
    entry. The seal over the same entries, kept outside, is SHA-256.

    Args:
        previous: the digest of the entry before, empty for the first.
        entry_id: the entry's id in its stream.
        fields: its fields in their order, without the digest.

    >>> link_entry("", "1-0", [(b"what", b"sign_in")])
    '30d1db3ca13aacfc59906a458f215382eee358aa'
    """
    return hashlib.sha1(entry_text(previous, entry_id, fields), usedforsecurity=False).hexdigest()


def seal_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the seal of the ledger up to an entry.

    `previous` is the seal up to the entry before, empty if there is none.
    """
    return hashlib.sha256(entry_text(previous, entry_id, fields)).hexdigest()


def entry_text(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the bytes to digest: the value before, then the id and fields with their lengths."""
    return previous.encode() + b"".join(_parts(entry_id, fields))


def _parts(entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> Iterable[bytes]:
    """Yield an entry as bytes that can be read in one way only."""
    yield _measured(entry_id.encode())
    for name, value in fields:
        yield _measured(name)
        yield _measured(value)


def _measured(part: bytes) -> bytes:
    return b"%d:%s" % (len(part), part)
