"""Changes to a link's books directly in Redis, without the service."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from meters.ledger.chain import ENTRY_FIELDS, link_and_seal
from meters.store.stored_entries import StreamEntry, pack_entries, unpack_entry
from tests.model.pit import FIVE_CARD, PROGRESSIVE, RAGS, Pit

Fields = dict[bytes, bytes]


async def play_a_while(pit: Pit) -> None:
    """Play wagers, wins of every kind, a void and decisions: every kind of ledger entry."""
    everything = "progressive five_card_progressive five_of_six_progressive five_card_hand_bonus"
    await pit.round(
        {3: everything, 5: everything},
        {3: "As Ks Qs", 5: "9s 8s 7s"},
        community="Js Ts",
        dealer="2c 7d 9h",
    )
    await pit.wagers({1: PROGRESSIVE}, table="T-2")
    await pit.void(table="T-2")
    await pit.round({2: f"{PROGRESSIVE} {FIVE_CARD}"}, {2: RAGS}, table="T-2", round_id="R2")
    await pit.decide("pit.T-1-2-2", "validate")
    await pit.decide("pit.T-1-2-2", "pay")
    await pit.decide("pit.T-1-2-3", "reject")
    await pit.wagers({2: PROGRESSIVE}, table="T-2", round_id="R3")
    assert (await pit.audit()).balanced


async def ledger(pit: Pit) -> list[tuple[bytes, Fields]]:
    """Return every entry that Redis has, with its number as ``NUMBER-0``."""
    rows = cast("list[StreamEntry]", await pit.redis.xrange(pit.store.keys.ledger))
    return [
        (b"%d-0" % number, {name.encode(): value for name, value in fields.items()})
        for row in rows
        for number, fields in unpack_entry(row)
    ]


async def put_entry(pit: Pit, entry: bytes, fields: Fields) -> None:
    """Write one ledger entry; with fields that no entry has, each in a field of the stream."""
    named = {name.decode(): value for name, value in fields.items()}
    put: Mapping[Any, bytes] = fields
    if [*named] == [*ENTRY_FIELDS]:
        put = pack_entries([named])
    await pit.redis.xadd(pit.store.keys.ledger, dict(put), id=entry)


async def rewrite(
    pit: Pit,
    change: Callable[[int, Fields], Fields | None],
    *,
    chained: bool = True,
    digest: str = "",
) -> None:
    """Write the ledger again, each entry as `change` returns it; drop entries for which it is None.

    Unless `chained`, every digest stays as it was. `digest` is that of the entry before the first,
    if earlier entries were trimmed.
    """
    rows = await ledger(pit)
    key = pit.store.keys.ledger
    await pit.redis.delete(key)
    for entry, fields in rows:
        made = change(int(entry.split(b"-")[0]), dict(fields))
        if made is not None:
            if chained:
                content = {name: value for name, value in made.items() if name != b"chain"}
                made = content | {b"chain": b""}
                named = {name.decode(): value for name, value in made.items()}
                digest, _ = link_and_seal(digest, "", int(entry.split(b"-")[0]), named)
                made[b"chain"] = digest.encode()
            await put_entry(pit, entry, made)
    if chained:
        await pit.redis.hset(pit.store.keys.meters, "chain", digest)


async def move_balance(pit: Pit, account: str, micros: int) -> None:
    await pit.redis.hincrby(pit.store.keys.accounts, account, micros)


async def entry_of(pit: Pit, kind: str) -> int:
    return next(int(entry["id"]) for entry in await pit.entries() if entry["kind"] == kind)


def change_transfer(fields: Fields, place: int, micros: int) -> Fields:
    transfers = msgspec.json.decode(fields[b"transfers"], type=list[list[object]])
    before = transfers[place][2]
    assert isinstance(before, int)
    transfers[place][2] = before + micros
    return fields | {b"transfers": msgspec.json.encode(transfers)}
