"""The note of the first floor file that was approved in a Redis, and of all links (D4, D13).

One person approves the first floor file of an empty floor, for all of its links. In a Redis Cluster
the data of each link is in another slot, and no script can read two slots. So this note, which is
one for the whole facility, decides in one atomic step who approves which file as the first one. All
other approvals take two people, also of links whose names the floor file did not have before.

The note also names each link that was ever approved. A link that the floor file no longer names can
still have hand pays and open rounds of tables that are now on another link.
"""

from dataclasses import dataclass
from typing import Final, cast

from meters.books.script_loader import load_script
from meters.books.slip_numbers import SLIPS_TAG
from meters.redis_client.shards import AnyRedis, redis_of

FACILITY_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:facility"
"""The Redis key of the note: a hash with the field `first`, and one field for each link."""

_FIRST: Final = b"first"
_LINK: Final = "link:"


@dataclass(frozen=True, slots=True)
class Noted:
    """What the note has.

    Attributes:
        floor: the digest of the first floor file; empty if no floor file was ever approved.
        by: who approved it.
        links: the ids of the links that were ever approved.
    """

    floor: str
    by: str
    links: frozenset[str]


class FacilityNote:
    """The note of a facility's first floor file, and of its links."""

    def __init__(self, redis: AnyRedis) -> None:
        self._redis = redis_of(redis, SLIPS_TAG)
        self._note = self._redis.register_script(load_script("note_facility"))

    async def read(self) -> Noted:
        """Read the note."""
        held = cast("dict[bytes, bytes]", await self._redis.hgetall(FACILITY_KEY))
        floor, _, by = held.pop(_FIRST, b"").decode("utf-8", "replace").partition(" ")
        names = (name.decode("utf-8", "replace") for name in held)
        return Noted(floor, by, frozenset(name.removeprefix(_LINK) for name in names))

    async def note(self, floor: str, by: str, link: str) -> bool:
        """Note a link, and that a person approves a floor file as the first one.

        Return True if this is the first floor file, approved by this person: now, or in an act that
        was interrupted between two links.
        """
        first = f"{floor} {by}"
        held = cast("bytes", await self._note(keys=[FACILITY_KEY], args=[first, _LINK + link]))
        return held.decode() == first
