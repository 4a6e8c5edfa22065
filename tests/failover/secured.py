"""Redis servers and a sentinel with the shipped files, over TLS, each with its own user."""

import re
import shutil
import socket
from pathlib import Path
from typing import Final

import redis

from tests.keys.servers import DEPLOY, SecuredRedis
from tests.servers import Server, eventually, free_port, require

SENTINEL_PASSWORD: Final = "a-third-password"  # noqa: S105
_COMMENTED: Final = r"^# (?=port 0|tls-|masteruser|masterauth|sentinel |requirepass)"
_OPERATOR: Final = ("operator", "operator-password")


def _shipped(name: str, *, uncommented: bool = False) -> str:
    text = (DEPLOY / "redis" / name).read_text()
    return re.sub(_COMMENTED, "", text, flags=re.MULTILINE) if uncommented else text


def users() -> str:
    """Return the lines that an installer adds to users.acl, according to the shipped files."""
    text = _shipped("replicated.conf") + _shipped("sentinel.conf")
    lines = re.findall(r"^#   (user .*(?:\n#     .*)*)", text, re.MULTILINE)
    assert len(lines) == 2, lines
    ours = "user {} on >{} +@all ~*".format(*_OPERATOR)
    return "\n".join([*(line.replace("\n#    ", "") for line in lines), ours])


class SecuredFollower(SecuredRedis):
    """A Redis with `deploy/redis.conf` and `deploy/redis/replicated.conf`."""

    def __init__(self, keys: Path, primary: "SecuredFollower | None" = None) -> None:
        super().__init__(keys)
        self._primary = primary
        with (self._part / "users.acl").open("a") as acl:
            acl.write(users() + "\n")

    def _command(self) -> list[str]:
        more = self.home / "replicated.conf"
        more.write_text(_shipped("replicated.conf", uncommented=True))
        lead = f"replicaof 127.0.0.1 {self._primary.port}\n" if self._primary else ""
        program, conf, *rest = super()._command()
        with Path(conf).open("a") as whole:
            whole.write(f"\n{lead}include {more}\n")
        return [program, conf, *rest]

    def until_followed(self) -> None:
        """Wait until a replica is in step with it."""
        with self.client() as client:
            eventually(
                lambda: client.info("replication").get("min_slaves_good_slaves") == 1,
                within_s=60,
                what="a replica that keeps up",
            )

    def client(self) -> redis.Redis:
        """Return a client with all permissions."""
        name, password = _OPERATOR
        return redis.Redis(
            port=self.port,
            username=name,
            password=password,
            ssl=True,
            ssl_ca_certs=str(self._part / "ca.crt"),
            ssl_certfile=str(self._part / "redis.crt"),
            ssl_keyfile=str(self._part / "redis.key"),
        )


class SecuredSentinel(Server):
    """A sentinel with `deploy/redis/sentinel.conf`."""

    def __init__(self, keys: Path, primary: SecuredFollower) -> None:
        self._program = require("redis-server")
        super().__init__()
        self._part = self.home / "pitlink"
        shutil.copytree(keys / "redis", self._part)
        self._primary = primary
        self.port = 0

    def _choose_port(self) -> None:
        self.port = free_port()

    def _command(self) -> list[str]:
        text = _shipped("sentinel.conf", uncommented=True)
        for before, after in (
            ("port 26379\nbind", "bind"),
            ("tls-port 26379", f"tls-port {self.port}"),
            ("127.0.0.1 6379 2", f"127.0.0.1 {self._primary.port} 1"),
            ("/var/lib/redis", str(self.home)),
            ("/etc/redis/pitlink", str(self._part)),
            ("A-THIRD-PASSWORD", SENTINEL_PASSWORD),
        ):
            assert before in text, before
            text = text.replace(before, after)
        conf = self.home / "sentinel.conf"
        conf.write_text(text)
        return [self._program, str(conf), "--sentinel"]

    def _answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    def client(self) -> redis.Redis:
        """Return a client of the sentinel."""
        return redis.Redis(
            port=self.port,
            password=SENTINEL_PASSWORD,
            ssl=True,
            ssl_ca_certs=str(self._part / "ca.crt"),
            ssl_certfile=str(self._part / "redis.crt"),
            ssl_keyfile=str(self._part / "redis.key"),
        )

    def until_seen(self) -> None:
        """Wait until it has found the primary's replica."""
        with self.client() as client:
            eventually(
                lambda: client.sentinel_masters()["pitlink"]["num-slaves"] == 1,
                within_s=60,
                what="the replica found",
            )
