"""A floor on a Redis with replicas: the service, its broker, and its reports about the link."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.mqtt.floors import many_tables_text
from tests.mqtt.stand import Service
from tests.servers import Mosquitto, eventually, free_port
from tests.waiting import LONG_S


@contextmanager
def serving(home: Path, broker: Mosquitto, url: str) -> Iterator[Service]:
    port = free_port()
    config = home / "floor.toml"
    config.write_text(many_tables_text(broker=broker.url, redis=url, port=port, data=home / "data"))
    with Service(config, port) as service:
        yield service


def reason(service: Service) -> str:
    answer = httpx.get(f"{service.url}/readyz", timeout=LONG_S)
    return "" if answer.status_code == 200 else answer.text


def until_ready(service: Service) -> None:
    eventually(lambda: not reason(service), within_s=2 * LONG_S, what="the links operable again")
