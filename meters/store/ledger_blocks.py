"""Blocks of old ledger entries in Redis, compressed with zstd.

The last ledger entries are in the ledger's stream. `pitlink archive` moves older entries into
blocks, a stream of their own, which need about a twentieth of the memory. The id of a block has the
number of its last ledger entry. A block never has entries of two gaming days, so whole blocks can
be deleted after the day was archived.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

import msgspec
import zstandard
from redis.asyncio import Redis

from meters.ledger.chain import ENTRY_FIELDS
from meters.ledger.link_keys import LinkKeys
from meters.store.script_loader import load_script
from meters.store.stored_entries import Entry, StreamEntry, unpack_entries
from meters.wire.clock import now_text

PLAIN_ENTRIES: Final = 2_000
"""Number of the last ledger entries, which are never compressed because they are read often."""
BLOCK_ENTRIES: Final = 1_000
"""Smallest number of entries in a block, unless a gaming day ends before."""

_FIRST: Final = b"first"
_ENTRIES: Final = b"entries"
_LEVEL: Final = 6
_ROWS_AT_ONCE: Final = 50
_BYTES_MAX: Final = 1 << 27
"""Largest size of the entries of a block. A forged block must not fill the memory."""
_Values = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
_DECODER: Final = msgspec.msgpack.Decoder(list[_Values])
_ENCODER: Final = msgspec.msgpack.Encoder()


def pack_block(entries: Sequence[Mapping[str, bytes]]) -> bytes:
    """Compress ledger entries that all have the fields of a ledger entry, in their order."""
    values = [[*fields.values()] for fields in entries]
    return zstandard.ZstdCompressor(_LEVEL, write_checksum=True).compress(_ENCODER.encode(values))


def make_block(entries: Sequence[Entry]) -> dict[bytes, bytes]:
    """Return the fields of a block with consecutive ledger entries. Its id has their last number.

    Raises:
        ValueError: the entries cannot be compressed, because one lacks a field.
    """
    number, last = entries[0][0], entries[-1][0]
    packed = pack_block([fields for _, fields in entries])
    block = {_FIRST: b"%d" % number, _ENTRIES: packed}
    if unpack_block((b"%d-0" % last, block)) != entries:
        raise ValueError(f"the entries {number} to {last} cannot be compressed")
    return block


def unpack_block(row: StreamEntry, after: int = 0, count: int | None = None) -> list[Entry]:
    """Return the ledger entries of a block after entry `after`: up to `count`, or all of them.

    If somebody has damaged the block, the result is one entry with the fields of the block. It has
    no valid digest, so an audit reports it.
    """
    block_id, fields = row
    last, _, more = block_id.partition(b"-")
    packed, first = fields.get(_ENTRIES), fields.get(_FIRST, b"")
    if packed is not None and first.isdigit() and more == b"0" and len(fields) == 2:
        values = _unpacked(packed)
        if values and int(first) + len(values) - 1 == int(last):
            place = max(0, after + 1 - int(first))
            wanted = values[place : None if count is None else place + count]
            return [
                (number, dict(zip(ENTRY_FIELDS, one, strict=True)))
                for number, one in enumerate(wanted, start=int(first) + place)
            ]
    damaged = {name.decode("utf-8", "replace"): value for name, value in fields.items()}
    return [(int(last), damaged)]


# A reader of many entries reads the same block several times, one page after the other.
@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Sequence[_Values]:
    """Return the values of the entries in a block; none if somebody has damaged them."""
    try:
        if not 0 < zstandard.get_frame_parameters(packed).content_size <= _BYTES_MAX:
            return ()
        plain = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_BYTES_MAX)
        return _DECODER.decode(plain)
    except (zstandard.ZstdError, msgspec.DecodeError, MemoryError):
        return ()


def unpack_one(row: StreamEntry, number: int) -> list[Entry]:
    """Return one ledger entry of a block; none if the block does not have it."""
    fields = row[1]
    packed, first = fields.get(_ENTRIES), fields.get(_FIRST, b"")
    values = _unpacked(packed) if packed is not None and first.isdigit() else ()
    place = number - int(first) if values else -1
    if not 0 <= place < len(values):
        return []
    return [(number, dict(zip(ENTRY_FIELDS, values[place], strict=True)))]


async def continuity_problem(redis: Redis, keys: LinkKeys) -> str | None:
    """Return a text if the stream does not continue the blocks, or None.

    Readers prefer the entries in blocks. So without this check, nobody would see an entry of the
    stream that has the number of an entry in a block.
    """
    async with redis.pipeline(transaction=True) as pipe:
        pipe.xrevrange(keys.ledger_blocks, count=1)
        pipe.xrange(keys.ledger, count=1)
        blocks, rows = cast("list[list[StreamEntry]]", await pipe.execute())
    if not blocks:
        return None
    last = int(blocks[0][0].partition(b"-")[0])
    begins = unpack_entries(rows, last)[0][0] if rows else 0
    if begins == last + 1:
        return None
    return f"the compressed entries end with entry {last}, the others begin with entry {begins}"


async def read_from_block(redis: Redis, keys: LinkKeys, after: int, count: int) -> list[Entry]:
    """Return up to `count` ledger entries after entry `after`, from one block; none without one."""
    found = await redis.xrange(keys.ledger_blocks, min=f"{after + 1}-0", count=1)
    rows = cast("list[StreamEntry]", found)
    return unpack_block(rows[0], after, count) if rows else []


class LedgerCompression:
    def __init__(self, redis: Redis, keys: LinkKeys, fixed_keys: Sequence[str]) -> None:
        self._redis = redis
        self._keys = keys
        self._fixed_keys = fixed_keys
        self._compress = redis.register_script(load_script("compress_ledger"))

    async def run(self) -> int:
        """Compress all entries except the last ones. Return the number of compressed entries.

        If the stream has something else than the next ledger entry, the entries from there on are
        not compressed. An audit reports the reason.

        Raises:
            RedisError: Redis failed. The blocks that were already written remain.
        """
        compressed = 0
        while (block := await self._next()).entries:
            entries = block.entries
            number, last = entries[0][0], entries[-1][0]
            packed = make_block(entries)[_ENTRIES]
            status, *_ = cast(
                "list[bytes]",
                await self._compress(
                    keys=[*self._fixed_keys, self._keys.ledger_blocks],
                    args=[now_text(), number, block.first_id, last, packed],
                ),
            )
            if status != b"done":
                break
            compressed += len(entries)
        return compressed

    async def _next(self) -> "_Block":
        """Return the next block. It has no entries if there are too few."""
        if await continuity_problem(self._redis, self._keys):
            return _NO_BLOCK
        last = int(await self._redis.hget(self._keys.meters, "entries") or 0)
        newest = max(0, last - PLAIN_ENTRIES)
        found, first_id, begin = list[Entry](), b"", "-"
        while len(found) < BLOCK_ENTRIES:
            rows = cast(
                "list[StreamEntry]",
                await self._redis.xrange(
                    self._keys.ledger, min=begin, max=f"{newest}-0", count=_ROWS_AT_ONCE
                ),
            )
            for row in rows:
                first_id = first_id or row[0]
                entries = unpack_entries([row], found[-1][0] if found else 0)
                follow = not found or entries[0][0] == found[-1][0] + 1
                if not follow or any((*fields,) != ENTRY_FIELDS for _, fields in entries):
                    return _NO_BLOCK
                found += entries
                if entries[-1][1]["kind"] == b"reading":
                    return _Block(first_id, found)
                if len(found) >= BLOCK_ENTRIES:
                    break
            if len(rows) < _ROWS_AT_ONCE:
                break
            begin = f"({rows[-1][0].decode()}"
        return _Block(first_id, found) if len(found) >= BLOCK_ENTRIES else _NO_BLOCK


class _Block(NamedTuple):
    """Entries to compress, and the id of the stream entry with which they begin."""

    first_id: bytes
    entries: list[Entry]


_NO_BLOCK: Final = _Block(b"", [])
