"""The layout of ledger entries in Redis.

The ledger entries of one script call are one entry of the Redis stream, whose id has the number of
the last ledger entry. The first field has the packed ledger entries, without their longest values:
the events and the replies. In entries of tables, the second field has the compressed events and
replies of the call. In all other entries, each event and reply is a field: ``event1`` and
``reply1`` for the first entry, and so on.

`pitlink archive` moves old entries from this stream into blocks, a second stream, which needs about
a twentieth of the memory. The id of a block has the number of its last ledger entry. A block never
has entries of two gaming days, so whole blocks can be deleted after the day was archived.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Final

import msgspec
import zstandard

from meters.ledger.chain import CHAIN, ENTRY_FIELDS
from meters.ledger.script_steps import reply_text

PACKED: Final = "entries"

COMPRESSED: Final = "texts"

_APART: Final = ("event", "reply")
_SHORT: Final = tuple(name for name in ENTRY_FIELDS if name not in _APART)
_Values = tuple[str, str, str, str, str, str, str, str]
_Placed = tuple[str, str, str, str, str, str, str, int, tuple[int, ...], str]
_DECODER: Final = msgspec.msgpack.Decoder(list[_Values])
_PLACED: Final = msgspec.msgpack.Decoder(list[_Placed])
_PARTS_MAX: Final = 4_096
"""Limit on the parts of a reply. A reply has two parts for each amount."""
_Parts = Annotated[tuple[str | int, ...], msgspec.Meta(max_length=_PARTS_MAX)]
_TEXTS: Final = msgspec.msgpack.Decoder(list[tuple[bytes, _Parts]])
_ENCODER: Final = msgspec.msgpack.Encoder()
_PACKED: Final = PACKED.encode()
_COMPRESSED: Final = COMPRESSED.encode()
_LEVEL: Final = 1
_BYTES_MAX: Final = 1 << 25
"""Largest size of the events and replies of a call: a forged entry must not fill the memory. A
service applies at most 400 events at once. Each event has at most 16 kilobytes, and a reply is not
much longer."""

_BLOCK_FIRST: Final = b"first"
_BLOCK_ENTRIES: Final = b"entries"
_BLOCK_LEVEL: Final = 6
_BLOCK_BYTES_MAX: Final = 1 << 27
"""Largest size of the entries of a block: a forged block must not fill the memory."""
_BlockValues = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
_BLOCK: Final = msgspec.msgpack.Decoder(list[_BlockValues])


class _Zstd(threading.local):
    """The compressor and decompressor of one thread. Threads must not share them.

    To make new ones for each text would take longer than to compress a small batch.
    """

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_ZSTD: Final = _Zstd()

StreamEntry = tuple[bytes, Mapping[bytes, bytes]]
"""An entry of the Redis stream: its id and its fields."""

Entry = tuple[int, dict[str, bytes]]
"""A ledger entry: its number and its fields."""


def unpack_entry(row: StreamEntry) -> list[Entry]:
    """Return the ledger entries of one entry of the stream.

    If somebody has damaged the stream entry, return one entry with its fields. This entry has no
    valid digest, so an audit reports it.
    """
    entry_id, fields = row
    number, _, more = entry_id.partition(b"-")
    last, packed = int(number), fields.get(_PACKED)
    if packed is not None and more == b"0":
        try:
            if compressed := fields.get(_COMPRESSED):
                placed = _PLACED.decode(packed)
                if 0 < len(placed) <= last and len(fields) == 2:
                    texts = _TEXTS.decode(_plain(compressed, _BYTES_MAX))
                    return _unpacked_placed(placed, texts, last)
            else:
                values = _DECODER.decode(packed)
                if 0 < len(values) <= last and len(fields) == 1 + len(_APART) * len(values):
                    return _unpacked(values, fields, last)
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, zstandard.ZstdError):
            pass  # somebody has damaged the stream entry
    return [(last, {name.decode("utf-8", "replace"): value for name, value in fields.items()})]


def _unpacked(values: Sequence[_Values], texts: Mapping[bytes, bytes], last: int) -> list[Entry]:
    found: list[Entry] = []
    for place, (*short, chain) in enumerate(values, start=1):
        event, reply = texts[b"event%d" % place], texts[b"reply%d" % place]
        found.append((last - len(values) + place, _entry(short, event, reply, chain)))
    return found


def _unpacked_placed(
    values: Sequence[_Placed], texts: Sequence[tuple[bytes, tuple[str | int, ...]]], last: int
) -> list[Entry]:
    found: list[Entry] = []
    number, before = last - len(values), 0
    for kind, at, by, table, round_id, seq, transfers, place, cents, chain in values:
        if place <= before:  # many entries with the same long text would fill the memory
            raise LookupError("the entries are not in the order of their texts")
        number, before = number + 1, place
        event, parts = texts[place - 1]
        short = (kind, at, by, table, round_id, seq, transfers)
        found.append((number, _entry(short, event, reply_text(parts, cents), chain)))
    return found


def _entry(short: Sequence[str], event: bytes, reply: bytes, chain: str) -> dict[str, bytes]:
    kind, at, by, table, round_id, seq, transfers = map(str.encode, short)
    # This is much faster than a loop over `ENTRY_FIELDS`, which has the same order.
    return {
        "kind": kind, "at": at, "by": by, "table": table, "round": round_id, "seq": seq,
        "transfers": transfers, "event": event, "reply": reply, CHAIN: chain.encode(),
    }  # fmt: skip


def compress_texts(texts: Sequence[tuple[bytes, Sequence[str | int]]]) -> bytes:
    """Compress the events and replies of a script call for the stream.

    A reply has the parts that `ReplyParts` explains. A reader replaces the numbers of a reply with
    the amounts in the ledger entry.
    """
    return _ZSTD.compressor.compress(_ENCODER.encode(texts))


def _plain(compressed: bytes, most: int) -> bytes:
    if not 0 < zstandard.get_frame_parameters(compressed).content_size <= most:
        raise zstandard.ZstdError("the size of the texts is missing, or too large")
    return _ZSTD.decompressor.decompress(compressed, max_output_size=most)


def unpack_entries(rows: Iterable[StreamEntry], after: int) -> list[Entry]:
    """Return the ledger entries of consecutive entries of the stream, which follow entry `after`.

    If a stream entry repeats the number of an earlier ledger entry, return the stream entry as it
    is. An audit then reports it.
    """
    found: list[Entry] = []
    for row in rows:
        entries = unpack_entry(row)
        if len(entries) > 1 and entries[0][0] <= after:
            fields = {name.decode("utf-8", "replace"): value for name, value in row[1].items()}
            entries = [(entries[-1][0], fields)]
        found += entries
        after = found[-1][0]
    return found


def pack_entries(entries: Sequence[Mapping[str, bytes]]) -> dict[str, bytes]:
    """Pack ledger entries into the fields of a stream entry, as the Lua scripts do.

    Raises:
        KeyError: an entry lacks a field.
        UnicodeDecodeError: a packed field is no text.
    """
    values = [
        [*(one[name].decode() for name in _SHORT[:-1]), place, (), one[CHAIN].decode()]
        for place, one in enumerate(entries, start=1)
    ]
    texts = [(one["event"], (one["reply"].decode(),)) for one in entries]
    return {PACKED: _ENCODER.encode(values), COMPRESSED: compress_texts(texts)}


def pack_block(entries: Sequence[Mapping[str, bytes]]) -> bytes:
    """Compress ledger entries. Each must have all `ENTRY_FIELDS`, in this order."""
    values = [[*fields.values()] for fields in entries]
    compressor = zstandard.ZstdCompressor(_BLOCK_LEVEL, write_checksum=True)
    return compressor.compress(_ENCODER.encode(values))


def make_block(entries: Sequence[Entry]) -> dict[bytes, bytes]:
    """Return the fields of a block with consecutive ledger entries.

    Raises:
        ValueError: the entries cannot be compressed, because one lacks a field.
    """
    number, last = entries[0][0], entries[-1][0]
    packed = pack_block([fields for _, fields in entries])
    block = {_BLOCK_FIRST: b"%d" % number, _BLOCK_ENTRIES: packed}
    if unpack_block((b"%d-0" % last, block)) != entries:
        raise ValueError(f"the entries {number} to {last} cannot be compressed")
    return block


def unpack_block(row: StreamEntry, after: int = 0, count: int | None = None) -> list[Entry]:
    """Return the ledger entries of a block after entry `after`: up to `count`, or all of them.

    If somebody has damaged the block, return one entry with the fields of the block. This entry has
    no valid digest, so an audit reports it.
    """
    block_id, fields = row
    last, _, more = block_id.partition(b"-")
    packed, first = fields.get(_BLOCK_ENTRIES), fields.get(_BLOCK_FIRST, b"")
    if packed is not None and first.isdigit() and more == b"0" and len(fields) == 2:
        values = _block_values(packed)
        if values and int(first) + len(values) - 1 == int(last):
            place = max(0, after + 1 - int(first))
            wanted = values[place : None if count is None else place + count]
            return [
                (number, dict(zip(ENTRY_FIELDS, one, strict=True)))
                for number, one in enumerate(wanted, start=int(first) + place)
            ]
    damaged = {name.decode("utf-8", "replace"): value for name, value in fields.items()}
    return [(int(last), damaged)]


# A reader of many entries reads the same block several times, page by page.
@lru_cache(maxsize=2)
def _block_values(packed: bytes) -> Sequence[_BlockValues]:
    """Return the values of the entries in a block; none if somebody has damaged the block."""
    try:
        return _BLOCK.decode(_plain(packed, _BLOCK_BYTES_MAX))
    except (zstandard.ZstdError, msgspec.DecodeError, MemoryError):
        return ()
