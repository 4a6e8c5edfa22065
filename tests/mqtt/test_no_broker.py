"""The pages while the service has no broker: no table can play, so none of them says "live"."""

import pytest

from tests.mqtt.stand import Stand
from tests.servers import eventually

pytestmark = [pytest.mark.duty("D14"), pytest.mark.slow]


@pytest.mark.duty("D10")
@pytest.mark.parametrize("limit", ["message_size_limit", "max_packet_size"])
def test_a_broker_that_refuses_the_longest_event_counts_as_none(stand: Stand, limit: str) -> None:
    """No table's light goes on, because its lock-out would not arrive."""
    eventually(lambda: stand.service.readiness()["ready"], what="an operable link")
    stand.mosquitto.stop()
    stand.mosquitto._options = (*stand.mosquitto._options, f"{limit} 16000")
    stand.mosquitto.start()
    eventually(
        lambda: all(
            "the broker refuses an event of 16,384 bytes" in reason
            for reason in stand.service.readiness()["links"].values() or [""]
        ),
        what="the reason",
    )
    stand.mosquitto.stop()
    stand.mosquitto._options = stand.mosquitto._options[:-1]
    stand.mosquitto.start()
    eventually(lambda: stand.service.readiness()["ready"], what="an operable link again")


def test_signage_is_unavailable_while_the_service_has_no_broker(stand: Stand) -> None:
    """Only the broker is gone: Redis and the service are well."""
    eventually(
        lambda: stand.service.shown_controller()["state"] == "operable", what="an operable link"
    )
    stand.mosquitto.kill()
    eventually(
        lambda: stand.service.shown_controller()["state"] == "inoperable", what="an inoperable link"
    )
    assert stand.service.shown_controller()["reason"] == "no broker"
    eventually(
        lambda: stand.service.counted("pitlink_link_operable") == 0,
        what="the metric of inoperable links",
    )
    stand.mosquitto.start()
    eventually(
        lambda: stand.service.shown_controller()["state"] == "operable", what="the link again"
    )
