"""Redis servers with replication: a primary with replicas and sentinels, and a cluster."""

import itertools
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final, Self

import redis

from tests.chaos.wire import Wire
from tests.servers import RedisServer, Server, eventually, free_port, require
from tests.waiting import LONG_S

SERVICE: Final = "pitlink"
DOWN_AFTER_MS: Final = 3_000
"""Milliseconds without an answer after which a server counts as down. No server waits that long on
a busy machine, because it would be replaced without a fault."""
_LEFT_ALONE_MS: Final = 600_000
_TRIED_AGAIN_MS: Final = 10_000
_UP_WITHIN_S: Final = 2 * LONG_S
_KEEPING: Final = {
    "min-replicas-to-write": "1",
    "min-replicas-max-lag": "10",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}


class Follower(RedisServer):
    """A redis-server that a test can ask directly, and make a replica of another."""

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        super().__init__(tcp=True, options=_KEEPING | dict(options or {}))

    def ask(self, *command: object) -> Any:  # noqa: ANN401  (as the server answers)
        with redis.Redis(unix_socket_path=str(self.socket_path), socket_timeout=LONG_S) as client:
            return client.execute_command(*command)

    def follow(self, port: int) -> None:
        """Make it a replica of the server behind a port; start it first if it does not run."""
        self._options["replicaof"] = f"127.0.0.1 {port}"
        if self.running:
            self.ask("REPLICAOF", "127.0.0.1", port)
        else:
            self.start()

    @property
    def is_primary(self) -> bool:
        return self.running and self.ask("ROLE")[0] == b"master"

    def replicas(self) -> int:
        with self.client() as client:
            return int(client.info("replication")["min_slaves_good_slaves"])


class ClusterNode(Follower):
    """A node of a cluster, which listens for the others on a second port."""

    def __init__(self) -> None:
        super().__init__({"cluster-enabled": "yes", "cluster-node-timeout": str(DOWN_AFTER_MS)})
        self.bus = 0

    def _choose_port(self) -> None:
        super()._choose_port()
        self.bus = free_port()
        self._options["cluster-port"] = str(self.bus)


class Sentinel(Server):
    def __init__(self, primary: RedisServer, quorum: int = 2) -> None:
        self._program = require("redis-server")
        super().__init__()
        self._watched = f"127.0.0.1 {primary.port} {quorum}"
        self.port = 0

    def _choose_port(self) -> None:
        self.port = free_port()

    def _command(self) -> list[str]:
        conf = self.home / "sentinel.conf"
        if not conf.exists():
            lines = [
                f"port {self.port}",
                "bind 127.0.0.1",
                f"dir {self.home}",
                f"sentinel monitor {SERVICE} {self._watched}",
                f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}",
                # For this time sentinels do not reconfigure a replica that reaches the primary by
                # an unusual address.
                f"sentinel failover-timeout {SERVICE} {_LEFT_ALONE_MS}",
            ]
            conf.write_text("\n".join(lines) + "\n")
        return [self._program, str(conf), "--sentinel"]

    def _answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")

    def try_again_soon(self) -> None:
        """Shorten its pause before it repeats a failed election.

        An election fails if all sentinels begin together and each votes for itself. The pause is
        twice this value.
        """
        with redis.Redis(port=self.port, socket_timeout=LONG_S) as client:
            client.execute_command("SENTINEL", "SET", SERVICE, "failover-timeout", _TRIED_AGAIN_MS)

    def watch(self, primary: RedisServer) -> None:
        with redis.Redis(port=self.port, socket_timeout=LONG_S) as client:
            client.execute_command("SENTINEL", "REMOVE", SERVICE)
            place = ("127.0.0.1", primary.port)
            client.execute_command("SENTINEL", "MONITOR", SERVICE, *place, 2)

    def sees(self, replicas: int, sentinels: int) -> bool:
        with redis.Redis(port=self.port, socket_timeout=LONG_S) as client:
            of: dict[str, Any] = client.sentinel_masters()[SERVICE]
        return (of["num-slaves"], of["num-other-sentinels"]) == (replicas, sentinels)


