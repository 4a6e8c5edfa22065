"""Machine with one of several Redis servers and a sentinel: its addresses and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.redis_address import (
    HostPort,
    ReplicatedAddress,
    is_replicated,
    parse_replicated,
)
from meters.keys.redis_files import SENTINEL_ACCESS
from meters.setup.pieces import read_piece
from meters.setup.places import REDIS_KEYS
from meters.setup.wanted_files import REDIS, WantedFile

SENTINEL: Final = "redis-sentinel"
"""Debian's package of the sentinel. The program and the unit have the same name."""

REDIS_PORT: Final = 6379
_SENTINELS_LEAST: Final = 3
REDIS_CONF: Final = Path("/etc/redis/redis.conf")
_REPLICATED_CONF: Final = Path("/etc/redis/pitlink-replicated.conf")
SENTINEL_CONF: Final = Path("/etc/redis/sentinel.conf")
INCLUDE_REPLICATED: Final = f"include {_REPLICATED_CONF}"
_INCLUDE_ACCESS: Final = f"include {REDIS_KEYS / SENTINEL_ACCESS}"
_DEBIAN_EXAMPLE: Final = "sentinel monitor mymaster 127.0.0.1 6379 2"
"""Line of the file that Debian's sentinel starts with, and rewrites at once."""


@dataclass(frozen=True, slots=True)
class RedisMachine:
    """Machine with a Redis server and a sentinel.

    Attributes:
        own: the IP address of the machine.
        primary: the IP address of the machine with the present primary.
        address: the address of the floor's Redis, which names all sentinels.
    """

    own: str
    primary: str
    address: ReplicatedAddress

    @classmethod
    def of(cls, floor: Floor, source: str, own: str, primary: str) -> "RedisMachine":
        """Return a machine of a floor. `source` is the name of the floor file in messages.

        Raises:
            UserError: the floor has no sentinels with TLS, or they are not on these machines.
        """
        url = floor.service.redis
        address = parse_replicated(url) if is_replicated(url) else None
        if address is None or not (address.tls and address.service):
            raise UserError(
                f"{source}: `pitlink setup --redis` is for a Redis with sentinels and TLS. Write"
                " the addresses of its machines under [service], for example redis ="
                ' "rediss+sentinel://10.0.0.8:26379,10.0.0.9:26379,10.0.0.10:26379/pitlink"'
            )
        hosts = [place.host for place in address.places]
        if len(set(hosts)) < _SENTINELS_LEAST:
            raise UserError(
                f"{source}: name sentinels on at least {_SENTINELS_LEAST} machines. With fewer, no"
                " majority is left when one fails"
            )
        if names := [host for host in hosts if not _is_ip_address(host)]:
            raise UserError(
                f"{source}: sentinels report IP addresses. Write the IP address of each machine"
                f" instead of {', '.join(names)}"
            )
        for option, given in (("--redis", own), ("--primary", primary)):
            if given not in hosts:
                raise UserError(
                    f"{option} {given}: {source} has no sentinel there. Its sentinels are at"
                    f" {', '.join(hosts)}"
                )
        return cls(own, primary, address)

    @property
    def is_primary(self) -> bool:
        """True if this machine has the present primary."""
        return self.own == self.primary

    @property
    def sentinel(self) -> HostPort:
        """The address of this machine's sentinel."""
        return next(place for place in self.address.places if place.host == self.own)

    @property
    def other_sentinels(self) -> Sequence[HostPort]:
        """The addresses of the sentinels of the other machines."""
        return [place for place in self.address.places if place.host != self.own]

    def files(self) -> Sequence[WantedFile]:
        """Return the configuration files of the Redis server and the sentinel."""
        bind = f"bind {self.own} 127.0.0.1"
        service = self.address.service
        redis = _with(read_piece("redis.conf"), ("bind 127.0.0.1", bind))
        role = None if self.is_primary else f"replicaof {self.primary} {REDIS_PORT}"
        quorum = len(self.address.places) // 2 + 1
        watched = f"sentinel monitor {service} {self.primary} {REDIS_PORT} {quorum}"
        replicated = _with(
            read_piece("redis/replicated.conf"),
            ("min-replicas-to-write 1", f"min-replicas-to-write {self.address.replicas}"),
        )
        sentinel = _with(
            read_piece("redis/sentinel.conf"),
            ("bind 127.0.0.1", bind),
            (f"sentinel monitor pitlink 127.0.0.1 {REDIS_PORT} 2", watched),
            ("-milliseconds pitlink", f"-milliseconds {service}"),
            ("-timeout pitlink", f"-timeout {service}"),
            ("-syncs pitlink", f"-syncs {service}"),
            ("tls-port 26379", f"tls-port {self.sentinel.port}"),
        )
        return [
            WantedFile(_REPLICATED_CONF, replicated, REDIS),
            WantedFile(
                REDIS_CONF,
                "\n".join([redis, *([role] if role else []), INCLUDE_REPLICATED, ""]),
                REDIS,
                mark=INCLUDE_REPLICATED,
                needed=role,
            ),
            WantedFile(
                SENTINEL_CONF, sentinel, SENTINEL,
                mark=_INCLUDE_ACCESS, needed=watched, example_mark=_DEBIAN_EXAMPLE,
            ),
        ]  # fmt: skip


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _with(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with whole lines, or parts of lines, replaced.

    Raises:
        ValueError: a part is missing: the shipped file has changed.
    """
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} is missing")
        text = text.replace(old, new)
    return text
