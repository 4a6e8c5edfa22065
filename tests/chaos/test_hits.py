"""A jackpot is shown under any failure at the moment when it is won (duty D8)."""

import json
from typing import Any

import pytest

from tests.mqtt.events import result, wagers
from tests.mqtt.stand import Stand
from tests.servers import eventually

SPADES = {"position": 3, "patron": "p3", "cards": ["As", "Ks", "Qs"], "folded": False}


def shown_hits(stand: Stand) -> list[dict[str, Any]]:
    """Return the jackpots that a display receives when it connects: current ones come first."""
    hits: list[dict[str, Any]] = []
    for event, data in stand.service.streamed():
        if event == "jackpot":
            hits.append(json.loads(data))
        elif event == "controller" and hits:
            break
    return hits


def batches_taken(stand: Stand) -> float:
    return stand.service.counted("pitlink_intake_lag_seconds_count")


@pytest.mark.duty("D8", proof=True)
@pytest.mark.section("649a.11(c)(5)(i)")
def test_duty_d8_a_hit_is_shown_though_the_broker_was_lost_while_it_was_applied(
    stand: Stand,
) -> None:
    """The connection to the broker breaks while Redis applies the result."""
    table = stand.table()
    table.accept(wagers(1))
    key = b"meter:progressive"
    before = stand.account("main", key)
    heard, taken = len(stand.ear.on(table.out)), batches_taken(stand)
    try:
        # Redis is frozen so that the result reaches it before a heartbeat may find Redis gone and
        # stop the link.
        with stand.service.frozen():
            table.publish(result(2, positions=[SPADES]))
            stand.ear.next_on(table.out, heard)
            stand.redis.freeze()
        eventually(lambda: batches_taken(stand) > taken, what="the result taken")
        stand.mosquitto.kill()
        log = stand.service.process
        eventually(lambda: '"broker gone"' in log.errors, what="the service without its broker")
    finally:
        stand.redis.thaw()
    eventually(lambda: stand.account("main", key) != before, what="the hit in the books")
    stand.mosquitto.start()
    eventually(stand.service.ready, what="ready")
    eventually(
        lambda: table.table in [hit["table"] for hit in shown_hits(stand)], what="the hit shown"
    )