class Watched:
    """A primary, two replicas and three sentinels, running from entry to exit."""

    def __init__(self) -> None:
        self.servers = [Follower() for _ in range(3)]
        self.sentinels: list[Sentinel] = []
        self.wires: list[Wire] = []
        self._up = ExitStack()

    @property
    def url(self) -> str:
        places = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{places}/{SERVICE}"

    @property
    def primary(self) -> Follower:
        (found,) = (server for server in self.servers if server.is_primary)
        return found

    @property
    def replicas(self) -> list[Follower]:
        primary = self.primary
        return [server for server in self.servers if server is not primary]

    def strike(self, how: Callable[[Follower], None]) -> Follower:
        primary = self.primary
        how(primary)
        for sentinel in self.sentinels:
            sentinel.try_again_soon()
        return primary

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            first, *others = (stack.enter_context(server) for server in self.servers)
            for server in others:
                self.wires.append(stack.enter_context(Wire(first.port)))
                server.follow(self.wires[-1].port)
            eventually(lambda: first.replicas() == 2, within_s=_UP_WITHIN_S, what="replicas")
            for _ in range(3):
                self.sentinels.append(stack.enter_context(Sentinel(first)))
            for sentinel in self.sentinels:
                eventually(
                    lambda: sentinel.sees(2, 2),  # noqa: B023
                    within_s=_UP_WITHIN_S,
                    what="sentinels that know each other",
                )
            self._up = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._up.close()


class Cluster:
    """Three primaries with a replica each, and a second replica for the slot of a key.

    So after a kill of that slot's primary, the new primary still has a replica.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self.servers = [ClusterNode() for _ in range(7)]
        self._up = ExitStack()

    @property
    def url(self) -> str:
        places = ",".join(f"127.0.0.1:{server.port}" for server in self.servers[:3])
        return f"redis+cluster://{places}"

    def primary_of(self, key: str) -> Follower:
        asked = next(server for server in self.servers if server.running)
        slot = asked.ask("CLUSTER", "KEYSLOT", key)
        for first, last, (_, port, *_), *_ in asked.ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(server for server in self.servers if server.port == port)
        raise AssertionError(f"nobody serves {key}")

    def strike(self, how: Callable[[Follower], None]) -> Follower:
        primary = self.primary_of(self._key)
        how(primary)
        return primary

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for server in self.servers:
                stack.enter_context(server)
            self._join()
            self._up = stack.pop_all()
        return self

    def _join(self) -> None:
        primaries, replicas = self.servers[:3], self.servers[3:]
        for server, (first, last) in zip(
            primaries, itertools.pairwise((0, 5_461, 10_923, 16_384)), strict=True
        ):
            server.ask("CLUSTER", "ADDSLOTSRANGE", first, last - 1)
        for number, server in enumerate(self.servers, start=1):
            server.ask("CLUSTER", "SET-CONFIG-EPOCH", number)
        for server in self.servers[1:]:
            self.servers[0].ask("CLUSTER", "MEET", "127.0.0.1", server.port, server.bus)
        for server in self.servers:
            self._until(lambda: len(server.ask("CLUSTER", "NODES").split(b"\n")) == 8, "nodes")  # noqa: B023
            self._until(lambda: len(server.ask("CLUSTER", "SLOTS")) == 3, "slots")  # noqa: B023
        for server, primary in zip(replicas, [*primaries, self.primary_of(self._key)], strict=True):
            server.ask("CLUSTER", "REPLICATE", primary.ask("CLUSTER", "MYID"))
        for primary in primaries:
            wanted = 2 if primary is self.primary_of(self._key) else 1
            self._until(lambda: primary.replicas() == wanted, "replicas")  # noqa: B023
        for server in self.servers:
            self._until(lambda: b"cluster_state:ok" in server.ask("CLUSTER", "INFO"), "cluster")  # noqa: B023

    @staticmethod
    def _until(check: Any, what: str) -> None:  # noqa: ANN401  (a condition)
        eventually(check, within_s=_UP_WITHIN_S, what=what)

    def __exit__(self, *raised: object) -> None:
        self._up.close()
