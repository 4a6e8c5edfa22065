"""Wagers with the positions of a table's last round are read as the decoder reads them."""

from dataclasses import replace
from typing import Final

import msgspec
import pytest
from redis.asyncio import Redis

from meters.books.refusals import EventRefusal
from meters.books.script_steps import Contribution
from meters.intake.decoding import read_event
from meters.intake.repeated_wagers import AddedByWagers, RepeatedWagers
from meters.intake.validation import judge_wagers
from meters.wire.messages import EVENT_BYTES_MAX, Wagers
from tests.fuzz.service_targets import BOXES, known_table
from tests.model.pit import Pit
from tests.mqtt.events import encode, result, void, wagers

FIRST: Final = encode(wagers(1, positions=BOXES))
TEXT: Final = encode(BOXES)
OTHERS: Final = encode(BOXES[:2])
KNOWN: Final = known_table()


def changed(old: bytes, new: bytes) -> bytes:
    """Return the first event with other bytes in one place."""
    assert FIRST.count(old) == 1
    return FIRST.replace(old, new)


@pytest.fixture
def repeated() -> RepeatedWagers:
    event = decoded(FIRST)
    read = RepeatedWagers()
    assert read.read(KNOWN, FIRST) is None
    read.note(
        KNOWN, FIRST, event, AddedByWagers(judge_wagers(KNOWN, event.positions), event.positions)
    )
    return read


def decoded(payload: bytes) -> Wagers:
    event, _ = read_event(payload)
    assert isinstance(event, Wagers)
    return event


def test_repeated_wagers_are_those_of_the_new_event(repeated: RepeatedWagers) -> None:
    payload = encode(wagers(7, "R7", at="2026-11-20T03:14:07Z", positions=BOXES))
    event = repeated.read(KNOWN, payload)
    assert event == decoded(payload) != decoded(FIRST)
    added = repeated.added(KNOWN, event)
    assert added is not None
    assert added.contributions == judge_wagers(KNOWN, event.positions)
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
def test_other_events_are_left_to_the_decoder(repeated: RepeatedWagers, payload: bytes) -> None:
    assert payload != FIRST
    assert repeated.read(KNOWN, payload) is None


def test_wagers_are_validated_again_after_a_change_of_the_floor(repeated: RepeatedWagers) -> None:
    dearer = {
        name: tuple(replace(fed, wager_cents=500) for fed in offer)
        for name, offer in KNOWN.offers.items()
    }
    known = replace(KNOWN, offers=dearer)
    event = repeated.read(known, FIRST)
    assert event is not None
    assert repeated.added(known, event) is None
    with pytest.raises(EventRefusal, match="is offered at 500 cents"):
        judge_wagers(known, event.positions)


def test_tables_do_not_share_their_wagers(repeated: RepeatedWagers) -> None:
    other = replace(KNOWN, table=msgspec.structs.replace(KNOWN.table, id="T-2"))
    assert repeated.read(other, FIRST) is None


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
