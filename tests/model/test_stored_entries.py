"""The ledger in Redis: entries of one script call together."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest
import zstandard

from meters.ledger.chain import ENTRY_FIELDS
from meters.store.stored_entries import COMPRESSED, PACKED, compress_texts, unpack_entry
from tests.model.pit import AT, Pit
from tests.mqtt.events import encode, void, wagers

pytestmark = pytest.mark.duty("D17")

TABLES = ("T-1", "T-2")
Batch = tuple[bytes, dict[bytes, bytes]]


async def play(pit: Pit, rounds: Sequence[int] = (1, 2)) -> None:
    """Play rounds at both tables. Each script call gets the events of both."""
    for each in rounds:
        for event in (wagers(2 * each - 1, f"R{each}"), void(2 * each, f"R{each}")):
            replies = (await pit.take([(table, encode(event)) for table in TABLES])).replies
            assert [b'"accepted"' in reply for _, reply in replies] == [True, True]


async def batches(pit: Pit) -> list[Batch]:
    return cast("list[Batch]", await pit.redis.xrange(pit.store.keys.ledger))


async def put(pit: Pit, rows: Sequence[Batch]) -> None:
    await pit.redis.delete(pit.store.keys.ledger)
    for entry, fields in rows:
        await pit.redis.xadd(pit.store.keys.ledger, dict[Any, Any](fields), id=entry)


def values_of(row: Batch) -> list[list[Any]]:
    return msgspec.msgpack.decode(row[1][PACKED.encode()], type=list[list[Any]])


def with_values(row: Batch, values: object) -> Batch:
    return row[0], row[1] | {PACKED.encode(): msgspec.msgpack.encode(values)}


async def test_entries_of_one_script_call_are_one_entry_of_the_stream(pit: Pit) -> None:
    await play(pit)
    rows = await batches(pit)
    counts = [len(unpack_entry(row)) for row in rows]
    seeds = len(pit.link.meter)
    assert seeds > 1
    assert counts == [seeds, 2, 2, 2, 2]
    assert [row[0] for row in rows] == [b"%d-0" % sum(counts[: at + 1]) for at in range(5)]
    seeded, *played = [[name.decode() for name in row[1]] for row in rows]
    assert seeded == [
        PACKED, *(f"{name}{at + 1}" for at in range(seeds) for name in ("event", "reply"))
    ]  # fmt: skip
    assert played == [[PACKED, COMPRESSED]] * 4
    numbers = [number for number, _ in await pit.store.entries(0, 100)]
    assert numbers == [*range(1, seeds + 9)]
    assert all([*fields] == [*ENTRY_FIELDS] for _, fields in await pit.store.entries(0, 100))
    assert (await pit.audit()).problems == ()


async def test_every_page_has_the_entries_that_follow_and_skips_none(pit: Pit) -> None:
    """Pages end and begin between any two entries."""
    await play(pit, (1, 2, 3, 4))
    every = await pit.store.entries(0, 1_000)
    last = len(every)
    assert [number for number, _ in every] == [*range(1, last + 1)]
    for after in range(last + 2):
        for count in (1, 2, 3, last):
            page = await pit.store.entries(after, count)
            assert page == every[after : after + len(page)]
            assert len(page) <= count
            assert bool(page) == (after < last)
    assert await pit.store.entries_at([3, 99, 1, last]) == [every[2], every[0], every[-1]]
    assert (await pit.audit()).problems == ()


async def test_the_head_is_compared_with_the_last_of_the_entries(pit: Pit) -> None:
    await play(pit)
    assert (await pit.store.state()).head.in_ledger
    rows = await batches(pit)
    *others, last = rows
    values = values_of(last)
    await put(pit, [*others, with_values(last, [*values[:-1], [*values[-1][:-1], "0" * 40]])])
    assert not (await pit.store.state()).head.in_ledger
    repeat = encode(void(4, "R2"))
    for digest, in_ledger in (("0" * 40, False), (values[-1][-1], True)):
        await put(pit, [*others, with_values(last, [*values[:-1], [*values[-1][:-1], digest]])])
        other = Pit(pit.redis)
        assert (await other.take([("T-1", repeat)])).replies
        assert other.head.in_ledger == in_ledger


def _changes(rows: list[Batch]) -> dict[str, list[Batch]]:
    """Return what somebody could make of the stream, by name. The third row has two entries."""
    before, row, after = rows[:2], rows[2], rows[3:]
    entry, fields = row
    first, second = values_of(row)
    number = int(entry.split(b"-")[0])
    key, blob = PACKED.encode(), fields[PACKED.encode()]
    texts_key = COMPRESSED.encode()
    packed = zstandard.decompress(fields[texts_key])
    texts = msgspec.msgpack.decode(packed, type=list[tuple[bytes, tuple[str, ...]]])
    without_size = zstandard.ZstdCompressor(write_content_size=False).compress(packed)
    (event, (reply,)), other = texts

    def made(name: bytes, value: bytes) -> Batch:
        return entry, fields | {name: value}

    def values(*of: list[Any]) -> Batch:
        return made(key, msgspec.msgpack.encode(of))

    def without(name: bytes) -> Batch:
        return entry, {each: text for each, text in fields.items() if each != name}

    def with_texts(*of: tuple[bytes, tuple[str | int, ...]]) -> Batch:
        return made(texts_key, compress_texts(of))

    changed = {
        "not msgpack": made(key, b"junk"),
        "cut off": made(key, blob[:-1]),
        "too long": made(key, blob + b"\x90"),
        "nothing": made(key, b""),
        "no entries": values(),
        "no array": with_values(row, "x"),
        "deep": made(key, b"\x91" * 100_000),
        "no text": made(key, blob.replace(b"T-1", b"T-\xff")),
        "a value less": values(first, second[:-1]),
        "a value more": values(first, [*second, "x"]),
        "a number": values(first, [*second[:5], 1, *second[6:]]),
        "the first is missing": values(second),
        "the last is missing": values(first),
        "one more before": values(first, first, second),
        "one more after": values(first, second, second),
        "in another order": values(second, first),
        "more than its number": values(*[first] * (number + 1)),
        "another field": made(b"x", b"y"),
        "another name": (entry, {b"entry": blob} | without(key)[1]),
        "no texts": without(texts_key),
        "texts that are not compressed": made(texts_key, b"junk"),
        "texts that are cut off": made(texts_key, fields[texts_key][:-1]),
        "texts without their size": made(texts_key, without_size),
        "texts of another form": made(texts_key, zstandard.compress(b"junk")),
        "an event is missing": with_texts(texts[0]),
        "a place that no text has": values(first, [*second[:7], 3, *second[8:]]),
        "a reply that lacks an amount": with_texts(texts[0], (other[0], (1,))),
        "another event": with_texts(texts[0], (b"{}", other[1])),
        "another reply": with_texts((event, (reply + " ",)), other),
        "the number before": (b"%d-0" % (number - 1), fields),
        "another sequence": (b"%d-1" % number, fields),
    }
    last = int(rows[-1][0].split(b"-")[0])
    return {name: [*before, row, *after] for name, row in changed.items()} | {
        "both": [*before, row, (b"%d-1" % number, fields), *after],
        "gone": [*before, *after],
        "twice": [*rows, (b"%d-0" % (last + 2), rows[-1][1])],
    }


@pytest.mark.duty("D19")
async def test_a_damaged_entry_of_the_stream_is_a_problem_and_stops_no_audit(pit: Pit) -> None:
    await play(pit)
    rows, meters = await batches(pit), pit.store.keys.meters
    assert (await pit.audit()).problems == ()
    last = (await pit.store.snapshot()).last_entry
    for name, changed in _changes(rows).items():
        await put(pit, changed)
        await pit.redis.hset(meters, "entries", str(last + (2 if name == "twice" else 0)))
        assert (await pit.audit()).problems, name
        assert len(await pit.store.entries(0, 1_000)) < 100, name
        await pit.store.state()


@pytest.mark.duty("D19")
async def test_a_page_that_begins_in_an_entry_of_the_stream_hides_no_number(pit: Pit) -> None:
    """The stream entry has one entry too many, with the number of the entry before."""
    await play(pit)
    rows = await batches(pit)
    changed = _changes(rows)["one more before"]
    number = int(rows[2][0].split(b"-")[0])
    await put(pit, changed)
    for after in (number - 1, number - 2):
        ((found, fields), *_) = await pit.store.entries(after, 1)
        assert found == number
        assert PACKED in fields


def _stream_entry(
    values: Sequence[object], texts: Sequence[tuple[bytes, Sequence[str | int]]]
) -> Batch:
    packed = {PACKED.encode(): msgspec.msgpack.encode(values)}
    return b"%d-0" % len(values), packed | {COMPRESSED.encode(): compress_texts(texts)}


@pytest.mark.duty("D19")
def test_a_forged_entry_of_the_stream_does_not_fill_the_memory() -> None:
    """A few bytes for each entry could name one long text, or one reply could have many amounts."""

    def values(place: int) -> list[object]:
        return ["wagers", AT, "table:T-1", "T-1", "R1", "1", "[]", place, [7], "0" * 40]

    long_text = (b"{}", ["x" * 1_000_000])
    forged = {
        "one text for all": _stream_entry([values(1)] * 3, [long_text] * 3),
        "back": _stream_entry([values(2), values(1)], [long_text] * 2),
        "before the first": _stream_entry([values(0)], [long_text]),
        "parts": _stream_entry([values(1)], [(b"{}", [1] * 10_000)]),
        "too long": _stream_entry([values(1)], [(b" " * (1 << 25), ["{}"])]),
    }
    for name, row in forged.items():
        ((_, fields),) = unpack_entry(row)
        assert PACKED in fields, name
    whole = _stream_entry([values(1), values(3)], [long_text, (b"", ()), (b"{}", ["a", 1])])
    assert [fields["reply"][-2:] for _, fields in unpack_entry(whole)] == [b"xx", b"a7"]
