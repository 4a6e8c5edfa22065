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

_HEAD: Final = b"%d:%b" + b"".join(
    b"%d:%b%%d:%%b" % (len(name), name.encode()) for name in ENTRY_FIELDS[:-3]
)
_HEAD_TEXT: Final = _HEAD.decode().replace("%b", "%s")
_TEXTS: Final = b"5:event%d:%b5:reply%d:%b"


def link_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the chain digest of an entry, for a log whose digests cover all texts.

    The digest is SHA-1, because a Lua script in Redis can compute SHA-1 when it writes the entry.
    The seal is SHA-256.

    `previous` is the digest of the entry before, empty for the first entry. `fields` are in the
    order of the entry, without the digest.

    >>> link_entry("", "1-0", [(b"what", b"sign_in")])
    '30d1db3ca13aacfc59906a458f215382eee358aa'
    """
    return _sha1(entry_text(previous, entry_id, fields))


def seal_entry(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the seal up to an entry.

    `previous` is the seal up to the entry before, or empty for the first entry.
    """
    return hashlib.sha256(entry_text(previous, entry_id, fields)).hexdigest()


def chained_texts(event: bytes, reply: bytes | None) -> bytes:
    """Return the digests of an event and its reply as the chain of a ledger covers them.

    If the reply is None, its digest is left out.

    >>> chained_texts(b"{}", None)
    b'5:event40:bf21a9e8fbc5a3846fb05b4fa0859e0917b2202f'
    """
    covered = f"5:event40:{_sha1(event)}"
    return (covered if reply is None else f"{covered}5:reply40:{_sha1(reply)}").encode()


def link_and_seal(
    chain: str, seal: str, number: int, fields: Mapping[str, bytes]
) -> tuple[str, str]:
    """Return the chain digest of a ledger entry, and the seal up to this entry.

    The chain covers only digests of the event and the reply, because a script in Redis needs time
    for each byte of a text. The seal covers both texts. `chain` and `seal` belong to the entry
    before.
    """
    entry_id = b"%d-0" % number
    if (*fields,) != ENTRY_FIELDS:  # somebody has damaged the entry
        named = [(name.encode(), value) for name, value in fields.items() if name != CHAIN]
        return (
            link_entry(chain, entry_id.decode(), named),
            seal_entry(seal, entry_id.decode(), named),
        )
    kind, at, by, table, round_id, seq, transfers, event, reply, _ = fields.values()
    head = _HEAD % (
        len(entry_id), entry_id, len(kind), kind, len(at), at, len(by), by, len(table), table,
        len(round_id), round_id, len(seq), seq, len(transfers), transfers,
    )  # fmt: skip
    return _digests(chain, seal, head, event, reply)


def link_and_seal_texts(
    chain: str, seal: str, number: int, texts: Sequence[str]
) -> tuple[str, str]:
    """Return what `link_and_seal` returns, for the values of `ENTRY_FIELDS` in this order."""
    kind, at, by, table, round_id, seq, transfers, event, reply, _ = texts
    entry_id = f"{number}-0"
    head = _HEAD_TEXT % (
        len(entry_id), entry_id, len(kind), kind, len(at), at, len(by), by, len(table), table,
        len(round_id), round_id, len(seq), seq, len(transfers), transfers,
    )  # fmt: skip
    if not head.isascii():  # a character is then not always one byte
        fields = dict(zip(ENTRY_FIELDS, map(str.encode, texts), strict=True))
        return link_and_seal(chain, seal, number, fields)
    return _digests(chain, seal, head.encode(), event.encode(), reply.encode())


def _digests(chain: str, seal: str, head: bytes, event: bytes, reply: bytes) -> tuple[str, str]:
    linked = chain.encode() + head + chained_texts(event, reply)
    sealed = hashlib.sha256(seal.encode() + head)
    sealed.update(_TEXTS % (len(event), event, len(reply), reply))
    return _sha1(linked), sealed.hexdigest()


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def entry_text(previous: str, entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return what an entry's digest covers: `previous`, the id and fields with their lengths."""
    return previous.encode() + _content(entry_id, fields)


def _content(entry_id: str, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the id and fields with their lengths. Different entries have different texts."""
    parts = [b"%d:%s" % (len(entry_id.encode()), entry_id.encode())]
    parts += [b"%d:%s%d:%s" % (len(name), name, len(value), value) for name, value in fields]
    return b"".join(parts)
