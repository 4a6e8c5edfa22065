from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from meters.floor.addresses import hosts_of
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import (
    ARCHIVE,
    CHECK,
    DISPLAY,
    PASSWORD_FILE,
    REDIS_PASSWORD_FILE,
    REDIS_USERS_PASSWORD_FILE,
    Identity,
    service_identity,
    table_identity,
)

BROKER: Final = Identity("broker", "broker", "broker")
REDIS: Final = Identity("redis", "redis", "redis")
_OF_SERVICES: Final = (PASSWORD_FILE, REDIS_PASSWORD_FILE, REDIS_USERS_PASSWORD_FILE)
_HERE: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Holder:
    """Holder of a certificate; ``hosts`` are a server's, and ``passwords`` the names of files."""

    party: Identity
    hosts: tuple[str, ...] = ()
    passwords: tuple[str, ...] = (PASSWORD_FILE,)


def holders(
    floor: Floor, services: int, broker_hosts: Sequence[str], redis_hosts: Sequence[str]
) -> Sequence[Holder]:
    """Return all holders: servers, workers of the service, commands, displays and tables."""
    return [
        Holder(BROKER, _hosts(floor.service.broker, broker_hosts), ()),
        Holder(REDIS, _hosts(floor.service.redis, redis_hosts), ()),
        *(Holder(service_identity(number), (), _OF_SERVICES) for number in range(1, services + 1)),
        Holder(ARCHIVE, (), (REDIS_PASSWORD_FILE,)),
        Holder(CHECK),
        Holder(DISPLAY),
        *(Holder(table_identity(link.id, table.id)) for link in floor.link for table in link.table),
    ]


def by_name(held: Sequence[Holder]) -> Mapping[str, Holder]:
    """Return the holders by their user names. A table is also found by its table id."""
    found = {
        each.party.username.removeprefix("table."): each
        for each in held
        if each.party.stem == "table"
    }
    return found | {each.party.username: each for each in held}


def _hosts(url: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return the hosts in the address `url`, the hosts in `given`, and this machine itself."""
    return tuple(dict.fromkeys([*hosts_of(url), *given, *_HERE]))
