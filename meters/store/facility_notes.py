"""The note of a facility's approvals (D4, D13), and the MQTT group name of its services.

In a Redis Cluster, the data of each link is in another slot, and no script can read two slots. One
atomic script writes this note, which has what the data of one link cannot show:

- The first floor file: one person approves it for all links of an empty floor. The note decides
  which file is the first, and who approves it. Most other approvals take two people.
- The order of approvals: each approval gets a larger number than all earlier approvals on any link.
  So the ledgers of the links show on which link a table was approved last.
- The links that were ever approved: a link that is no longer in the floor file can still have hand
  pays, and open rounds of tables that are now on another link.

The services of a facility share the secret MQTT group name, and so divide the tables' events among
themselves. A service whose key bundle has no group name uses the name in Redis.
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

    `links` are all links that were ever approved.
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

        The first is true if this person approves, or has begun to approve, this file as the first
        floor file. The second is the order of the approval. The order is larger than `last`, the
        largest order in the ledgers, and not less than the time in milliseconds. So even if the
        note is lost, the order is larger than every order in a ledger that could not be read.
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
    # Two services can start at the same time. A Redis stream accepts an entry id only once, so
    # Redis refuses the name of the later service, which then reads the name of the earlier one.
    refused = None
    try:
        await client.xadd(key, {_NAME: new_event_group()}, id=_FIRST_ID)
    except ResponseError as error:
        refused = error
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await client.xrange(key, count=1))
    for _, fields in entries:
        return fields[_NAME.encode()].decode()
    raise refused or ResponseError("Redis lacks the name of the event group that was just written")
