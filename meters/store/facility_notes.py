"""The note of a facility's approvals (D4, D13), and the MQTT group name of its services.

The note has the first floor file, the links and the order of approvals.

In a Redis Cluster the data of each link is in another slot, and no script can read two slots. So
what no link can know alone is in this note, which one atomic script writes:

- One person approves the first floor file of an empty floor, for all of its links. The note decides
  who approves which file as the first one. All other approvals take two people.
- Each approval gets a number that is larger than those of all approvals before, on any link. So the
  ledgers of the links show on which link a table was approved last.
- A link that the floor file no longer names can still have hand pays and open rounds of tables that
  are now on another link. So the note names each link that was ever approved.

The services of a facility also share the secret MQTT group name. Services with this name divide the
tables' events among themselves. If the key bundle of a service has no group name, the service uses
the name in Redis.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from redis.exceptions import ResponseError

from meters.ledger.redis_layout import LinkKeys
from meters.process.clock import now
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.script_loader import load_script
from meters.store.slip_register import SLIPS_TAG

FACILITY_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:facility"
"""The Redis key of the note: a hash with the fields `first` and `order`, and one for each link."""

_FIRST: Final = b"first"
_GROUP_NAME_BYTES: Final = 32
_FIRST_ID: Final = "1-0"
_NAME: Final = "name"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LINK: Final = "link:"


@dataclass(frozen=True, slots=True)
class Noted:
    """The digest of the first floor file that was approved, and who approved it.

    `links` are the links that were ever approved.
    """

    floor: str
    by: str
    links: frozenset[str]


class FacilityNote:
    def __init__(self, redis: AnyRedis) -> None:
        self._redis = redis_of(redis, SLIPS_TAG)
        self._note = self._redis.register_script(load_script("note_facility"))

    async def read(self) -> Noted:
        held = cast("dict[bytes, bytes]", await self._redis.hgetall(FACILITY_KEY))
        floor, _, by = held.pop(_FIRST, b"").decode("utf-8", "replace").partition(" ")
        names = (name.decode("utf-8", "replace") for name in held)
        links = (name.removeprefix(_LINK) for name in names if name.startswith(_LINK))
        return Noted(floor, by, frozenset(links))

    async def note(self, floor: str, by: str, link: str, last: int) -> tuple[bool, int]:
        """Note that a person approves a floor file for a link. Return two values.

        The first is true if this is the first floor file, approved by this person: now, or in an
        act that was interrupted between two links. The second is the order of the approval. It is
        larger than `last`, the largest order in the ledgers. It is also at least the time in
        milliseconds: so after a loss of the note, it is larger than an order in a ledger that
        nobody could read.
        """
        least = max(last + 1, (now() - _EPOCH) // timedelta(milliseconds=1))
        args = [f"{floor} {by}", _LINK + link, str(least)]
        first, order = cast("list[bytes]", await self._note(keys=[FACILITY_KEY], args=args))
        return first.decode() == args[0], int(order)


def new_event_group() -> str:
    """Make a group name that nobody can guess and that MQTT accepts."""
    return secrets.token_hex(_GROUP_NAME_BYTES)


async def stored_event_group(redis: AnyRedis, link: str) -> str:
    """Return the group name that Redis has for a floor's services. If there is none, make one."""
    client, key = redis_of(redis, link), LinkKeys(link).event_group
    # Two services can start at the same time. A Redis stream accepts an entry id only once. So
    # Redis refuses the name of the later service, and this service reads the name of the earlier
    # one.
    refused = None
    try:
        await client.xadd(key, {_NAME: new_event_group()}, id=_FIRST_ID)
    except ResponseError as error:
        refused = error
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await client.xrange(key, count=1))
    for _, fields in entries:
        return fields[_NAME.encode()].decode()
    raise refused or ResponseError("the name of the event group is gone as soon as it was made")
