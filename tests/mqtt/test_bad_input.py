"""Bad input from a table: refused with its code, nothing changes, and the service stays up."""

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from tests.model.pit import Pit
from tests.mqtt.bad_events import BAD, Bad, opening
from tests.mqtt.events import encode, result, void, wagers
from tests.mqtt.floors import many_tables_text
from tests.mqtt.stand import Asker, Stand
from tests.mqtt.stranger import publish
from tests.servers import eventually

PLAIN_AT_LEAST: Final = 8
FLOOR: Final = many_tables_text(broker="mqtt://127.0.0.1:1", redis="unix:///none", port=1, data="d")


@pytest.fixture
def stand(drawing: Stand) -> Stand:
    return drawing


def check_refused(reply: dict[str, Any], bad: Bad, seq: int) -> None:
    assert reply.keys() == {"seq", "status", "error"}, (bad.name, reply)
    error = reply["error"]
    assert error.keys() <= {"code", "message", "field"}, bad.name
    found = (reply["status"], reply["seq"], error["code"], error.get("field"))
    assert found == ("refused", seq if bad.used else None, bad.code, bad.field), (bad.name, error)
    assert len(error["message"]) > PLAIN_AT_LEAST, bad.name
    assert "Traceback" not in error["message"], bad.name


async def test_each_bad_event_is_refused_and_changes_nothing(redis: Redis) -> None:
    """The refusal has its code and moves no meter, and uses up its seq if there is one.

    Round R1 is open at T-1, and none at T-2.
    """
    pit = Pit(redis, FLOOR)
    await pit.open()
    assert b'"accepted"' in (await pit.send("T-1", encode(opening(1))) or b"")
    before = await books(pit)
    last_seqs = {"T-1": 1, "T-2": 0}
    for bad in BAD:
        table = "T-1" if bad.opened else "T-2"
        event = bad.make(last_seqs[table] + 1)
        reply = await pit.send(table, event) or b""
        check_refused(json.loads(reply), bad, last_seqs[table] + 1)
        assert await books(pit) == before, bad.name
        last_seqs[table] += bad.used
        where = {"last_seq": last_seqs[table], "open_round": "R1" if bad.opened else None}
        hello = await pit.send(table, encode({"type": "hello"})) or b""
        assert json.loads(hello) == {"type": "hello", **where}, bad.name
        assert await pit.send(table, event) == reply, bad.name


async def books(pit: Pit) -> Sequence[object]:
    found = await pit.store.snapshot()
    return found.accounts, found.tallies, found.last_entry


def test_each_kind_is_refused_over_the_broker(stand: Stand, table: Asker) -> None:
    """It is counted, and its refusal is neither retained nor acknowledged by the broker."""
    table.accept(opening(1))
    before, last_seq = stand.books(), 1
    for bad in {one.code: one for one in BAD if one.opened or not one.used}.values():
        refused = stand.service.counted("pitlink_refusals_total", link="main", code=bad.code)
        heard = table.hear(bad.make(last_seq + 1))
        check_refused(heard.json, bad, last_seq + 1)
        assert (heard.qos, heard.retained) == (0, False)
        last_seq += bad.used
        counted = stand.service.counted("pitlink_refusals_total", link="main", code=bad.code)
        # The count rises by one. If a busy machine forced repeats, some repeats are counted too.
        assert refused + 1 <= counted <= refused + table.answers
    assert table.hello() == (last_seq, "R1")
    assert stand.books() == before
    assert stand.service.process.running


def test_every_code_of_the_refusals_is_met_here() -> None:
    """The cases leave out only the two codes of full books, and those of seqs."""
    assert {bad.code for bad in BAD} == {
        "after_lockout", "bad_card", "bad_field", "card_twice", "cards_missing",
        "community_missing", "name_twice", "not_json", "patron_differs", "position_missing",
        "position_twice", "round_open", "too_long", "unknown_field", "unknown_meter",
        "unknown_position", "unknown_round", "unknown_wager", "unprintable_text", "wrong_amount",
        "wrong_cards",
    }  # fmt: skip


