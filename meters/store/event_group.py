"""The secret MQTT group name. Services with this name divide the tables' events among themselves.

If the key bundle of a service has no group name, the service uses the name in Redis.
"""

import secrets
from typing import Final, cast

from redis.exceptions import ResponseError

from meters.ledger.link_keys import LinkKeys
from meters.store.shards import AnyRedis, redis_of

_BYTES: Final = 32
_FIRST: Final = "1-0"
_NAME: Final = "name"


def new_event_group() -> str:
    """Make a group name that nobody can guess and that MQTT accepts."""
    return secrets.token_hex(_BYTES)


async def stored_event_group(redis: AnyRedis, link: str) -> str:
    """Return the group name that Redis has for a floor's services. If there is none, make one."""
    client, key = redis_of(redis, link), LinkKeys(link).event_group
    # Two services can start at the same time. A Redis stream accepts an entry id only once. So
    # Redis refuses the name of the later service, and this service reads the name of the earlier
    # one.
    refused = None
    try:
        await client.xadd(key, {_NAME: new_event_group()}, id=_FIRST)
    except ResponseError as error:
        refused = error
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await client.xrange(key, count=1))
    for _, fields in entries:
        return fields[_NAME.encode()].decode()
    raise refused or ResponseError("the name of the event group is gone as soon as it was made")
