"""Machine with one of several Redis servers and a sentinel: its addresses and its files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.addresses import HostPort, ReplicatedAddress, is_replicated, parse_replicated
from meters.floor.floor_file import Floor
from meters.keys.redis_files import REPLICA_ACCESS, SENTINEL_ACCESS
from meters.setup.file_states import without_added
from meters.setup.pieces import read_piece
from meters.setup.places import REDIS_KEYS
from meters.setup.wanted_files import REDIS, WantedFile

SENTINEL: Final = "redis-sentinel"
"""Debian's package of the sentinel. The program and the unit have the same name."""

REDIS_PORT: Final = 6379
REDIS_CONF: Final = Path("/etc/redis/redis.conf")
REPLICATED_CONF: Final = Path("/etc/redis/pitlink-replicated.conf")
SENTINEL_CONF: Final = Path("/etc/redis/sentinel.conf")
_SERVER_USER: Final = "redis"
_SENTINELS_LEAST: Final = 3
_INCLUDE_REPLICATED: Final = f"include {REPLICATED_CONF}"
_BIND: Final = "bind 127.0.0.1"
_DEBIAN_EXAMPLE: Final = "sentinel monitor mymaster 127.0.0.1 6379 2"
"""Line of the file that Debian's sentinel starts with, and rewrites at once."""


@dataclass(frozen=True, slots=True)
class RedisMachine:
    """Machine with a Redis server and a sentinel.

    ``own`` and ``primary`` are the IP addresses of this machine and of the one with the present
    primary. ``address`` is that of the floor's Redis, which names all sentinels.
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
        if len(set(hosts)) != len(hosts) or len(hosts) < _SENTINELS_LEAST:
            raise UserError(
                f"{source}: name one sentinel on each of at least {_SENTINELS_LEAST} machines. With"
                " fewer, no majority is left when one fails"
            )
        if names := [host for host in hosts if not _is_ip_address(host)]:
            raise UserError(
                f"{source}: sentinels report IP addresses. Write the IP address of each machine, in"
                f" its short form, instead of {', '.join(names)}"
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
        return self.own == self.primary

    @property
    def sentinel(self) -> HostPort:
        return next(place for place in self.address.places if place.host == self.own)

    @property
    def other_sentinels(self) -> Sequence[HostPort]:
        return [place for place in self.address.places if place.host != self.own]

    def files(self, present: Mapping[Path, str], *, renews: bool) -> Sequence[WantedFile]:
        """Return the configuration files of the Redis server and the sentinel.

        Both servers change their files while they run: Redis its role, the sentinel the present
        primary, and both add lines, also with passwords, that have priority over included files. In
        an installed file, only the lines with addresses change, and these additions are removed if
        `renews` is true: other files or keys have changed, so that the servers restart.

        ``present`` has the present texts by their paths.
        """
        bind, service = f"bind {self.own} 127.0.0.1", self.address.service
        quorum = len(self.address.places) // 2 + 1
        options = ("down-after-milliseconds", "failover-timeout", "parallel-syncs")
        names = [(f"{option} pitlink ", f"{option} {service} ") for option in options]
        redis = _with(read_piece("redis.conf"), (_BIND, bind))
        sentinel = _with(read_piece("redis/sentinel.conf"), (_BIND, bind), *names)
        changes: Sequence[tuple[WantedFile, str, Mapping[str, str | None]]] = (
            (
                WantedFile(REPLICATED_CONF, read_piece("redis/replicated.conf"), REDIS),
                f"include {REDIS_KEYS / REPLICA_ACCESS}",
                {"min-replicas-to-write": str(self.address.replicas)},
            ),
            (
                WantedFile(
                    REDIS_CONF, f"{redis}\n{_INCLUDE_REPLICATED}\n", REDIS, owner=_SERVER_USER
                ),
                _INCLUDE_REPLICATED,
                {
                    "replicaof": None if self.is_primary else f"{self.primary} {REDIS_PORT}",
                    "replica-announce-ip": self.own,
                },
            ),
            (
                WantedFile(SENTINEL_CONF, sentinel, SENTINEL, owner=_SERVER_USER),
                f"include {REDIS_KEYS / SENTINEL_ACCESS}",
                {
                    "sentinel monitor": f"{service} {self.primary} {REDIS_PORT} {quorum}",
                    "sentinel announce-ip": self.own,
                    "tls-port": str(self.sentinel.port),
                },
            ),
        )
        return [
            _installed(wanted, present.get(wanted.path, ""), mark, values, renews=renews)
            for wanted, mark, values in changes
        ]


def _installed(
    wanted: WantedFile,
    present: str,
    mark: str,
    values: Mapping[str, str | None],
    *,
    renews: bool,
) -> WantedFile:
    """Return a file with some settings, before the line `mark`, which only an installed file has.

    An installed file keeps its other lines, also those of a person. A setting of the value None is
    removed.
    """
    found = present.splitlines()
    lines = [f"{name} {value}" for name, value in values.items() if value is not None]
    # Redis writes some values in quotation marks.
    told = [line.replace('"', "") for line in found if _sets(line, values)]
    is_installed = mark in found
    is_right = is_installed and sorted(told) == sorted(lines)
    if is_right and not (renews and without_added(present) != present):
        return replace(wanted, text=present)
    text = without_added(present) if is_installed else wanted.text
    kept = [line for line in text.splitlines() if not _sets(line, values)]
    at = kept.index(mark)
    text = "\n".join([*kept[:at], *lines, *kept[at:], ""])
    return replace(wanted, text=text, is_known=is_installed or _DEBIAN_EXAMPLE in found)


def _sets(line: str, names: Iterable[str]) -> bool:
    return any(line.startswith(f"{name} ") for name in names)


def _is_ip_address(host: str) -> bool:
    try:
        return str(ip_address(host)) == host
    except ValueError:
        return False


def _with(text: str, *changes: tuple[str, str]) -> str:
    """Replace parts of a shipped file; if one is missing, the file changed: a ValueError."""
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} is missing")
        text = text.replace(old, new)
    return text
