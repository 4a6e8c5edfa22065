from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError

from bonus.errors import UserError
from meters.floor.addresses import HostPort
from meters.keys.redis_files import SENTINEL_ACCESS
from meters.process.private_files import read_bytes
from meters.setup.redis_machine import RedisMachine

_ANSWERS_WITHIN_S: Final = 3
_PASSWORD: Final = "requirepass "  # noqa: S105  (the name of a setting)


def check_primary(machine: RedisMachine, keys: Path, *, is_empty: bool) -> None:
    """Refuse another primary than the one that the sentinels of the other machines name.

    Two primaries of one floor, or a replica of a replica, would look well until a machine fails. An
    empty primary would delete the data of its replicas. ``keys`` is the directory of the keys of
    Redis, and ``is_empty`` says whether the Redis of this machine has no data.

    Raises:
        UserError: a sentinel names another primary, or this machine although its Redis is empty, or
            none answers although this machine is not the primary.
    """
    named = _answers(machine, keys)
    for place, host in named.items():
        if host != machine.primary:
            raise UserError(
                f"--primary {machine.primary}: the sentinel at {place} names another primary,"
                f" {host}. Give --primary {host}, or first correct the machine of that sentinel"
            )
    if named and machine.is_primary and is_empty:
        raise UserError(
            "this Redis is empty, and the sentinels name it as the primary: its replicas would"
            " delete their data. Stop redis-sentinel and redis-server on all machines. Then"
            " run this command with another --primary, first on that machine: the one with the"
            " most data in /var/lib/redis"
        )
    if not named and not machine.is_primary:
        others = ", ".join(str(place) for place in machine.other_sentinels)
        raise UserError(
            f"no sentinel answers at {others}: first run `pitlink setup --redis {machine.primary}"
            f" --primary {machine.primary}` on the machine of the primary. Its address must be"
            " reachable from here"
        )


def _answers(machine: RedisMachine, keys: Path) -> Mapping[HostPort, str]:
    """Return the primary that each answering sentinel names; another password is a UserError."""
    lines = (read_bytes(keys / SENTINEL_ACCESS) or b"").decode().splitlines()
    given = [line.removeprefix(_PASSWORD) for line in lines if line.startswith(_PASSWORD)]
    found: dict[HostPort, str] = {}
    for place in machine.other_sentinels:
        try:
            with Redis(
                host=place.host, port=place.port, password="".join(given),
                socket_timeout=_ANSWERS_WITHIN_S, socket_connect_timeout=_ANSWERS_WITHIN_S,
                ssl=True, ssl_ca_certs=str(keys / "ca.crt"),
                ssl_certfile=str(keys / "redis.crt"), ssl_keyfile=str(keys / "redis.key"),
            ) as sentinel:  # fmt: skip
                row = cast(
                    "list[bytes] | None",
                    sentinel.execute_command(
                        "SENTINEL", "get-master-addr-by-name", machine.address.service
                    ),
                )
        except AuthenticationError:
            raise UserError(
                f"the sentinel at {place} has another password than the keys in {keys}: copy the"
                " directory redis to this machine again"
            ) from None
        except (RedisError, OSError):
            continue
        if row is not None:
            found[place] = row[0].decode()
    return found
