"""The pages while the service has no broker: no table can play, so none of them says "live"."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mqtt.stand import Service, Stand
from tests.servers import eventually
from tests.waiting import LONG_S

pytestmark = pytest.mark.duty("D14")


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with Stand(tmp_path) as stand:
        yield stand


def shown_controller(service: Service) -> dict[str, Any]:
    """Return the state of the link that a signage page receives when it connects."""
    address, event = f"{service.url}/api/v1/meters/stream", ""
    with (
        httpx.Client(timeout=LONG_S) as client,
        client.stream("GET", address) as answer,
    ):
        for line in answer.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: ") and event == "controller":
                found: dict[str, Any] = json.loads(line.removeprefix("data: "))
                return found
    raise AssertionError("no state of the link")


def operable(stand: Stand) -> str:
    """Return the lines of the metric of operable links."""
    lines = httpx.get(f"{stand.service.url}/metrics", timeout=LONG_S).text.splitlines()
    return " ".join(line for line in lines if line.startswith("pitlink_link_operable{"))


def test_signage_is_unavailable_while_the_service_has_no_broker(stand: Stand) -> None:
    """Only the broker is gone: Redis and the service are well."""
    eventually(
        lambda: shown_controller(stand.service)["state"] == "operable", what="an operable link"
    )
    stand.mosquitto.kill()
    eventually(
        lambda: shown_controller(stand.service)["state"] == "inoperable", what="an inoperable link"
    )
    assert shown_controller(stand.service)["reason"] == "no broker"
    eventually(lambda: "0.0" in operable(stand), what="the metric of an inoperable link")
    stand.mosquitto.start()
    eventually(
        lambda: shown_controller(stand.service)["state"] == "operable", what="the link again"
    )
