"""The chain of digests over the entries of a ledger.

The digest of an entry covers the entry's content and the digest of the entry before it. So a person
who changes, omits or inserts an entry must also rewrite all later entries. The seal shows even such
a rewrite: it is a second digest over all entries, and is kept outside Redis (duties D17, D20).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

CHAIN: Final = "chain"
"""The name of the field with the digest of a ledger entry. This is the last field of the entry."""

ENTRY_FIELDS: Final = (
    "kind", "at", "by", "table", "round", "seq", "transfers", "event", "reply", CHAIN,
)  # fmt: skip
"""The fields of a ledger entry, in the order in which they are chained."""

_ENTRY: Final = b"%d:%b" + b"".join(
    b"%d:%b%%d:%%b" % (len(name), name.encode()) for name in ENTRY_FIELDS[:-1]
)

_ENTRY_TEXT: Final = _ENTRY.decode().replace("%b", "%s")


def link_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the chain digest of a ledger entry.

    The digest is SHA-1, because a Lua script in Redis can compute SHA-1 when it writes the entry.
    The seal over the same entries is SHA-256, and is kept outside Redis.

    `previous` is the digest of the entry before, empty for the first entry. `fields` are in the
    order of the entry, without the digest.

    >>> link_entry("", "1-0", [(b"what", b"sign_in")])
    '30d1db3ca13aacfc59906a458f215382eee358aa'
    """
    return hashlib.sha1(entry_text(previous, entry_id, fields), usedforsecurity=False).hexdigest()


def seal_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the seal up to an entry.

    `previous` is the seal up to the entry before; empty for the first entry.
    """
    return hashlib.sha256(entry_text(previous, entry_id, fields)).hexdigest()


def link_and_seal(
    chain: str, seal: str, number: int, fields: Mapping[str, bytes]
) -> tuple[str, str]:
    """Return the chain digest of a ledger entry, and the seal up to this entry.

    `chain` and `seal` belong to the entry before. Both digests cover the same bytes, so one call is
    faster than two.
    """
    entry_id = b"%d-0" % number
    if (*fields,) == ENTRY_FIELDS:
        kind, at, by, table, round_id, seq, transfers, event, reply, _ = fields.values()
        # The same bytes as those of `_content`, made in one step.
        content = _ENTRY % (
            len(entry_id), entry_id, len(kind), kind, len(at), at, len(by), by, len(table), table,
            len(round_id), round_id, len(seq), seq, len(transfers), transfers, len(event), event,
            len(reply), reply,
        )  # fmt: skip
    else:
        named = [(name.encode(), value) for name, value in fields.items() if name != CHAIN]
        content = _content(entry_id.decode(), named)
    linked = hashlib.sha1(chain.encode(), usedforsecurity=False)
    sealed = hashlib.sha256(seal.encode())
    linked.update(content)
    sealed.update(content)
    return linked.hexdigest(), sealed.hexdigest()


def link_and_seal_texts(
    chain: str, seal: str, number: int, texts: Sequence[str]
) -> tuple[str, str]:
    """Return what `link_and_seal` returns, for the values of `ENTRY_FIELDS` in this order."""
    kind, at, by, table, round_id, seq, transfers, event, reply, _ = texts
    entry_id = f"{number}-0"
    content = _ENTRY_TEXT % (
        len(entry_id), entry_id, len(kind), kind, len(at), at, len(by), by, len(table), table,
        len(round_id), round_id, len(seq), seq, len(transfers), transfers, len(event), event,
        len(reply), reply,
    )  # fmt: skip
    if not content.isascii():  # a character is then not always one byte
        fields = dict(zip(ENTRY_FIELDS, map(str.encode, texts), strict=True))
        return link_and_seal(chain, seal, number, fields)
    data = content.encode()
    return (
        hashlib.sha1(chain.encode() + data, usedforsecurity=False).hexdigest(),
        hashlib.sha256(seal.encode() + data).hexdigest(),
    )


def entry_text(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return what an entry's digest covers: `previous`, id and fields, each after its length."""
    return previous.encode() + _content(entry_id, fields)


def _content(entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the id and fields, each after its length, so that different entries differ here."""
    parts = [b"%d:%s" % (len(entry_id.encode()), entry_id.encode())]
    parts += [b"%d:%s%d:%s" % (len(name), name, len(value), value) for name, value in fields]
    return b"".join(parts)
