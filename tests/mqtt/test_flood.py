"""A table that floods its topic: others are answered, books stay right, the log stays short."""

import pytest

from tests.fuzz.flood import payloads
from tests.fuzz.service_targets import check_event
from tests.mqtt.events import wagers
from tests.mqtt.stand import Asker, Stand
from tests.mqtt.stranger import publish_all
from tests.servers import eventually

MESSAGES = 4_000


@pytest.mark.slow
def test_the_others_play_on_and_the_flood_is_counted(stand: Stand, table: Asker) -> None:
    mad, before = stand.table(), stand.books()
    logged = stand.service.process.errors.count("\n") + stand.service.process.output.count("\n")
    lines = [
        line
        for line in payloads("junk")
        if line and not {10, 0} & set(line) and not check_event(line)
    ]
    publish_all(stand.mosquitto.port, [(mad.out, line) for line in (lines * MESSAGES)[:MESSAGES]])
    table.accept(wagers(1))
    eventually(
        lambda: (
            stand.service.counted("pitlink_messages_dropped_total", link="main") > MESSAGES // 4
        ),
        what="most of the flood let go",
    )
    after = stand.books()
    assert after["main"]["entries"] == before["main"]["entries"] + 1
    more = stand.service.process.errors.count("\n") + stand.service.process.output.count("\n")
    assert more - logged < 200
    assert "flooded" in stand.service.process.errors + stand.service.process.output
