"""Services as on separate machines, each with one bundle of a directory of keys."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.keys.floor import METERS, write_floor
from tests.keys.servers import SecuredMosquitto
from tests.mqtt.stand import Service
from tests.servers import eventually, free_port


class Floor:
    """Floor with its own copy of the directory of keys, on the servers of this test file."""

    def __init__(self, home: Path, keys: Path, broker: SecuredMosquitto, redis_url: str) -> None:
        self.home = home
        self.keys = keys
        self.broker = broker
        self.redis_url = redis_url

    def service(self, number: int, machine: str = "") -> Service:
        """Return a service that has only the bundle with this number; it is not started."""
        home = self.home / f"machine-{machine or number}"
        bundle = home / "keys" / "services" / str(number)
        shutil.copytree(self.keys / "services" / str(number), bundle, dirs_exist_ok=True)
        # The Redis of this test file loaded its list of users before the second service existed.
        for name in ("redis-password", "redis-people-password", "redis-audit-password"):
            shutil.copy(self.keys / "services" / "1" / name, bundle)
        return service_at(home, self.broker, self.redis_url, "--log-level", "debug")


def service_at(home: Path, broker: SecuredMosquitto, redis_url: str, *options: str) -> Service:
    port, path, keys = free_port(), home / "floor.toml", Path("keys")
    config = write_floor(path, broker=broker.url, redis=redis_url, http=port, keys=keys)
    return Service(config, port, *options)


@contextlib.contextmanager
def running(service: Service) -> Iterator[Service]:
    try:
        service.start()
        eventually(lambda: len(service.meters()) == METERS, what="all meters known")
        yield service
    finally:
        service.close()
