"""Redis servers and sentinels over TLS, as `pitlink setup --redis` installs them on machines."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import redis

from meters.floor.server_addresses import parse_replicated
from meters.setup.redis_machine import RedisMachine, check_primary
from tests.keys.floor import write_floor
from tests.servers import eventually, free_port, run_pitlink
from tests.setup.machine import Machine
from tests.setup.written_server import WrittenServer

_ADDRESSES: Final = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
_OPERATOR: Final = ("operator", "operator-password")
_UP_WITHIN_S: Final = 60


class SecuredMachines:
    """Three machines with a Redis and a sentinel each, running from entry to exit."""

    def __init__(self, home: Path) -> None:
        self._sentinel_ports = [free_port() for _ in _ADDRESSES]
        places = zip(_ADDRESSES, self._sentinel_ports, strict=True)
        hosts = ",".join(f"{address}:{port}" for address, port in places)
        self.keys = home / "keys"
        self.url = f"rediss+sentinel://{hosts}/pitlink"
        self.config = write_floor(
            home / "floor.toml", redis=self.url, http=free_port(), keys=self.keys
        )
        made = ("--out", str(self.keys), "--redis-home", "/etc/redis/pitlink")
        self._run("keys", "--config", str(self.config), *made)
        with (self.keys / "redis" / "users.acl").open("a") as users:
            users.write("user {} on >{} +@all ~*\n".format(*_OPERATOR))
        self._confs = [self._install(Machine(home / address), address) for address in _ADDRESSES]
        self.stores: list[WrittenServer] = []
        self._up = ExitStack()

    def _install(self, machine: Machine, address: str) -> Path:
        options = ("--keys", str(self.keys), "--floor", str(self.config))
        done = machine.setup("--redis", address, "--primary", _ADDRESSES[0], *options)
        assert (done.returncode, done.stderr) == (0, "")
        return machine.path("etc/redis")

    @staticmethod
    def _run(*command: str) -> None:
        done = run_pitlink(*command)
        assert done.returncode == 0, done.stderr

    def check_primary(self, own: int, primary: int, *, is_empty: bool = False) -> None:
        """Ask the sentinels of the other machines, as `pitlink setup` does on a machine."""
        machine = RedisMachine(_ADDRESSES[own], _ADDRESSES[primary], parse_replicated(self.url))
        check_primary(machine, self.keys / "redis", is_empty=is_empty)

    def client(self, number: int) -> redis.Redis:
        return self._client(self.stores[number].ports[0], *_OPERATOR)

    def sentinel(self, number: int) -> redis.Redis:
        password = (self.keys / "sentinels" / "password").read_text().strip()
        return self._client(self._sentinel_ports[number], None, password)

    def _client(self, port: int, username: str | None, password: str) -> redis.Redis:
        home = self.keys / "redis"
        return redis.Redis(
            port=port,
            username=username,
            password=password,
            ssl=True,
            ssl_ca_certs=str(home / "ca.crt"),
            ssl_certfile=str(home / "redis.crt"),
            ssl_keyfile=str(home / "redis.key"),
        )

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for conf in self._confs:
                store = WrittenServer("redis-server", conf / "redis.conf", 6379)
                if self.stores:
                    store.change(r"^(replicaof \S+) 6379", rf"\1 {self.stores[0].ports[0]}")
                self.stores.append(stack.enter_context(store))
            with self.client(0) as client:
                eventually(
                    lambda: client.info("replication").get("min_slaves_good_slaves") == 2,
                    within_s=_UP_WITHIN_S,
                    what="two replicas in step",
                )
            for conf in self._confs:
                sentinel = WrittenServer("redis-server", conf / "sentinel.conf")
                port = self.stores[0].ports[0]
                sentinel.change(r"^(sentinel monitor \S+ \S+) 6379", rf"\1 {port}")
                stack.enter_context(sentinel)
            for number in range(len(_ADDRESSES)):
                eventually(
                    lambda: self._sees(number),  # noqa: B023
                    within_s=_UP_WITHIN_S,
                    what="sentinels that know each other",
                )
            self._up = stack.pop_all()
        return self

    def _sees(self, number: int) -> tuple[int, int] | None:
        """Return the numbers of replicas and other sentinels if a sentinel has found all."""
        try:
            with self.sentinel(number) as client:
                of: dict[str, Any] = client.sentinel_masters()["pitlink"]
        except redis.ConnectionError:
            return None
        found = (of["num-slaves"], of["num-other-sentinels"])
        return found if found == (2, 2) else None

    def __exit__(self, *raised: object) -> None:
        self._up.close()
