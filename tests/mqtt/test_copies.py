"""Each event is published three times back to back by many tables: all copies get one reply.

This needs no fault: a client with a short timeout or a proxy does the same.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.mqtt.events import Event, encode, result, void, wagers
from tests.mqtt.stand import REPEAT_AFTER_S, REPEATS_MAX, Asker, Service, Stand
from tests.servers import eventually

pytestmark = pytest.mark.slow

TABLES: Final = 6
ROUNDS: Final = 4
LAST: Final = 2 * ROUNDS - 1
COPIES: Final = 3
ROYAL: Final = [{"position": 3, "patron": "p3", "cards": ["As", "Ks", "Qs"]}]


@contextlib.contextmanager
def publisher(port: int) -> Iterator[paho.Client]:
    """Yield a connected client that does not use our code."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        yield client
        client.disconnect()
    finally:
        client.loop_stop()


def replies_to(table: Asker, seq: int) -> list[bytes]:
    """Return every reply that the table has received to an event so far."""
    return [one.payload for one in table.stand.ear.on(table.into) if one.json.get("seq") == seq]


def publish_three_times(client: paho.Client, events: Sequence[tuple[Asker, Event]]) -> None:
    """Publish each event three times back to back until all copies are answered.

    On a busy machine a service may be inoperable for a moment, and then answers nothing.
    """
    for _ in range(REPEATS_MAX):
        for table, event in events:
            for _ in range(COPIES):
                client.publish(table.out, encode(event), qos=1)
        with contextlib.suppress(AssertionError):
            eventually(
                lambda: all(
                    len(replies_to(table, event["seq"])) >= COPIES for table, event in events
                ),
                within_s=REPEAT_AFTER_S,
            )
            return
    raise AssertionError(f"not all copies were answered: {events}")


def one_reply(table: Asker, event: Event) -> bytes:
    """Return the reply to an event, after a check that every copy got the same one."""
    found = set(replies_to(table, event["seq"]))
    assert len(found) == 1, f"{event} was answered {found}"
    return found.pop()


def play(stand: Stand, tables: Sequence[Asker], rounds: range) -> None:
    """Play rounds at all tables together: wagers, a refused result, a result or a void."""
    with publisher(stand.mosquitto.port) as client:
        for number in rounds:
            name, seq = f"R{number}", 3 * number + 1
            end = void(seq + 2, name) if number % 2 else result(seq + 2, name)
            if number == LAST:  # whose wins hold the tables
                end = result(seq + 2, name, positions=ROYAL)
            for event, said in (
                (wagers(seq, name), b'"accepted"'),
                (result(seq + 1, name, dealer=["As"]), b'"refused"'),
                (end, b'"accepted"'),
            ):
                publish_three_times(client, [(table, event) for table in tables])
                for table in tables:
                    assert said in one_reply(table, event)


@pytest.mark.duty("D6")
def test_copies_back_to_back_get_one_reply_and_count_once(stand: Stand, tmp_path: Path) -> None:
    """First one service runs, then two that share the copies."""
    tables = [stand.table() for _ in range(TABLES)]
    play(stand, tables, range(ROUNDS))
    other: Service = stand.another(tmp_path)
    try:
        other.start()
        play(stand, tables, range(ROUNDS, 2 * ROUNDS))
    finally:
        other.close()
    ledger = stand.ledger("main")
    for table in tables:
        counted = [int(entry["seq"]) for entry in ledger if entry["table"] == table.table]
        assert counted == [seq for seq in range(1, 6 * ROUNDS + 1) if seq % 3 != 2]
    assert stand.service.audit()["balanced"]
