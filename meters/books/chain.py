"""The chain over a ledger's entries: each carries a digest of itself and of the one before it.

Whoever changes, leaves out or puts in an entry would have to write all that follow anew, and the
seal that is kept outside the store shows that too (duties D17, D20).
"""

import hashlib
from collections.abc import Iterable
from typing import Final

CHAIN: Final = "chain"
"""The field of an entry that carries its digest, the last one."""


def link_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """The digest of an entry that follows one whose digest is `previous`, empty for the first.

    It is SHA-1, which is what a script inside Redis can work out in the same step that writes the
    entry; the seal over the same entries, kept outside, is SHA-256.

    Args:
        previous: the digest of the entry before.
        entry_id: the entry's id in its stream.
        fields: its fields in their order, without the digest.

    >>> link_entry("", "1-0", [(b"what", b"sign_in")])
    '30d1db3ca13aacfc59906a458f215382eee358aa'
    """
    return hashlib.sha1(entry_text(previous, entry_id, fields), usedforsecurity=False).hexdigest()


def seal_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """The seal of a ledger up to an entry, by the seal up to the one before, empty for none."""
    return hashlib.sha256(entry_text(previous, entry_id, fields)).hexdigest()


def entry_text(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """What is digested of an entry: the value before, then the id and the fields, measured."""
    return previous.encode() + b"".join(_parts(entry_id, fields))


def _parts(entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> Iterable[bytes]:
    """An entry as bytes from which it can be read in one way only."""
    yield _measured(entry_id.encode())
    for name, value in fields:
        yield _measured(name)
        yield _measured(value)


def _measured(part: bytes) -> bytes:
    return b"%d:%s" % (len(part), part)
