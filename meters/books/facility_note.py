"""The note of a facility's approvals: the first floor file, the links, the tables (D4, D13).

In a Redis Cluster the data of each link is in another slot, and no script can read two slots. So
what no link can know alone is in this note, which one atomic script writes:

- One person approves the first floor file of an empty floor, for all of its links. The note decides
  who approves which file as the first one. All other approvals take two people.
- A table is on one link. Each approval has an order among all approvals of the facility, and places
  the tables of its link. An approval counts no more for a table that a later one placed elsewhere.
  The ledger of each link has its part of this, so a note that is lost or older hides nothing.
- A link that the floor file no longer names can still have hand pays and open rounds of tables that
  are now on another link. So the note names each link that was ever approved.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from meters.books.script_loader import load_script
from meters.books.slip_numbers import SLIPS_TAG
from meters.redis_client.shards import AnyRedis, redis_of

FACILITY_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:facility"
"""The Redis key of the note: a hash with the fields `first` and `order`, one field for each link,
and two for each table: its id and its asset number."""

_FIRST: Final = b"first"
_LINK: Final = "link:"


@dataclass(frozen=True, slots=True)
class Noted:
    """What the note has about the floor.

    Attributes:
        floor: the digest of the first floor file; empty if no floor file was ever approved.
        by: who approved it.
        links: the ids of the links that were ever approved.
    """

    floor: str
    by: str
    links: frozenset[str]


@dataclass(frozen=True, slots=True, order=True)
class Placed:
    """The last approval that placed a table, or another one with its asset number, on a link.

    If there is none, `order` is 0.
    """

    order: int = 0
    link: str = ""


class FacilityNote:
    """The note of a facility's approvals.

    The methods that write take the digest of the floor file, the person who approves it, and the
    id of the link. Tables are asset numbers by id.
    """

    def __init__(self, redis: AnyRedis) -> None:
        self._redis = redis_of(redis, SLIPS_TAG)
        self._note = self._redis.register_script(load_script("note_facility"))

    async def read(self) -> Noted:
        """Read what the note has about the floor."""
        held = cast("dict[bytes, bytes]", await self._redis.hgetall(FACILITY_KEY))
        floor, _, by = held.pop(_FIRST, b"").decode("utf-8", "replace").partition(" ")
        names = (name.decode("utf-8", "replace") for name in held)
        links = (name.removeprefix(_LINK) for name in names if name.startswith(_LINK))
        return Noted(floor, by, frozenset(links))

    async def begin(self, floor: str, by: str, link: str, after: int) -> tuple[bool, int]:
        """Note that a link is being approved. Return if it is the first floor file, and the order.

        The order is larger than `after`, the largest one in the ledgers. It is the first floor file
        if this person approves it as such: now, or in an act that was interrupted between two
        links.
        """
        first, order = await self._run(floor, by, link, "new", str(after))
        return first == f"{floor} {by}", int(order)

    async def place(
        self, floor: str, by: str, link: str, order: int, tables: Mapping[str, str]
    ) -> None:
        """Place the tables of an approved link, except those that a later approval has placed."""
        await self._run(floor, by, link, "place", str(order), *fields_of(tables))

    async def placed(self, tables: Mapping[str, str]) -> Mapping[str, Placed]:
        """Return by id where each of some tables was placed last."""
        if not tables:
            return {}
        held = cast("list[bytes | None]", await self._redis.hmget(FACILITY_KEY, fields_of(tables)))
        last = [_placed(each) for each in held]
        return dict(zip(tables, map(max, last[::2], last[1::2]), strict=True))

    async def _run(self, floor: str, by: str, *args: str) -> tuple[str, str]:
        rows = await self._note(keys=[FACILITY_KEY], args=[f"{floor} {by}", *args])
        first, order = cast("list[bytes]", rows)
        return first.decode(), order.decode()


def fields_of(tables: Mapping[str, str]) -> list[str]:
    """Return the fields of the note for some tables: two for each table."""
    return [
        field for table, asset in tables.items() for field in (f"table:{table}", f"asset:{asset}")
    ]


def _placed(held: bytes | None) -> Placed:
    order, _, link = (held or b"0").decode("utf-8", "replace").partition(" ")
    # After an altered entry no approval counts, until people approve again.
    return Placed(int(order), link) if order.isdecimal() else Placed(sys.maxsize, "unknown")
