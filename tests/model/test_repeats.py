"""A wager counts once, with repeats, events out of turn, and workers with old knowledge."""

import asyncio
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest
from redis.asyncio import Redis

from meters.intake.event_reading import EventReader, read_event
from meters.intake.wager_judging import judge_wagers
from meters.ledger.script_steps import Contribution
from meters.store.event_refusals import EventRefusal
from meters.wire.messages import EVENT_BYTES_MAX, Wagers
from tests.fuzz.service_targets import BOXES, known_table
from tests.model.pit import Pit
from tests.mqtt.events import encode, result, void, wagers


@pytest.fixture
async def pair(redis: Redis) -> Pit:
    return await Pit.opened(redis, workers=2)


async def _answer(pit: Pit, payload: bytes, worker: int) -> bytes:
    for _ in range(2):
        reply = await pit.send("T-1", payload, worker=worker)
        if reply is not None:
            return reply
    raise AssertionError("not answered twice")


async def test_worker_that_remembers_an_old_round_settles_on_the_one_in_the_books(
    pair: Pit,
) -> None:
    """R1 comes again with other wagers while worker 0 still remembers the first one."""
    await _answer(pair, encode(wagers(1)), 0)
    for event in (void(2), wagers(3, "R2"), void(4, "R2")):
        assert b'"accepted"' in await _answer(pair, encode(event), 1), event
    more = [{"position": 3, "wagers": {"five_of_six_progressive": 100}}]
    await _answer(pair, encode(wagers(5, positions=more)), 1)
    settled = encode(result(6))
    assert await pair.send("T-1", settled, worker=0) is None, "the table repeats it"
    reply = await pair.send("T-1", settled, worker=0)
    assert reply is not None
    assert b"five_of_six_progressive" in reply
    assert b'"item":"progressive"' not in reply


async def test_answers_that_come_in_another_order_do_not_turn_the_head_back(pit: Pit) -> None:
    """The mark outside the store depends on it, and is written before any answer is sent."""
    store, applied, overtaken = pit.intakes[0]._store, asyncio.Event(), asyncio.Event()
    apply, late = store.script("apply_events"), True

    async def apply_late(**given: Any) -> Any:  # noqa: ANN401
        nonlocal late
        first, late = late, False
        rows = await apply(**given)
        if first:
            applied.set()
            await overtaken.wait()
        return rows

    store._scripts["apply_events"] = apply_late  # type: ignore[assignment]
    slow = asyncio.create_task(pit.send("T-1", encode(wagers(1))))
    await applied.wait()
    await pit.send("T-2", encode(wagers(1)))
    head = store.head
    overtaken.set()
    await slow
    assert store.head == head == (await pit.store.state()).head


# Wagers with the positions of a table's last round are read as the decoder reads them.

FIRST: Final = encode(wagers(1, positions=BOXES))
TEXT: Final = encode(BOXES)
OTHERS: Final = encode(BOXES[:2])
KNOWN: Final = known_table()


def changed(old: bytes, new: bytes) -> bytes:
    assert FIRST.count(old) == 1
    return FIRST.replace(old, new)


@pytest.fixture
def reader() -> EventReader:
    event = decoded(FIRST)
    reader = EventReader()
    assert reader.event_in(KNOWN, FIRST) == (event, 1, None)
    reader.note(KNOWN, FIRST, event, judge_wagers(KNOWN, event.positions))
    return reader


def decoded(payload: bytes) -> Wagers:
    event, _ = read_event(payload)
    assert isinstance(event, Wagers)
    return event


def test_repeated_wagers_are_those_of_the_new_event(reader: EventReader) -> None:
    payload = encode(wagers(7, "R7", at="2026-11-20T03:14:07Z", positions=BOXES))
    event, seq, added = reader.event_in(KNOWN, payload)
    assert event == decoded(payload) != decoded(FIRST)
    assert seq == 7
    assert added == judge_wagers(KNOWN, decoded(payload).positions)
    assert msgspec.json.decode(added.text, type=list[Contribution]) == [*added.contributions]


@pytest.mark.parametrize(
    "payload",
    [
        encode(wagers(7, positions=BOXES[:2])),
        encode(void(7)),
        encode(result(7)),
        changed(b'"seq": 1', b'"seq": 0'),
        changed(b'"seq": 1', b'"seq": 1, "seq": 2'),
        changed(b'"seq": 1', b'"seq": 1, "se\\u0071": 2'),
        changed(b'"seq": 1', b'"seq": 1, "more": 2'),
        changed(TEXT, TEXT + b', "positions": ' + TEXT),
        changed(TEXT, TEXT + b', "positions": ' + OTHERS),
        changed(TEXT, OTHERS + b', "positions": ' + TEXT),
        changed(TEXT, b'"%b"' % TEXT),
        changed(TEXT, b"[%b]" % TEXT),
        FIRST + b" " * EVENT_BYTES_MAX,
        FIRST[:-1],
        b"x" + FIRST,
    ],
)
def test_other_events_are_left_to_the_decoder(reader: EventReader, payload: bytes) -> None:
    assert payload != FIRST
    assert reader.event_in(KNOWN, payload)[2] is None


def test_wagers_are_validated_again_after_a_change_of_the_floor(reader: EventReader) -> None:
    dearer = {
        name: tuple(replace(fed, wagers_cents=(500,)) for fed in offer)
        for name, offer in KNOWN.offers.items()
    }
    known = replace(KNOWN, offers=dearer)
    assert reader.event_in(known, FIRST) == (decoded(FIRST), 1, None)
    with pytest.raises(EventRefusal, match="is offered at 500 cents"):
        judge_wagers(known, decoded(FIRST).positions)


def test_tables_do_not_share_their_wagers(reader: EventReader) -> None:
    other = replace(KNOWN, table=msgspec.structs.replace(KNOWN.table, id="T-2"))
    assert reader.event_in(other, FIRST)[2] is None


@pytest.mark.parametrize("round_id", ["R\x1b[2J2", " "])
async def test_round_id_of_repeated_wagers_is_checked(redis: Redis, round_id: str) -> None:
    pit = await Pit.opened(redis)
    positions = [{"position": 1, "patron": "p1", "wagers": {"progressive": 100}}]
    first = await pit.event("T-1", "wagers", "R1", positions=positions)
    assert first.status == "accepted"
    await pit.event("T-1", "void", "R1", reason="misdeal")
    again = await pit.event("T-1", "wagers", round_id, positions=positions)
    assert again.error is not None
    assert (again.error.code, again.error.field) == ("unprintable_text", "round")