def test_what_the_books_refuse_is_answered_over_the_broker(stand: Stand, table: Asker) -> None:
    """A seq ahead is not used up. A used seq is refused with other content, and a round is over."""
    for seq, early in ((2, wagers(2)), (2**53 - 1, wagers(2**53 - 1)), (5, wagers(5, tip=1))):
        assert table.ask(early) == {"seq": seq, "status": "out_of_order", "expected": 1}
    assert table.hello() == (0, None)
    first = table.hear(wagers(1))
    before = stand.books()
    for event in (wagers(1, "R2"), void(1), encode(wagers(1)) + b" ", wagers(1, tip=5)):
        reply = table.ask(event)
        assert (reply["seq"], reply["error"]["code"]) == (1, "seq_reused")
    assert table.hear(wagers(1)).payload == first.payload
    assert table.hello() == (1, "R1")
    assert stand.books() == before
    table.accept(result(2))
    before = stand.books()
    for event in (wagers(3), result(4), void(5)):
        reply = table.ask(event)
        assert (reply["seq"], reply["error"]["code"]) == (event["seq"], "round_over")
    for seq in range(6, 36):
        assert table.ask(void(seq, "R9"))["error"]["code"] == "unknown_round"
    reply = table.ask(wagers(1))
    assert (reply["seq"], reply["error"]["code"]) == (1, "seq_passed")
    assert table.hello() == (35, None)
    assert stand.books() == before


@pytest.mark.parametrize(
    ("link", "table_id"),
    [("main", "T-9999"), ("other", "T-1"), ("nowhere", "T-1"), ("main", "X-1")],
)
def test_a_table_that_the_floor_has_not_is_refused(stand: Stand, link: str, table_id: str) -> None:
    """A table is known on its own link alone. Its seq is not stored, so none is used up."""
    stranger, before = stand.at(link, table_id), stand.books()
    junk = (b'{"x":' + b"[" * 9_000, b'{"seq":1,"x":"\xff\xff"}', b"", b'{"seq":' + b"9" * 5_000)
    for event in (wagers(1), wagers(1), {"type": "hello"}, b"nonsense", *junk):
        reply = stranger.ask(event)
        assert reply["error"]["code"] == "unknown_table", reply
        assert table_id in reply["error"]["message"]
        if event not in junk:
            assert reply["seq"] == (1 if isinstance(event, dict) and "seq" in event else None)
    assert stand.books() == before


@pytest.mark.parametrize("name", ["T_1", "T 1", "T" * 33, "T-1/x", "é"])
def test_a_topic_that_names_no_table_is_not_answered(stand: Stand, table: Asker, name: str) -> None:
    """The next message, from a real table, is processed."""
    stranger, before = stand.at("main", name), stand.books()
    stranger.publish(wagers(1))
    table.hello()
    assert stand.ear.on(stranger.into) == []
    assert stand.books() == before


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"junk", id="junk"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b'{"online":true,"state":"\xff","at":"2026-11-20T02:14:07Z"}', id="inside"),
        pytest.param(b'{"online":' + b"[" * 9_000, id="deep"),
        pytest.param(b'{"x":' + b"[" * 9_000, id="deep in an unknown field"),
        pytest.param(b'{"online":1,"state":"open","at":"2026-11-20T02:14:07Z"}', id="1"),
    ],
)
def test_a_junk_status_does_no_harm(stand: Stand, table: Asker, payload: bytes) -> None:
    """An unreadable table state counts no table as connected, and stops nothing."""
    before = stand.service.counted("pitlink_tables_online", link="main")
    topic = "pitlink/v1/main/table/S-1/status"
    publish(stand.mosquitto.port, topic, payload, retain=True)
    assert table.hello() == (0, None)
    assert stand.service.counted("pitlink_tables_online", link="main") == before
    publish(stand.mosquitto.port, topic, b"", retain=True)


@pytest.mark.slow
def test_retained_junk_does_no_harm_now_or_after_a_restart(stand: Stand, table: Asker) -> None:
    """A retained message on a table's topic is refused once, and again by a new service."""
    before = stand.books()
    assert table.ask(b"junk", retain=True)["error"]["code"] == "not_json"
    topic = f"pitlink/v1/main/table/{table.table}/status"
    publish(stand.mosquitto.port, topic, b'{"state":"\xff","at":"x"}', retain=True)
    stand.service.process.kill()
    stand.service.start()
    eventually(lambda: stand.books() == before, what="the meters as they were")
    table.accept(wagers(1))
    for each in (table.out, topic):
        publish(stand.mosquitto.port, each, b"", retain=True)
